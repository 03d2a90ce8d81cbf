//! Full disks, damaged files, callers that give up.

use std::{fs, sync::Arc};

use bytes::Bytes;
use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};

use super::{execution, granted, open};
use crate::journal::{
    Error, Journal, Kind, Position,
    memory::Memory,
    read_all,
    sqlite::{Options, Sqlite},
};

/// A journal that may grow to about a megabyte.
async fn small(folder: &tempfile::TempDir) -> Sqlite {
    let options = Options { max_pages: Some(256), ..Options::at(folder.path().join("journal.db")) };
    Sqlite::open(&options).await.unwrap()
}

#[tokio::test]
async fn a_full_disk_loses_nothing_that_was_acknowledged_and_can_be_repaired() {
    let folder = tempfile::tempdir().unwrap();
    let journal = small(&folder).await;
    let mut kept = Vec::new();
    let error = loop {
        let event = granted(kept.len() as u64);
        let batch = vec![event.clone(); 50];
        match journal.append(batch).await {
            Ok(_) => kept.extend(vec![event; 50]),
            Err(error) => break error,
        }
        assert!(kept.len() < 100_000, "it never got full");
    };
    assert!(matches!(error, Error::Full(_)), "{error:?}");
    assert!(error.is_transient());
    assert_eq!(journal.append(vec![]).await.unwrap(), Position(kept.len() as u64 / 50), "still there, still whole");
    assert_eq!(read_all(&journal).await.unwrap(), kept);
    journal.close().await.unwrap();
    let journal = open(&folder).await;
    assert_eq!(read_all(&journal).await.unwrap(), kept);
    journal.append(vec![granted(1)]).await.unwrap();
}

#[tokio::test]
async fn what_does_not_fit_fails_alone() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Arc::new(small(&folder).await);
    let large = {
        let journal = Arc::clone(&journal);
        let bytes = Bytes::from(vec![3; 8 << 20]);
        tokio::spawn(async move { journal.put(&execution("large", 1), Kind::Result, bytes).await })
    };
    for number in 0..100 {
        journal.append(vec![granted(number)]).await.unwrap();
    }
    let error = large.await.unwrap().unwrap_err();
    assert!(matches!(error, Error::Full(_)), "{error:?}");
    // Its pieces made room again.
    let bytes = Bytes::from(vec![4; 400_000]);
    journal.put(&execution("small", 1), Kind::Result, bytes).await.unwrap();
    assert_eq!(read_all(&*journal).await.unwrap().len(), 100);
}

#[tokio::test]
async fn no_batch_overtakes_one_that_failed_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let journal = small(&folder).await;
    // All three are sent before the writing task gets a turn, so they share a transaction first.
    let (first, large, last) = tokio::join!(
        journal.append(vec![granted(1)]),
        journal.append(vec![granted(2); 20_000]),
        journal.append(vec![granted(3)])
    );
    assert_eq!(first.unwrap(), Position(1));
    for outcome in [large, last] {
        assert!(matches!(outcome, Err(Error::Full(_))), "{outcome:?}");
    }
    assert_eq!(journal.append(vec![granted(4)]).await.unwrap(), Position(2));
    assert_eq!(read_all(&journal).await.unwrap(), [granted(1), granted(4)]);
}

#[tokio::test]
async fn pieces_of_a_caller_that_gave_up_do_not_stay() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(&folder).await;
    let key = execution("large", 1);
    let bytes = Bytes::from(vec![5; 32 << 20]);
    let mut put = Box::pin(journal.put(&key, Kind::Result, bytes));
    // Far enough to have written something, not far enough to be done.
    let gave_up = tokio::time::timeout(std::time::Duration::from_millis(1), &mut put).await;
    let mut waited = 0;
    let mut gave_up = gave_up.is_err();
    while gave_up && pieces(&folder).await == 0 {
        waited += 1;
        assert!(waited < 10_000, "nothing was written");
        gave_up = tokio::time::timeout(std::time::Duration::from_millis(1), &mut put).await.is_err();
    }
    assert!(gave_up, "the put was quicker than a look at the database");
    drop(put);
    journal.append(vec![]).await.unwrap();
    journal.append(vec![granted(1)]).await.unwrap();
    assert_eq!(pieces(&folder).await, 0);
}

