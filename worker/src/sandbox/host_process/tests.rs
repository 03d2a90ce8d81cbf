use super::*;

async fn sandbox() -> (tempfile::TempDir, Sandbox) {
    let root = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::create(root.path()).await.unwrap();
    (root, sandbox)
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn a_workspace_is_private_and_empty_and_goes_away() {
    let (root, sandbox) = sandbox().await;
    assert_eq!(fs::read_dir(sandbox.workspace()).unwrap().count(), 0);
    let home = sandbox.home().to_path_buf();
    assert_eq!(mode(&home), 0o700);
    assert_eq!(home.parent().unwrap(), root.path().canonicalize().unwrap());
    fs::write(sandbox.workspace().join("file"), "").unwrap();
    sandbox.destroy().await.unwrap();
    assert!(!home.exists());
}

#[tokio::test]
async fn a_dropped_sandbox_goes_away_too() {
    let (_root, sandbox) = sandbox().await;
    let home = sandbox.home().to_path_buf();
    drop(sandbox);
    assert!(!home.exists());
}

#[tokio::test]
async fn a_file_is_copied_and_may_be_changed() {
    let (root, sandbox) = sandbox().await;
    let source = root.path().join("cached");
    fs::write(&source, "a,b\n").unwrap();
    fs::set_permissions(&source, Permissions::from_mode(0o400)).unwrap();
    sandbox.put_file("data+1.csv", &source).await.unwrap();
    let copy = PathBuf::from(sandbox.path_of("data+1.csv"));
    assert_eq!(fs::read_to_string(&copy).unwrap(), "a,b\n");
    assert_eq!(mode(&copy), 0o644);
    fs::write(&copy, "changed").unwrap();
    assert_eq!(fs::read_to_string(&source).unwrap(), "a,b\n");

    assert!(sandbox.put_file("data+1.csv", &source).await.unwrap_err().to_string().contains("data+1.csv"));
    let missing = sandbox.put_file("new.csv", Path::new("/nowhere/at all")).await.unwrap_err();
    assert!(missing.to_string().contains("/nowhere/at all"));
    assert!(!sandbox.workspace().join("new.csv").exists());
}

#[tokio::test]
async fn no_name_leads_out_of_the_workspace() {
    let (root, sandbox) = sandbox().await;
    let source = root.path().join("file");
    fs::write(&source, "").unwrap();
    for name in ["", ".", "..", "/etc/passwd", "a/b", "./a", "a/", "../a", "a\0b"] {
        let error = sandbox.put_file(name, &source).await.unwrap_err().to_string();
        assert!(error.contains("not a plain file name"), "{name}: {error}");
    }
    assert_eq!(fs::read_dir(sandbox.workspace()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_python_that_is_not_there() {
    let (_root, sandbox) = sandbox().await;
    for (python, says) in [("/nowhere/python3", "/nowhere/python3"), ("python3.99", "python3.99")] {
        let options = python::Options { python: python.to_owned(), max_observation_bytes: 0 };
        let error = sandbox.start_python(&options).await.unwrap_err();
        assert!(matches!(&error, python::Error::Start(text) if text.contains(says)), "{error}");
    }
}
