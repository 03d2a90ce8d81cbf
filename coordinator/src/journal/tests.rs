//! What every journal keeps, and what only a file can lose.

mod contract;
mod faults;
mod ownership;
mod speed;

use argosy_shared::id::{AttemptKey, ExecutionKey, RunId, TaskId};

use super::sqlite::{Options, Sqlite};
use crate::scheduler::Event;

fn execution(task: &str, execution: u64) -> ExecutionKey {
    let attempt = AttemptKey { run: RunId("run".to_owned()), task: TaskId::from(task), attempt: 1 };
    ExecutionKey { attempt, execution }
}

fn granted(number: u64) -> Event {
    Event::LeaseGranted { execution: execution("task", number), worker: format!("worker {number}") }
}

async fn open(folder: &tempfile::TempDir) -> Sqlite {
    Sqlite::open(&Options::at(folder.path().join("journal.db"))).await.unwrap()
}
