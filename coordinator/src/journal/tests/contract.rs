//! Each of these holds for both journals, before and after the process that wrote has died.

use std::sync::Arc;

use argosy_shared::{id::ExecutionKey, supervise, task::Blob};
use bytes::Bytes;
use tempfile::TempDir;

use super::{execution, granted};
use crate::journal::{
    Error, Evidence, Journal, Kind, Position, StoredStep,
    memory::Memory,
    read_all,
    sqlite::{Options, Sqlite},
};

/// A journal and how to open it again.
enum Place {
    Memory(Memory),
    File(TempDir),
}

impl Place {
    fn both() -> [Self; 2] {
        [Self::Memory(Memory::new()), Self::File(tempfile::tempdir().unwrap())]
    }

    async fn open(&mut self) -> Arc<dyn Journal> {
        match self {
            Self::Memory(memory) => {
                *memory = memory.reopen();
                Arc::new(memory.clone())
            }
            Self::File(folder) => Arc::new(Sqlite::open(&Options::at(folder.path().join("journal.db"))).await.unwrap()),
        }
    }
}

async fn reopen(place: &mut Place, journal: Arc<dyn Journal>) -> Arc<dyn Journal> {
    journal.close().await.unwrap();
    place.open().await
}

fn step(step_id: u32, text: &str) -> StoredStep {
    StoredStep { step_id, json: Bytes::copy_from_slice(text.as_bytes()) }
}

#[tokio::test]
async fn batches_come_back_whole_and_in_order() {
    for mut place in Place::both() {
        let mut journal = place.open().await;
        assert_eq!(read_all(&*journal).await.unwrap(), []);
        assert_eq!(journal.append(vec![granted(1), granted(2)]).await.unwrap(), Position(1));
        assert_eq!(journal.append(vec![]).await.unwrap(), Position(1), "a barrier stores nothing");
        assert_eq!(journal.append(vec![granted(3)]).await.unwrap(), Position(2));
        journal = reopen(&mut place, journal).await;
        assert_eq!(journal.append(vec![granted(4)]).await.unwrap(), Position(3));
        let chunk = journal.replay(Position(0), 2).await.unwrap();
        assert_eq!(chunk.iter().map(|batch| batch.position).collect::<Vec<_>>(), [Position(1), Position(2)]);
        assert_eq!(chunk[0].events, [granted(1), granted(2)]);
        let chunk = journal.replay(Position(2), 2).await.unwrap();
        assert_eq!((chunk.len(), &chunk[0].events[..]), (1, &[granted(4)][..]));
        assert_eq!(journal.replay(Position(9), 2).await.unwrap(), []);
        assert_eq!(read_all(&*journal).await.unwrap(), [1, 2, 3, 4].map(granted));
    }
}

#[tokio::test]
async fn batches_of_many_callers_keep_each_callers_order() {
    for mut place in Place::both() {
        let journal = place.open().await;
        let callers: Vec<_> = (0..8u64)
            .map(|caller| {
                let journal = Arc::clone(&journal);
                supervise::spawn("test", async move {
                    for number in 0..50 {
                        journal.append(vec![granted(caller * 1000 + number)]).await.unwrap();
                    }
                })
            })
            .collect();
        for caller in callers {
            caller.await.unwrap();
        }
        let journal = reopen(&mut place, journal).await;
        let events = read_all(&*journal).await.unwrap();
        assert_eq!(events.len(), 400);
        for caller in 0..8 {
            let own: Vec<_> = (0..50).map(|number| granted(caller * 1000 + number)).collect();
            assert!(events.iter().filter(|event| own.contains(event)).eq(&own), "caller {caller}");
        }
    }
}

#[tokio::test]
async fn results_of_any_size_come_back_byte_for_byte() {
    // Around the size of a piece, and the size that is asked for.
    let piece = 512 * 1024;
    for mut place in Place::both() {
        let mut journal = place.open().await;
        let mut stored = Vec::new();
        for (number, size) in (1..).zip([0, 1, 20_000, piece - 1, piece, piece + 1, 3 * piece + 7, 64 << 20]) {
            // No two pieces are alike, so that none can stand for another.
            let mut bytes = vec![number as u8; size];
            bytes.chunks_mut(1000).zip(0u32..).for_each(|(chunk, at)| chunk[0] = (at * 7 % 251) as u8);
            let bytes = Bytes::from(bytes);
            let blob = journal.put(&execution("big", number), Kind::Result, bytes.clone()).await.unwrap();
            assert_eq!(blob.bytes, size as u64);
            stored.push((blob, bytes));
        }
        journal = reopen(&mut place, journal).await;
        for (blob, bytes) in &stored {
            assert!(journal.get(blob).await.unwrap() == *bytes, "{blob:?}");
        }
        let nobody = Blob { sha256: "0".repeat(64), bytes: 1 };
        assert_eq!(journal.get(&nobody).await, Err(Error::NoBlob(nobody.sha256)));
    }
}

