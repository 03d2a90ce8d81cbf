//! Figures for the reader of `cargo test -- --ignored --nocapture speed`, and a comparison that must hold anywhere.
#![allow(clippy::print_stderr, reason = "figures are printed for whoever asks for them")]

use std::{sync::Arc, time::Duration};

use argosy_shared::{
    supervise,
    time::{Clock, SystemClock},
};

use super::{execution, granted, open};
use crate::{
    journal::{Journal, sqlite::Sqlite},
    scheduler::{Event, Settings, State},
};

/// Appends `each` batches from each of `callers` at once.
async fn appends(journal: &Arc<Sqlite>, callers: u64, each: u64) -> Duration {
    let clock = SystemClock::new();
    let tasks: Vec<_> = (0..callers)
        .map(|_| {
            let journal = Arc::clone(journal);
            supervise::spawn("test", async move {
                for number in 0..each {
                    journal.append(vec![granted(number)]).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    clock.monotonic()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_callers_share_transactions() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Arc::new(open(&folder).await);
    // The same number of batches, all from one caller that waits for each, or from many at once.
    let alone = appends(&journal, 1, 300).await;
    let together = appends(&journal, 100, 3).await;
    assert!(together * 2 < alone, "alone {alone:?}, together {together:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "prints figures"]
async fn speed_of_appends() {
    for callers in [1, 8, 64, 256] {
        let folder = tempfile::tempdir_in(".").unwrap();
        let journal = Arc::new(open(&folder).await);
        let each = 20_000 / callers;
        let took = appends(&journal, callers, each).await;
        let rate = (callers * each) as f64 / took.as_secs_f64();
        eprintln!("{callers:4} callers: {rate:9.0} batches/s, {:7.2} ms each", took.as_secs_f64() * 1e3 / each as f64);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "prints figures"]
async fn speed_of_blobs() {
    let folder = tempfile::tempdir_in(".").unwrap();
    let journal = Arc::new(open(&folder).await);
    for size in [20_000usize, 1 << 20, 64 << 20] {
        let clock = SystemClock::new();
        let count = if size > 1 << 20 { 1 } else { 64 };
        let puts: Vec<_> = (0..count)
            .map(|number| {
                let journal = Arc::clone(&journal);
                let mut bytes = vec![size as u8; size];
                bytes[0] = number as u8;
                supervise::spawn("test", async move {
                    journal.put(&execution("t", number), crate::journal::Kind::Result, bytes.into()).await.unwrap()
                })
            })
            .collect();
        let mut blobs = Vec::new();
        for put in puts {
            blobs.push(put.await.unwrap());
        }
        let put = clock.monotonic();
        let clock = SystemClock::new();
        for blob in &blobs {
            journal.get(blob).await.unwrap();
        }
        eprintln!("{count} blobs of {size}: put {put:?}, got one after another {:?}", clock.monotonic());
    }
}

/// The journal of `attempts` attempts that went without a hitch, as batches.
fn finished(attempts: u32) -> Vec<Vec<Event>> {
    use argosy_shared::{id::*, spec::ExecutionParams, task::Blob};

    use crate::scheduler::{Order, Policy, RunPlan};
    let tasks: Vec<TaskId> = (0..attempts).map(|task| TaskId(format!("real_test__some_dataset__{task}__0"))).collect();
    let plan = RunPlan {
        id: RunId("20261201_120000".to_owned()),
        k: 1,
        tasks: tasks.clone(),
        environment: argosy_shared::spec::EnvironmentId::HostProcess,
        endpoint: "http://127.0.0.1/v1 model".to_owned(),
        judge_endpoint: None,
        policy: Policy::of(&ExecutionParams { task_concurrency: attempts, ..ExecutionParams::default() }),
        order: Order::Dataset,
        expected_seconds: Vec::new(),
        adopted: Vec::new(),
        spec: serde_json::Value::Null,
    };
    let run = plan.id.clone();
    let mut batches = vec![vec![Event::RunAdded { plan: Box::new(plan) }]];
    for task in tasks {
        let execution = ExecutionKey { attempt: AttemptKey { run: run.clone(), task, attempt: 1 }, execution: 1 };
        let blob = Blob { sha256: "0123456789abcdef".repeat(4), bytes: 20_000 };
        batches.extend([
            vec![Event::LeaseGranted { execution: execution.clone(), worker: "host-1".to_owned() }],
            vec![Event::ResultStored {
                execution: execution.clone(),
                has_answer: true,
                issues: vec![],
                result: blob.clone(),
            }],
            vec![Event::Judged { execution: execution.clone(), judgement: blob, issues: vec![], severity: None }],
            vec![Event::AttemptDone { execution, severity: None }],
        ]);
    }
    batches.push(vec![Event::RunFinished { run }]);
    batches
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "prints figures"]
async fn speed_of_replay() {
    let folder = tempfile::tempdir_in(".").unwrap();
    let journal = Arc::new(open(&folder).await);
    let mut events = 0;
    for batch in finished(10_000) {
        events += batch.len();
        journal.append(batch).await.unwrap();
    }
    journal.close().await.unwrap();
    drop(journal);
    let clock = SystemClock::new();
    let journal = open(&folder).await;
    let opened = clock.monotonic();
    let read = crate::journal::read_all(&journal).await.unwrap();
    let got = clock.monotonic();
    assert_eq!(read.len(), events);
    let mut state = State::replay(Settings { lease: Duration::from_secs(20) }, &read);
    state.state.after_restart(Duration::ZERO);
    let replayed = clock.monotonic();
    assert_eq!(state.skipped, []);
    assert_eq!(state.state.runs().next().unwrap().tally.done(), 10_000);
    eprintln!("{events} events: opened {opened:?}, read {:?}, replayed {:?}", got - opened, replayed - got);
}