#[tokio::test]
async fn pieces_that_a_crash_left_are_removed_when_the_journal_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    open(&folder).await.close().await.unwrap();
    let mut connection = outside(&folder).await;
    sqlx::raw_sql("INSERT INTO blobs DEFAULT VALUES; INSERT INTO pieces (blob, number, bytes) VALUES (1, 0, x'00')")
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    let journal = open(&folder).await;
    assert_eq!(pieces(&folder).await, 0);
    journal.close().await.unwrap();
}

#[tokio::test]
async fn a_damaged_blob_is_not_handed_out() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(&folder).await;
    let key = execution("a", 1);
    let blob = journal.put(&key, Kind::Result, Bytes::from_static(b"the truth")).await.unwrap();
    let mut connection = outside(&folder).await;
    let change = |text: &'static str| sqlx::raw_sql(text);
    change("UPDATE pieces SET bytes = CAST('the lie!!' AS BLOB)").execute(&mut connection).await.unwrap();
    let error = journal.get(&blob).await.unwrap_err();
    assert!(matches!(error, Error::Corrupt(_)), "{error:?}");
    change("UPDATE pieces SET bytes = CAST('short' AS BLOB)").execute(&mut connection).await.unwrap();
    assert_eq!(journal.get(&blob).await, Err(Error::Corrupt(format!("blob {} has 5 of 9 bytes", blob.sha256))));
}

#[tokio::test]
async fn a_damaged_file_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(&folder).await;
    for number in 0..50 {
        journal.append(vec![granted(number); 50]).await.unwrap();
    }
    journal.close().await.unwrap();
    let path = folder.path().join("journal.db");
    let mut bytes = fs::read(&path).unwrap();
    let (from, to) = (bytes.len() / 4, bytes.len() * 3 / 4);
    bytes[from..to].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let outcome = match Sqlite::open(&Options::at(&path)).await {
        Ok(journal) => read_all(&journal).await.map(|_| ()),
        Err(error) => Err(error),
    };
    assert!(matches!(outcome, Err(Error::Corrupt(_))), "{outcome:?}");
}

#[tokio::test]
async fn a_foreign_lock_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Arc::new(open(&folder).await);
    let mut connection = outside(&folder).await;
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut connection).await.unwrap();
    let append = {
        let journal = Arc::clone(&journal);
        tokio::spawn(async move { journal.append(vec![granted(1)]).await })
    };
    assert_eq!(read_all(&*journal).await.unwrap(), [], "reading does not wait");
    sqlx::raw_sql("ROLLBACK").execute(&mut connection).await.unwrap();
    append.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_database_that_may_not_be_written_is_read_only() {
    let folder = tempfile::tempdir().unwrap();
    open(&folder).await.close().await.unwrap();
    let mut connection = outside(&folder).await;
    sqlx::raw_sql("PRAGMA query_only = ON").execute(&mut connection).await.unwrap();
    let said = sqlx::raw_sql("DELETE FROM batches").execute(&mut connection).await.unwrap_err();
    let error = crate::journal::sqlite::classify::classify(said);
    assert!(matches!(error, Error::ReadOnly(_)) && error.is_transient(), "{error:?}");
}

#[tokio::test]
async fn a_fault_of_the_memory_journal_stops_writes_until_it_is_repaired() {
    let journal = Memory::new();
    journal.append(vec![granted(1)]).await.unwrap();
    let full = Error::Full("simulated".to_owned());
    journal.set_fault(Some(full.clone()));
    assert_eq!(journal.append(vec![granted(2)]).await, Err(full.clone()));
    assert_eq!(journal.put(&execution("a", 1), Kind::Result, Bytes::new()).await, Err(full));
    assert_eq!(read_all(&journal).await.unwrap(), [granted(1)]);
    journal.set_fault(None);
    journal.append(vec![granted(2)]).await.unwrap();
    let next = journal.reopen();
    assert_eq!(journal.append(vec![granted(3)]).await, Err(Error::Closed), "its process is dead");
    assert_eq!(read_all(&next).await.unwrap(), [granted(1), granted(2)]);
}

async fn outside(folder: &tempfile::TempDir) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(folder.path().join("journal.db"));
    SqliteConnection::connect_with(&options).await.unwrap()
}

async fn pieces(folder: &tempfile::TempDir) -> i64 {
    let mut connection = outside(folder).await;
    sqlx::query_scalar("SELECT COUNT(*) FROM pieces").fetch_one(&mut connection).await.unwrap()
}