#[tokio::test]
async fn evidence_says_what_an_execution_left() {
    for mut place in Place::both() {
        let mut journal = place.open().await;
        let key = execution("a", 1);
        let first = journal.put(&key, Kind::Result, Bytes::from_static(b"first")).await.unwrap();
        let second = journal.put(&key, Kind::Result, Bytes::from_static(b"second")).await.unwrap();
        let judged = journal.put(&key, Kind::Judgement, Bytes::from_static(b"first")).await.unwrap();
        assert_eq!(first, judged, "a name is a name of content");
        assert_eq!(journal.put(&key, Kind::Result, Bytes::from_static(b"first")).await.unwrap(), first);
        journal.supersede(&key, &second).await.unwrap();
        journal = reopen(&mut place, journal).await;
        let left = |kind, blob: &Blob| Evidence { kind, blob: blob.clone() };
        let expected = [left(Kind::Result, &first), left(Kind::Superseded, &second), left(Kind::Judgement, &first)];
        assert_eq!(journal.evidence(&key).await.unwrap(), expected);
        assert_eq!(journal.evidence(&execution("a", 2)).await.unwrap(), []);
        for (key, blob) in [(&key, &second), (&execution("a", 2), &first)] {
            assert_eq!(journal.supersede(key, blob).await, Err(Error::NoBlob(blob.sha256.clone())));
        }
    }
}

#[tokio::test]
async fn the_same_large_result_twice_is_stored_once_and_both_count() {
    for mut place in Place::both() {
        let journal = place.open().await;
        let bytes = Bytes::from(vec![7; 3 << 20]);
        let puts = (1..=4).map(|number| {
            let (journal, bytes) = (Arc::clone(&journal), bytes.clone());
            supervise::spawn("test", async move { journal.put(&execution("same", number), Kind::Result, bytes).await })
        });
        let puts: Vec<_> = puts.collect();
        let mut blobs = Vec::new();
        for put in puts {
            blobs.push(put.await.unwrap().unwrap());
        }
        blobs.dedup();
        assert_eq!(blobs.len(), 1);
        assert!(journal.get(&blobs[0]).await.unwrap() == bytes);
        for number in 1..=4 {
            assert_eq!(journal.evidence(&execution("same", number)).await.unwrap().len(), 1);
        }
    }
}

#[tokio::test]
async fn steps_come_back_in_order_and_the_first_report_of_a_step_stands() {
    for mut place in Place::both() {
        let mut journal = place.open().await;
        let key = execution("a", 1);
        journal.append_steps(&key, vec![step(2, "two"), step(1, "one")]).await.unwrap();
        journal.append_steps(&key, vec![step(2, "again"), step(3, "three")]).await.unwrap();
        journal.append_steps(&execution("a", 2), vec![step(1, "other")]).await.unwrap();
        journal = reopen(&mut place, journal).await;
        assert_eq!(journal.steps_of(&key).await.unwrap(), [step(1, "one"), step(2, "two"), step(3, "three")]);
        assert_eq!(journal.steps_of(&execution("b", 1)).await.unwrap(), []);
    }
}

#[tokio::test]
async fn forgetting_an_attempt_takes_its_own_and_nothing_else() {
    for mut place in Place::both() {
        let mut journal = place.open().await;
        let (a1, a2, b) = (execution("a", 1), execution("a", 2), execution("b", 1));
        let own = journal.put(&a1, Kind::Result, Bytes::from_static(b"own")).await.unwrap();
        let large = journal.put(&a2, Kind::Result, Bytes::from(vec![1; 2 << 20])).await.unwrap();
        let shared = journal.put(&a2, Kind::Judgement, Bytes::from_static(b"shared")).await.unwrap();
        journal.put(&b, Kind::Judgement, Bytes::from_static(b"shared")).await.unwrap();
        for key in [&a1, &b] {
            journal.append_steps(key, vec![step(1, "one")]).await.unwrap();
        }
        journal.append(vec![granted(1)]).await.unwrap();
        journal.forget(&a1.attempt).await.unwrap();
        journal = reopen(&mut place, journal).await;
        for gone in [&own, &large] {
            assert_eq!(journal.get(gone).await, Err(Error::NoBlob(gone.sha256.clone())));
        }
        assert_eq!(journal.get(&shared).await.unwrap(), "shared");
        for key in [&a1, &a2] {
            assert_eq!(journal.evidence(key).await.unwrap(), []);
            assert_eq!(journal.steps_of(key).await.unwrap(), []);
        }
        assert_eq!(journal.steps_of(&b).await.unwrap().len(), 1);
        assert_eq!(read_all(&*journal).await.unwrap(), [granted(1)]);
        journal.forget(&a1.attempt).await.unwrap();
    }
}

#[tokio::test]
async fn a_closed_journal_says_so() {
    for mut place in Place::both() {
        let journal = place.open().await;
        let key: ExecutionKey = execution("a", 1);
        let blob = journal.put(&key, Kind::Result, Bytes::from_static(b"x")).await.unwrap();
        journal.close().await.unwrap();
        journal.close().await.unwrap();
        assert_eq!(journal.append(vec![granted(1)]).await, Err(Error::Closed));
        assert_eq!(journal.append(vec![]).await, Err(Error::Closed));
        assert_eq!(journal.put(&key, Kind::Result, Bytes::from_static(b"y")).await, Err(Error::Closed));
        assert_eq!(journal.append_steps(&key, vec![step(1, "one")]).await, Err(Error::Closed));
        assert_eq!(journal.get(&blob).await, Err(Error::Closed));
        assert_eq!(journal.replay(Position(0), 1).await, Err(Error::Closed));
    }
}
