//! The tables, and how older ones become them.

use sqlx::{Connection, SqliteConnection};

use super::classify::classify;
use crate::journal::Error;

/// `PRAGMA application_id`: "Argo".
pub(super) const APPLICATION: i64 = 0x4172_676f;

/// What makes schema n + 1 out of schema n. Never changed once released, only added to.
const STEPS: [&str; 1] = ["
    CREATE TABLE batches (
        position INTEGER PRIMARY KEY,           -- 1, 2, 3 ... without gaps
        version  INTEGER NOT NULL,              -- of the encoding of `events`
        events   TEXT    NOT NULL               -- a JSON array
    ) STRICT;

    CREATE TABLE executions (
        id        INTEGER PRIMARY KEY,
        run       TEXT    NOT NULL,
        task      TEXT    NOT NULL,
        attempt   INTEGER NOT NULL,
        execution INTEGER NOT NULL,
        UNIQUE (run, task, attempt, execution)
    ) STRICT;

    CREATE TABLE steps (
        id        INTEGER PRIMARY KEY,
        execution INTEGER NOT NULL REFERENCES executions (id) ON DELETE CASCADE,
        step      INTEGER NOT NULL,
        json      BLOB    NOT NULL,
        UNIQUE (execution, step)
    ) STRICT;

    CREATE TABLE blobs (
        id     INTEGER PRIMARY KEY,
        sha256 TEXT,                            -- null while the pieces are being written
        bytes  INTEGER
    ) STRICT;
    CREATE UNIQUE INDEX blobs_by_digest ON blobs (sha256) WHERE sha256 IS NOT NULL;

    CREATE TABLE pieces (
        id     INTEGER PRIMARY KEY,
        blob   INTEGER NOT NULL REFERENCES blobs (id) ON DELETE CASCADE,
        number INTEGER NOT NULL,                -- from 0
        bytes  BLOB    NOT NULL,
        UNIQUE (blob, number)
    ) STRICT;

    CREATE TABLE evidence (
        id        INTEGER PRIMARY KEY,          -- the order of storing
        execution INTEGER NOT NULL REFERENCES executions (id) ON DELETE CASCADE,
        kind      TEXT    NOT NULL,             -- result, judgement, superseded
        blob      INTEGER NOT NULL REFERENCES blobs (id),
        UNIQUE (execution, kind, blob)
    ) STRICT;
    CREATE INDEX evidence_by_blob ON evidence (blob);
"];

/// The newest schema.
pub(super) const NEWEST: i64 = STEPS.len() as i64;

/// Brings the database from `found` to [`NEWEST`], each step in a transaction.
pub(super) async fn migrate(connection: &mut SqliteConnection, found: i64) -> Result<(), Error> {
    for (step, reached) in STEPS.iter().zip(1i64..).skip(usize::try_from(found).unwrap_or(0)) {
        let mut transaction = connection.begin().await.map_err(classify)?;
        sqlx::raw_sql(*step).execute(&mut *transaction).await.map_err(classify)?;
        // Pragmas take no parameters; both numbers are ours.
        let marks = format!("PRAGMA user_version = {reached}; PRAGMA application_id = {APPLICATION};");
        sqlx::raw_sql(sqlx::AssertSqlSafe(marks)).execute(&mut *transaction).await.map_err(classify)?;
        transaction.commit().await.map_err(classify)?;
    }
    Ok(())
}
