//! A process is killed at random points, again and again, over the same journal.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader},
    time::Duration,
};

use argosy_coordinator::{
    journal::{
        Error, Journal, read_all,
        sqlite::{Options, Sqlite},
    },
    scheduler::Event,
};
use argosy_shared::task::Blob;

use crate::child::{BATCH, appending, batch, content, execution};

const ROUNDS: u32 = 12;

#[tokio::test]
async fn whatever_was_acknowledged_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("journal.db");
    let mut acknowledged: Vec<String> = Vec::new();
    let mut random: u64 = 0x2545_f491_4f6c_dd1d;
    for round in 0..ROUNDS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let after = (random >> 33) % 150 + 1;
        let spin = Duration::from_micros((random >> 20) % 8000);

        let mut child = appending(round, &database);
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut heard = 0;
        for line in output.lines() {
            let Some(line) = line.unwrap().strip_prefix('@').map(str::to_owned) else { continue };
            if line != "open" {
                acknowledged.push(line);
                heard += 1;
            }
            if heard == after {
                // Somewhere inside a transaction, a checkpoint, a sync.
                std::thread::sleep(spin);
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert!(heard >= after, "round {round}: the child ended by itself after {heard} lines");

        let journal = Sqlite::open(&Options::at(&database)).await.unwrap();
        check(&journal, &acknowledged).await;
        journal.close().await.unwrap();
    }
}

/// Everything acknowledged is there; everything there is whole.
async fn check(journal: &Sqlite, acknowledged: &[String]) {
    let events = read_all(journal).await.unwrap();
    let mut found = BTreeSet::new();
    assert_eq!(events.len() % BATCH as usize, 0, "half a batch");
    for batch_found in events.chunks(BATCH as usize) {
        let Event::LeaseGranted { execution, .. } = &batch_found[0] else { panic!("{batch_found:?}") };
        let mark = execution.attempt.task.as_str().to_owned();
        assert_eq!(batch_found, batch(&mark), "half a batch");
        assert!(found.insert(mark), "a batch twice");
    }
    for line in acknowledged {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["batch", mark] => assert!(found.contains(mark), "acknowledged and lost: {line}"),
            ["step", mark] => {
                let steps = journal.steps_of(&execution(mark)).await.unwrap();
                assert_eq!(steps.len(), 1, "acknowledged and lost: {line}");
            }
            ["blob", mark, sha256, bytes] => {
                let blob = Blob { sha256: sha256.to_owned(), bytes: bytes.parse().unwrap() };
                assert!(journal.get(&blob).await.unwrap() == content(mark), "acknowledged and lost: {line}");
                let left = journal.evidence(&execution(mark)).await.unwrap();
                assert!(left.iter().any(|left| left.blob == blob), "acknowledged and lost: {line}");
            }
            _ => panic!("{line}"),
        }
    }
    let nobody = Blob { sha256: "f".repeat(64), bytes: 0 };
    assert!(matches!(journal.get(&nobody).await, Err(Error::NoBlob(_))));
}
