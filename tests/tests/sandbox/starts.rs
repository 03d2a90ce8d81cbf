//! Interpreters that are none, are too old, or are started in a roundabout way.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use argosy_tests::places;
use argosy_worker::{
    python::{Error, Options, Session},
    sandbox::host_process::Sandbox,
};

async fn started(interpreter: &str) -> Result<(Session, Sandbox, tempfile::TempDir), String> {
    let root = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::create(root.path()).await.unwrap();
    let options = Options { python: interpreter.to_owned(), max_observation_bytes: 0 };
    match sandbox.start_python(&options).await {
        Ok(session) => Ok((session, sandbox, root)),
        Err(Error::Start(why)) => Err(why),
        Err(other) => panic!("{other}"),
    }
}

fn program(folder: &Path, text: &str) -> String {
    let path = folder.join("interpreter");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[tokio::test]
async fn every_python_that_is_there() {
    let mut versions = Vec::new();
    for minor in ["3.9", "3.10", "3.11", "3.12", "3.13", "3.14"] {
        let Some(path) = places::python(minor) else { continue };
        let (mut session, _sandbox, _root) = started(&path.display().to_string()).await.unwrap();
        assert!(session.version().starts_with(&format!("{minor}.")), "{}", session.version());
        let code = "import sys\n'.'.join(map(str, sys.version_info[:3]))";
        let execution = session.execute(code, crate::support::PATIENCE).await.unwrap();
        assert_eq!(execution.observation, session.version());
        versions.push(minor);
    }
    if versions.is_empty() {
        places::skipped("every_python_that_is_there", "no interpreter with its minor version in its name");
    }
}

#[tokio::test]
async fn one_that_is_too_old() {
    let folder = tempfile::tempdir().unwrap();
    let old = "#!/usr/bin/env python3\nimport sys\nsys.version_info = (3, 8, 10, 'final', 0)\nexec(sys.argv[2])\n";
    let why = started(&program(folder.path(), old)).await.unwrap_err();
    assert!(why.contains("is Python 3.8.10, but 3.9 or newer is needed") && why.contains("--env-params"), "{why}");
}

#[tokio::test]
async fn one_that_is_no_python() {
    let folder = tempfile::tempdir().unwrap();
    for (text, says) in [
        (
            "#!/bin/sh\necho something is missing >&2\nexit 7\n",
            "exit code 7; its stderr ends with: something is missing",
        ),
        ("#!/bin/sh\nexit 0\n", "ended before it connected: exit code 0"),
        ("#!/nowhere/at/all\n", "cannot be run"),
        (
            "#!/usr/bin/env python3\nimport socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('socket')\ns.send(b'hello there, I am')\ns.recv(1)",
            "something else than who it is",
        ),
        (
            "#!/usr/bin/env python3\nimport socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('socket')\ns.close()\nraise SystemExit(6)",
            "exit code 6 before it was ready",
        ),
    ] {
        let why = started(&program(folder.path(), text)).await.err().unwrap_or_else(|| panic!("{text}"));
        assert!(why.contains(says), "{text}: {why}");
    }
}

#[tokio::test]
async fn one_behind_a_script() {
    let folder = tempfile::tempdir().unwrap();
    for text in [
        "#!/bin/sh\nexec python3 \"$@\"\n",
        "#!/bin/sh\npython3 \"$@\"\nexit $?\n",
        "#!/bin/sh\nexec setsid python3 \"$@\"\n",
    ] {
        let (mut session, sandbox, _root) = started(&program(folder.path(), text)).await.unwrap();
        let pid = session.pid();
        let code = "import os\nos.getpid(), os.getpgrp(), os.getsid(0)";
        let execution = session.execute(code, crate::support::PATIENCE).await.unwrap();
        assert_eq!(execution.observation, format!("({pid}, {pid}, {pid})"));
        let bound = std::time::Duration::from_millis(200);
        assert!(matches!(session.execute("while True: pass", bound).await, Err(Error::Timeout(_))));
        crate::support::until_gone(&[pid]).await;
        sandbox.destroy().await.unwrap();
    }
}

#[tokio::test]
async fn a_virtual_environment_keeps_its_packages() {
    let folder = tempfile::tempdir().unwrap();
    let venv = folder.path().join("venv");
    let made = std::process::Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&venv).status().unwrap();
    if !made.success() {
        places::skipped("a_virtual_environment_keeps_its_packages", "python3 -m venv does not work");
        return;
    }
    let library = fs::read_dir(venv.join("lib")).unwrap().flatten().next().unwrap().path().join("site-packages");
    fs::create_dir(library.join("scikit_learn-1.4.1.post1.dist-info")).unwrap();
    fs::create_dir(library.join("Sympy-1.12-py3.11.egg-info")).unwrap();
    fs::create_dir(library.join("other-1.0.dist-info")).unwrap();
    fs::write(library.join("ours.py"), "x = 8").unwrap();
    let (mut session, _sandbox, _root) = started(&venv.join("bin/python").display().to_string()).await.unwrap();
    let packages: Vec<_> = session.packages().iter().map(|(name, version)| format!("{name} {version}")).collect();
    assert_eq!(packages, ["scikit-learn 1.4.1.post1", "sympy 1.12"]);
    let code = "import ours, shutil, sys\nours.x, shutil.which('python') == sys.executable";
    assert_eq!(session.execute(code, crate::support::PATIENCE).await.unwrap().observation, "(8, True)");
}
