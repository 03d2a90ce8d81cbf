//! A worker that is killed: what it ran must not run on, and what it left is cleared away.
#![allow(clippy::print_stdout, reason = "the child tells its parent how far it is")]

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use argosy_worker::sandbox::{host_process::Sandbox, reaper};

use crate::support::{is_alive, start, until_gone};

/// Set for the copy of this program that plays the worker: root of its sandboxes, and the code it runs.
const ROOT: &str = "ARGOSY_TEST_DYING_WORKER";
const CODE: &str = "ARGOSY_TEST_DYING_WORKER_CODE";
const READY: &str = "python has the process id ";

/// Not a test of its own: the worker that is killed.
#[tokio::test]
async fn the_worker_that_dies() {
    let (Ok(root), Ok(code)) = (std::env::var(ROOT), std::env::var(CODE)) else { return };
    let sandbox = Sandbox::create(Path::new(&root)).await.unwrap();
    let mut python = start(&sandbox, 0).await;
    python
        .execute("import os, time, subprocess\nopen('left behind', 'w').close()", Duration::from_secs(60))
        .await
        .unwrap();
    println!("{READY}{}", python.pid());
    let _ = python.execute(&code, Duration::from_secs(600)).await;
    println!("executed");
    tokio::time::sleep(Duration::from_secs(600)).await;
}

struct Worker {
    child: Child,
    python: i32,
}

fn worker(root: &Path, code: &str, until_executed: bool) -> Worker {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "worker_death::the_worker_that_dies", "--nocapture", "--test-threads=1"])
        .env(ROOT, root)
        .env(CODE, code)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let python = lines.find_map(|line| line.split_once(READY)?.1.parse().ok()).expect("a worker with Python");
    if until_executed {
        lines.find(|line| line == "executed").expect("the code was executed");
    }
    Worker { child, python }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn appears(root: &Path, name: &str) -> String {
    let mut found = None;
    crate::support::until(name, || {
        let folders = std::fs::read_dir(root).unwrap().flatten();
        found =
            folders.filter_map(|entry| std::fs::read_to_string(entry.path().join("workspace").join(name)).ok()).next();
        found.as_deref().is_some_and(|text| !text.is_empty())
    })
    .await;
    found.unwrap()
}

#[tokio::test]
async fn what_a_killed_worker_ran_is_killed_too() {
    for (name, code) in
        [("python", "while True: pass"), ("c", "sum(range(10**12))"), ("child", "subprocess.run(['sleep', '1000'])")]
    {
        let root = tempfile::tempdir().unwrap();
        let code = format!("open('running', 'w').write('{name}')\n{code}");
        let worker = worker(root.path(), &code, false);
        assert_eq!(appears(root.path(), "running").await, name);
        let python = worker.python;
        assert!(is_alive(python));
        drop(worker);
        until_gone(&[python]).await;
    }
}

#[tokio::test]
async fn an_idle_python_does_not_outlive_its_worker() {
    let root = tempfile::tempdir().unwrap();
    let code = "open('child', 'w').write(str(subprocess.Popen(['sleep', '1000']).pid))";
    let worker = worker(root.path(), code, true);
    let child: i32 = appears(root.path(), "child").await.parse().unwrap();
    let python = worker.python;
    assert!(is_alive(python) && is_alive(child));
    drop(worker);
    until_gone(&[python, child]).await;
}

#[tokio::test]
async fn the_next_worker_clears_away() {
    let root = tempfile::tempdir().unwrap();
    let code = "open('daemon', 'w').write(str(subprocess.Popen(['sleep', '1000'], start_new_session=True).pid))";
    let worker = worker(root.path(), code, true);
    let daemon: i32 = appears(root.path(), "daemon").await.parse().unwrap();
    assert_eq!(reaper::sweep(root.path()).await.unwrap(), 0, "its owner lives");
    drop(worker);
    assert!(is_alive(daemon), "it left the group and the session");
    assert_eq!(reaper::sweep(root.path()).await.unwrap(), 1);
    until_gone(&[daemon]).await;
    let left: Vec<_> = std::fs::read_dir(root.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, [".lock"]);
}
