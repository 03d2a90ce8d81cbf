//! What a full or read-only disk does: an error that says so, nothing half-written, and everything goes on once it works
//! again.

use std::{fs, path::Path, process::Command};

use argosy_coordinator::store::{Error, RunStore, Trouble};
use argosy_shared::{
    id::TaskId,
    redact::Redactor,
    run_dir::{
        RunStatus, TaskHeader, names,
        progress::{Event, Kind},
    },
    spec::AttemptStrategy,
};
use argosy_tests::places;
use serde_json::json;

use crate::support::{Attempt, TASKS, at, new_run, publish, store, tree};

/// Set in the child process that runs under a limit on file sizes.
const LIMITED: &str = "ARGOSY_TEST_LIMITED_RUN";

fn big_attempt(bytes: usize) -> Attempt {
    let mut attempt = Attempt::right();
    attempt.execution.as_mut().unwrap().steps[0].observation = Some("x".repeat(bytes));
    attempt
}

fn try_publish(store: &RunStore, position: usize, attempt: &Attempt) -> Result<(), Error> {
    let (id, category) = TASKS[position];
    let task = TaskId::from(id);
    let gold = json!("y = 2x");
    let header =
        TaskHeader { task: &task, category: Some(category), ground_truth: &gold, k: 1, strategy: AttemptStrategy::Avg };
    store.publish(&header, &[(1, attempt.record())]).map(drop)
}

fn no_temporaries(dir: &Path) {
    let left: Vec<String> = tree(dir).into_keys().filter(|path| path.contains(names::TEMPORARY)).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Writes beyond a limit (`ulimit -f`) fail in the middle of a file. The limit is a process's, so a child does it.
#[test]
fn a_write_that_fails_half_way_leaves_nothing() {
    if let Some(dir) = std::env::var_os(LIMITED) {
        limited(Path::new(&dir));
        return;
    }
    let results = tempfile::tempdir().unwrap();
    let store = store(&results, 1);
    publish(&store, 0, &[&Attempt::right()]);
    let dir = store.dir().to_owned();
    drop(store);
    // SIGXFSZ is ignored so that the write itself fails; 512-byte blocks.
    let script =
        "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact broken_disk::a_write_that_fails_half_way_leaves_nothing";
    // The child's own output goes through a pipe: a file it was redirected to would fall under the limit too.
    let child = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .env(LIMITED, &dir)
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
    // Without the limit all goes on.
    let store = RunStore::open(&dir, Redactor::default(), at("2026-12-01T04:00:00Z")).unwrap();
    publish(&store, 1, &[&big_attempt(1 << 20)]);
    assert_eq!(argosy_coordinator::report::load::run(&dir).unwrap().tasks.len(), 2);
}

fn limited(dir: &Path) {
    let store = RunStore::open(dir, Redactor::default(), at("2026-12-01T04:00:00Z")).unwrap();
    let before = tree(dir);
    let error = try_publish(&store, 1, &big_attempt(1 << 20)).unwrap_err();
    assert_eq!(error.trouble(), Some(Trouble::DiskFull), "{error}");
    assert!(error.to_string().contains("result.json"), "{error}");
    assert_eq!(tree(dir), before, "the published task and every other file are as they were");
    assert_eq!(store.published(&TaskId::from(TASKS[1].0)).unwrap(), None);
    // A line of the log that does not fit is taken back, and later ones are whole.
    let kind = |error: String| Kind::RunFinished { status: RunStatus::Failed, error: Some(error) };
    let long = Event { at: at("2026-12-01T04:00:00Z"), kind: kind("e".repeat(1 << 17)) };
    assert_eq!(store.progress(&long).unwrap_err().trouble(), Some(Trouble::DiskFull));
    store.progress(&Event { at: long.at, kind: kind("short".to_owned()) }).unwrap();
    let log = fs::read_to_string(dir.join(names::PROGRESS_LOG)).unwrap();
    assert!(log.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{log}");
    // Smaller things still fit.
    try_publish(&store, 1, &Attempt::right()).unwrap();
    store.task_started(&TaskId::from(TASKS[1].0), 1).unwrap();
    no_temporaries(dir);
}

/// A file system of one megabyte, where one may be mounted.
struct Small {
    folder: tempfile::TempDir,
}

impl Small {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
            .arg(folder.path())
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then_some(Self { folder })
    }

    fn remount(&self, option: &str) {
        let options = format!("remount,{option}");
        let status = Command::new("mount").args(["-o", &options]).arg(self.folder.path()).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.folder.path()).status();
    }
}

#[test]
fn a_full_disk_pauses_and_loses_nothing() {
    let Some(small) = Small::mount() else {
        places::skipped("a_full_disk_pauses_and_loses_nothing", "a tmpfs cannot be mounted here");
        return;
    };
    let store = RunStore::create(new_run(small.folder.path(), Some("r"), 1)).unwrap();
    publish(&store, 0, &[&Attempt::right()]);
    let ballast = small.folder.path().join("ballast");
    let error = try_publish(&store, 1, &big_attempt(2 << 20)).unwrap_err();
    assert_eq!(error.trouble(), Some(Trouble::DiskFull), "{error}");
    assert!(error.hint().unwrap().contains("free some space"));
    // Now the disk is really full: whatever is tried fails and spoils nothing.
    fs::write(&ballast, vec![0; 4 << 20]).unwrap_err();
    let before = tree(store.dir());
    assert_eq!(try_publish(&store, 1, &Attempt::right()).unwrap_err().trouble(), Some(Trouble::DiskFull));
    let finish = store.finish(RunStatus::Completed, None, at("2026-12-01T04:00:00Z"));
    assert_eq!(finish.unwrap_err().trouble(), Some(Trouble::DiskFull));
    let after = tree(store.dir());
    for (path, text) in &before {
        assert_eq!(after.get(path), Some(text), "{path}");
    }
    no_temporaries(store.dir());
    // Space again: the same calls succeed.
    fs::remove_file(&ballast).unwrap();
    publish(&store, 1, &[&Attempt::right()]);
    store.finish(RunStatus::Completed, None, at("2026-12-01T04:00:00Z")).unwrap();
    assert_eq!(argosy_coordinator::report::load::run(store.dir()).unwrap().tasks.len(), 2);
}

#[test]
fn a_read_only_disk_pauses() {
    let Some(small) = Small::mount() else {
        places::skipped("a_read_only_disk_pauses", "a tmpfs cannot be mounted here");
        return;
    };
    let store = RunStore::create(new_run(small.folder.path(), Some("r"), 1)).unwrap();
    let dir = store.dir().to_owned();
    // The open log and lock would keep the file system busy.
    drop(store);
    small.remount("ro");
    let open = RunStore::open(&dir, Redactor::default(), at("2026-12-01T04:00:00Z")).unwrap_err();
    assert_eq!(open.trouble(), Some(Trouble::ReadOnly), "{open}");
    let create = RunStore::create(new_run(small.folder.path(), Some("s"), 1)).unwrap_err();
    assert_eq!(create.trouble(), Some(Trouble::ReadOnly), "{create}");
    assert!(create.hint().unwrap().contains("writable"));
    assert!(argosy_coordinator::report::load::run(&dir).is_ok(), "reading needs no writing");
    small.remount("rw");
    RunStore::open(&dir, Redactor::default(), at("2026-12-01T04:00:00Z")).unwrap();
}
