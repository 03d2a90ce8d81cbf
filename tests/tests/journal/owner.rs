//! Two processes, one journal.

use std::io::{BufRead, BufReader};

use argosy_coordinator::journal::{
    Error,
    sqlite::{Options, Sqlite},
};

use crate::child::appending;

#[tokio::test]
async fn another_process_is_named_and_its_death_frees_the_journal_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("journal.db");
    let mut child = appending(0, &database);
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    while output.next().expect("the child opens the journal").unwrap() != "@open" {}
    let error = Sqlite::open(&Options::at(&database)).await.map(|_| ()).unwrap_err();
    child.kill().unwrap();
    child.wait().unwrap();
    let Error::Held { holder, .. } = &error else { panic!("{error:?}") };
    assert!(holder.starts_with(&format!("process {} on ", child.id())), "{holder}");
    Sqlite::open(&Options::at(&database)).await.unwrap();
}
