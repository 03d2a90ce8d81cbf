//! What a child process does, and how it is started.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use argosy_coordinator::{
    journal::{
        Error, Journal, Kind, StoredStep, read_all,
        sqlite::{Options, Sqlite},
    },
    scheduler::Event,
};
use argosy_shared::id::{AttemptKey, ExecutionKey, RunId, TaskId};

/// Says what a child is to be: `append <round> <database>` or `fill <database> <filler>`.
const ROLE: &str = "ARGOSY_JOURNAL_CHILD";

/// Appenders of one child.
pub(crate) const CALLERS: u32 = 6;

/// Events of one batch.
pub(crate) const BATCH: u32 = 3;

/// A command that runs this binary as a child with that role.
pub(crate) fn command(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this binary has a path"));
    command.args(["--exact", "child::plays_its_role", "--nocapture", "--test-threads=1"]);
    command.env(ROLE, role).stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// A child that appends until it is killed.
pub(crate) fn appending(round: u32, database: &Path) -> Child {
    command(&format!("append {round} {}", database.display())).spawn().expect("this binary starts")
}

/// Not a test of its own: it does nothing unless the role is given.
#[test]
fn plays_its_role() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let words: Vec<&str> = role.splitn(3, ' ').collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    match words[..] {
        ["append", round, database] => runtime.block_on(append(round.parse().unwrap(), PathBuf::from(database))),
        ["fill", database, filler] => runtime.block_on(fill(Path::new(database), Path::new(filler))),
        _ => panic!("unknown role `{role}`"),
    }
}

/// Appends, stores and reports each acknowledgement in a line, for ever.
async fn append(round: u32, database: PathBuf) {
    let journal = std::sync::Arc::new(Sqlite::open(&Options::at(database)).await.unwrap());
    say("open");
    let callers: Vec<_> = (0..CALLERS)
        .map(|caller| {
            let journal = std::sync::Arc::clone(&journal);
            argosy_shared::supervise::spawn("appender", async move {
                for number in 0.. {
                    one(&*journal, round, caller, number).await;
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
}

async fn one(journal: &dyn Journal, round: u32, caller: u32, number: u32) {
    let mark = format!("{round}.{caller}.{number}");
    match caller {
        // Mostly events; one caller stores results of all sizes, one streams steps.
        0 => {
            let blob = journal.put(&execution(&mark), Kind::Result, content(&mark).into()).await.unwrap();
            say(&format!("blob {mark} {} {}", blob.sha256, blob.bytes));
        }
        1 => {
            let step = StoredStep { step_id: 1, json: mark.clone().into() };
            journal.append_steps(&execution(&mark), vec![step]).await.unwrap();
            say(&format!("step {mark}"));
        }
        _ => {
            journal.append(batch(&mark)).await.unwrap();
            say(&format!("batch {mark}"));
        }
    }
}

/// Appends until the disk is full, removes `filler`, goes on, and tells what happened.
async fn fill(database: &Path, filler: &Path) {
    let journal = Sqlite::open(&Options::at(database)).await.unwrap();
    let mut number = 0;
    let error = loop {
        match journal.append(vec![batch(&number.to_string())[0].clone(); 50]).await {
            Ok(_) => number += 1,
            Err(error) => break error,
        }
    };
    say(&format!("full {} {}", error.is_transient(), matches!(error, Error::Full(_))));
    assert_eq!(read_all(&journal).await.unwrap().len(), number * 50);
    std::fs::remove_file(filler).unwrap();
    journal.append(batch("after")).await.unwrap();
    journal.close().await.unwrap();
    let again = Sqlite::open(&Options::at(database)).await.unwrap();
    let events = read_all(&again).await.unwrap();
    assert_eq!(events.len(), number * 50 + BATCH as usize);
    assert_eq!(events[events.len() - BATCH as usize..], batch("after"));
    say(&format!("recovered {number}"));
}

/// One line to the parent, whole or not at all.
fn say(line: &str) {
    std::io::stdout().write_all(format!("\n@{line}\n").as_bytes()).unwrap();
}

pub(crate) fn execution(mark: &str) -> ExecutionKey {
    let attempt = AttemptKey { run: RunId("run".to_owned()), task: TaskId::from(mark), attempt: 1 };
    ExecutionKey { attempt, execution: 1 }
}

pub(crate) fn batch(mark: &str) -> Vec<Event> {
    (0..BATCH)
        .map(|part| Event::LeaseGranted { execution: execution(mark), worker: format!("{mark} {part}") })
        .collect()
}

/// Bytes that follow from the mark, from a few to a few megabytes.
pub(crate) fn content(mark: &str) -> Vec<u8> {
    let number = mark.bytes().fold(7usize, |sum, byte| (sum * 31 + usize::from(byte)) % 1_000_003);
    let size = if number % 4 == 0 { number * 3 } else { number % 30_000 };
    mark.bytes().cycle().take(size).collect()
}
