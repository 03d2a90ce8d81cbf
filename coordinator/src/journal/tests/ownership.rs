//! One owner, of the right kind of file.

use std::fs;

use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};

use super::{granted, open};
use crate::journal::{
    Error, Journal, read_all,
    sqlite::{Options, Sqlite},
};

async fn sql(folder: &tempfile::TempDir, text: &'static str) {
    let options = SqliteConnectOptions::new().filename(folder.path().join("journal.db")).create_if_missing(true);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::raw_sql(text).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

async fn refused(folder: &tempfile::TempDir) -> Error {
    Sqlite::open(&Options::at(folder.path().join("journal.db"))).await.map(|_| ()).unwrap_err()
}

#[tokio::test]
async fn a_second_owner_is_refused_and_hears_who_holds_it() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(&folder).await;
    let error = refused(&folder).await;
    assert!(matches!(error, Error::Held { .. }), "{error:?}");
    assert!(error.to_string().contains(&format!("process {} on ", std::process::id())), "{error}");
    assert!(!error.is_transient());
    journal.append(vec![granted(1)]).await.unwrap();
    journal.close().await.unwrap();
    let journal = open(&folder).await;
    assert_eq!(read_all(&journal).await.unwrap(), [granted(1)]);
}

#[tokio::test]
async fn a_dropped_journal_is_free_again() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(&folder).await);
    // The writing task lets go when it sees that nobody can ask it any more.
    for _ in 0..1000 {
        if Sqlite::open(&Options::at(folder.path().join("journal.db"))).await.is_ok() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("still held");
}

#[tokio::test]
async fn closing_leaves_one_file_and_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(&folder).await;
    journal.append(vec![granted(1)]).await.unwrap();
    journal.close().await.unwrap();
    let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["journal.db", "journal.db.lock"]);
}

#[tokio::test]
async fn folders_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/of/argosy/journal.db");
    let journal = Sqlite::open(&Options::at(&path)).await.unwrap();
    assert_eq!(journal.path(), path);
    journal.close().await.unwrap();
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    open(&folder).await.close().await.unwrap();
    sql(&folder, "PRAGMA user_version = 77").await;
    let before = fs::read(folder.path().join("journal.db")).unwrap();
    let error = refused(&folder).await;
    assert!(matches!(error, Error::NewerSchema { found: 77, known: 1, .. }), "{error:?}");
    assert_eq!(fs::read(folder.path().join("journal.db")).unwrap(), before);
}

#[tokio::test]
async fn another_programs_database_is_refused_and_left_alone() {
    for text in ["CREATE TABLE theirs (x)", "PRAGMA application_id = 5", "PRAGMA user_version = 1"] {
        let folder = tempfile::tempdir().unwrap();
        sql(&folder, text).await;
        let before = fs::read(folder.path().join("journal.db")).unwrap();
        let error = refused(&folder).await;
        assert!(matches!(error, Error::Foreign { .. }), "{text}: {error:?}");
        assert_eq!(fs::read(folder.path().join("journal.db")).unwrap(), before, "{text}");
    }
}

#[tokio::test]
async fn an_empty_file_becomes_a_journal() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("journal.db"), "").unwrap();
    open(&folder).await.append(vec![granted(1)]).await.unwrap();
}

#[tokio::test]
async fn what_no_database_is_no_journal() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("journal.db"), "a list of things to buy\n".repeat(100)).unwrap();
    let error = refused(&folder).await;
    assert!(matches!(error, Error::Corrupt(_)), "{error:?}");
}

#[tokio::test]
async fn events_of_a_newer_argosy_are_refused_by_position() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(&folder).await;
    journal.append(vec![granted(1)]).await.unwrap();
    journal.append(vec![granted(2)]).await.unwrap();
    journal.close().await.unwrap();
    sql(&folder, "UPDATE batches SET version = 9 WHERE position = 2").await;
    let error = read_all(&open(&folder).await).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "journal batch 2: events of version 9; this argosy reads up to version 1, use the newer one"
    );
}

#[tokio::test]
async fn a_missing_batch_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(&folder).await;
    for number in 1..=3 {
        journal.append(vec![granted(number)]).await.unwrap();
    }
    journal.close().await.unwrap();
    sql(&folder, "DELETE FROM batches WHERE position = 2").await;
    assert_eq!(refused(&folder).await, Error::Corrupt("2 batches of 3 are there".to_owned()));
}
