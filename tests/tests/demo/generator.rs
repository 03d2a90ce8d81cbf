//! The committed files are what the generator writes.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use argosy_tests::places;

#[test]
fn the_generator_reproduces_the_files_on_every_python() {
    let mut committed = BTreeMap::new();
    read(&crate::sources().join("benchmark"), Path::new("benchmark"), &mut committed);
    committed.insert("script.json".into(), fs::read(crate::sources().join("script.json")).expect("the script"));
    assert!(committed.len() > 30);

    let leftovers = || ["__pycache__", "topics/__pycache__"].map(|name| crate::sources().join(name).exists());
    let before = leftovers();
    for python in pythons() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let output = Command::new(&python)
            .arg(crate::sources().join("generate.py"))
            .arg(folder.path())
            .env_remove("PYTHONDONTWRITEBYTECODE")
            .output()
            .unwrap_or_else(|error| panic!("{}: {error}", python.display()));
        assert!(output.status.success(), "{}: {}", python.display(), String::from_utf8_lossy(&output.stderr));
        let mut generated = BTreeMap::new();
        read(folder.path(), Path::new(""), &mut generated);
        assert!(generated.keys().eq(committed.keys()), "{}: other files", python.display());
        for (path, content) in &generated {
            assert!(*content == committed[path], "{}: {} differs", python.display(), path.display());
        }
    }
    assert_eq!(leftovers(), before, "the generator leaves nothing behind");
}

/// The machine's own Python and every version that is installed besides.
pub(crate) fn pythons() -> Vec<PathBuf> {
    let versions = ["3.9", "3.10", "3.11", "3.12", "3.13"].into_iter().filter_map(places::python);
    std::iter::once(PathBuf::from("python3")).chain(versions).collect()
}

fn read(folder: &Path, name: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), name.join(entry.file_name()));
        if path.is_dir() {
            read(&path, &name, files);
        } else {
            files.insert(name, fs::read(&path).expect("a file"));
        }
    }
}
