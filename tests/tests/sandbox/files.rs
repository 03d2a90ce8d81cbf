//! The workspace: what is in it, what the code finds around it, what becomes of it.

use std::{fs, os::unix::fs::PermissionsExt as _};

use argosy_worker::sandbox::{host_process::Sandbox, reaper};

use crate::support::{Place, start};

#[tokio::test]
async fn the_code_runs_where_the_files_are() {
    let mut place = Place::new().await;
    let source = place.root.path().join("cached.csv");
    fs::write(&source, "a,b\n1,2\n").unwrap();
    fs::set_permissions(&source, fs::Permissions::from_mode(0o444)).unwrap();
    place.sandbox.put_file("data.csv", &source).await.unwrap();
    assert_eq!(place.run("import os\nos.listdir()").await, "['data.csv']");
    let path = place.sandbox.path_of("data.csv");
    assert_eq!(place.run(&format!("open({path:?}).read()")).await, "a,b\n1,2\n");
    assert_eq!(place.run("os.getcwd()").await, place.sandbox.workspace().display().to_string());
    assert_eq!(place.run("open('data.csv', 'a').write('3,4\\n')").await, "4");
    assert_eq!(fs::read_to_string(&source).unwrap(), "a,b\n1,2\n");
    // A module that the agent writes is found, before one of the same name elsewhere.
    place.run("open('helpers.py', 'w').write('x = 5')\nopen('colorsys.py', 'w').write('x = 6')").await;
    assert_eq!(place.run("import helpers, colorsys\nhelpers.x, colorsys.x").await, "(5, 6)");
    assert_eq!(place.run("sorted(os.listdir())").await, "['colorsys.py', 'data.csv', 'helpers.py']");
}

#[tokio::test]
async fn no_file_of_the_workspace_gets_between_the_server_and_its_library() {
    let root = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::create(root.path()).await.unwrap();
    for module in ["json", "os", "socket", "struct", "ast", "io", "site", "sitecustomize", "encodings", "re", "select"]
    {
        fs::write(sandbox.workspace().join(format!("{module}.py")), "raise SystemExit('shadowed')").unwrap();
    }
    let mut python = start(&sandbox, 0).await;
    let execution = python.execute("1 + 1", crate::support::PATIENCE).await.unwrap();
    assert_eq!(execution.observation, "2");
}

#[tokio::test]
async fn the_environment_is_small_and_says_nothing_of_the_host() {
    let mut place = Place::new().await;
    let names = place.run("import os\nsorted(os.environ)").await;
    let home = place.sandbox.workspace().display().to_string();
    for name in ["'HOME'", "'LANG'", "'MPLBACKEND'", "'PATH'", "'TMPDIR'", "'PYTHONHASHSEED'"] {
        assert!(names.contains(name), "{names}");
    }
    for name in ["CARGO", "KEY", "TOKEN", "PYTHONUSERBASE", "PYTHONPATH", "COLUMNS", "LINES", "TERM", "USER"] {
        let found = names.split('\'').any(|found| found == name || name == "CARGO" && found.starts_with(name));
        assert!(!found, "{name} in {names}");
    }
    assert_eq!(place.run("os.path.expanduser('~')").await, home);
    assert_eq!(place.run("import shutil\nshutil.get_terminal_size()").await, "os.terminal_size(columns=80, lines=24)");
    assert_eq!(
        place.run("import locale, sys\nsys.getfilesystemencoding(), open('x', 'w').encoding.lower()").await,
        "('utf-8', 'utf-8')"
    );
    assert_eq!(place.run("import tempfile\ntempfile.gettempdir() == os.environ['TMPDIR'] and tempfile.mkdtemp().startswith(os.environ['TMPDIR'])").await, "True");
    assert_eq!(place.run("import sys\nsys.argv").await, "['-c']");
    // The seed is fixed, so that a replay prints sets in the same order.
    assert_eq!(
        place
            .run(
                "hash('a') == int(__import__('subprocess').check_output([sys.executable, '-c', 'print(hash(\"a\"))']))"
            )
            .await,
        "True"
    );
}

#[tokio::test]
async fn a_sandbox_may_lie_deep() {
    let root = tempfile::tempdir().unwrap();
    let deep = (0..8).fold(root.path().to_path_buf(), |path, _| path.join("a folder with a name of some length"));
    let sandbox = Sandbox::create(&deep).await.unwrap();
    let mut python = start(&sandbox, 0).await;
    let execution = python.execute("'deep'", crate::support::PATIENCE).await.unwrap();
    assert_eq!(execution.observation, "deep");
}

#[tokio::test]
async fn answers_that_are_none() {
    for (code, says) in [
        ("os.symlink('/etc/passwd', 'answer.txt')", "leads out of the workspace"),
        ("os.symlink('/proc/self/environ', 'answer.txt')", "leads out of the workspace"),
        ("os.symlink('../owner', 'answer.txt')", "leads out of the workspace"),
        ("os.symlink('.', 'answer.txt')", "not a regular file"),
        ("os.mkfifo('answer.txt')", "not a regular file"),
        ("os.mkdir('answer.txt')", "not a regular file"),
        ("open('answer.txt', 'w').truncate(1 << 40)", "bytes"),
        ("open('answer.txt', 'w').write('x' * (1 << 20) + 'y')", "1048577 bytes"),
    ] {
        let mut place = Place::new().await;
        place.run("import os").await;
        place.run(code).await;
        let why = place.sandbox.read_answer().await.unwrap_err().to_string();
        assert!(why.contains(says), "{code}: {why}");
    }
    let mut place = Place::new().await;
    assert_eq!(place.sandbox.read_answer().await.unwrap(), None);
    place.run("open('answer.txt', 'wb').write(b'caf\\xe9 is the answer\\n')").await;
    assert_eq!(place.sandbox.read_answer().await.unwrap().unwrap(), "caf\u{fffd} is the answer\n");
}

#[tokio::test]
async fn whatever_the_code_leaves_is_removed() {
    for mess in [
        "os.makedirs('a/b/c'); open('a/b/c/f', 'w').close(); os.chmod('a/b', 0); os.chmod('a', 0); os.chmod('.', 0)",
        "os.chmod(os.environ['TMPDIR'], 0); os.chmod('..', 0)",
        "os.symlink('/etc', 'etc'); os.symlink('loop', 'loop'); os.mkfifo('pipe'); os.symlink('..', 'up')",
        "open(b'\\xff\\xfe\\n', 'w').close(); open('-rf', 'w').close(); os.mkdir(b'\\x80')",
        "[(os.mkdir('d' * 200), os.chdir('d' * 200)) for _ in range(300)]",
        "[open(f'{n}', 'w').close() for n in range(3000)]",
        "os.rmdir(os.environ['TMPDIR']); os.rename('../matplotlib', 'moved')",
        "import shutil; shutil.rmtree('..', ignore_errors=True)",
    ] {
        let mut place = Place::new().await;
        place.run("import os").await;
        place.run(mess).await;
        place.sandbox.destroy().await.unwrap_or_else(|error| panic!("{mess}: {error}"));
        let left: Vec<_> = fs::read_dir(place.root.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, [".lock"], "{mess}");
    }
}

#[tokio::test]
async fn destroying_kills_what_still_runs_and_writes() {
    let mut place = Place::new().await;
    let code = "import subprocess, sys\n\
        loop = 'import itertools, os, tempfile\\nfor n in itertools.count(): os.makedirs(f\"{n % 50}/{n}\", exist_ok=True)'\n\
        print(subprocess.Popen([sys.executable, '-c', loop], start_new_session=True).pid)";
    let pids = place.pids(code).await;
    // The session lives on, as after a failure in between.
    place.sandbox.destroy().await.unwrap();
    crate::support::until_gone(&pids).await;
    let left: Vec<_> = fs::read_dir(place.root.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, [".lock"]);
}

#[tokio::test]
async fn sandboxes_do_not_see_each_other_s_end() {
    let root = tempfile::tempdir().unwrap();
    let (first, second) = tokio::join!(Sandbox::create(root.path()), Sandbox::create(root.path()));
    let (first, second) = (first.unwrap(), second.unwrap());
    let mut python = start(&second, 0).await;
    first.destroy().await.unwrap();
    assert_eq!(reaper::sweep(root.path()).await.unwrap(), 0);
    assert_eq!(python.execute("1", crate::support::PATIENCE).await.unwrap().observation, "1");
    assert!(second.workspace().exists());
}
