//! Reading, beside the writer.

use argosy_shared::{id::ExecutionKey, task::Blob};
use bytes::{Bytes, BytesMut};
use futures::TryStreamExt;
use sqlx::{Row, SqlitePool};

use super::{classify::classify, work::signed};
use crate::{
    journal::{Batch, Error, Evidence, Kind, Position, StoredStep},
    scheduler::event::decode,
};

pub(super) async fn batches(pool: &SqlitePool, after: Position, limit: usize) -> Result<Vec<Batch>, Error> {
    let rows =
        sqlx::query("SELECT position, version, events FROM batches WHERE position > ? ORDER BY position LIMIT ?")
            .bind(signed(after.0))
            .bind(signed(limit as u64))
            .fetch_all(pool)
            .await
            .map_err(classify)?;
    (after.0 + 1..)
        .zip(rows)
        .map(|(expected, row)| {
            let position = row.get::<i64, _>(0).unsigned_abs();
            if position != expected {
                return Err(Error::Corrupt(format!("batch {expected} is missing")));
            }
            let events = decode(row.get(1), row.get(2)).map_err(|error| Error::events(position, &error))?;
            Ok(Batch { position: Position(position), events })
        })
        .collect()
}

pub(super) async fn has_blob(pool: &SqlitePool, blob: &Blob) -> Result<bool, Error> {
    let row = sqlx::query("SELECT 1 FROM blobs WHERE sha256 = ?").bind(&blob.sha256).fetch_optional(pool).await;
    Ok(row.map_err(classify)?.is_some())
}

/// The content of a blob, its length checked but not its digest.
pub(super) async fn blob(pool: &SqlitePool, blob: &Blob) -> Result<Bytes, Error> {
    // One statement, so that both tables are read as of one moment.
    let mut rows = sqlx::query(
        "SELECT blobs.bytes, pieces.bytes FROM blobs LEFT JOIN pieces ON pieces.blob = blobs.id
         WHERE sha256 = ? ORDER BY number",
    )
    .bind(&blob.sha256)
    .fetch(pool);
    let mut found = None;
    let mut content = BytesMut::new();
    while let Some(row) = rows.try_next().await.map_err(classify)? {
        let length = row.get::<i64, _>(0).unsigned_abs();
        if found.is_none() {
            content.reserve(usize::try_from(length).unwrap_or(0));
        }
        found = Some(length);
        content.extend_from_slice(row.get::<Option<&[u8]>, _>(1).unwrap_or_default());
    }
    match found {
        None => Err(Error::NoBlob(blob.sha256.clone())),
        Some(length) if length == content.len() as u64 => Ok(content.freeze()),
        Some(length) => Err(Error::Corrupt(format!("blob {} has {} of {length} bytes", blob.sha256, content.len()))),
    }
}

pub(super) async fn evidence(pool: &SqlitePool, execution: &ExecutionKey) -> Result<Vec<Evidence>, Error> {
    let rows = sqlx::query(
        "SELECT kind, sha256, bytes FROM evidence
         JOIN executions ON executions.id = evidence.execution JOIN blobs ON blobs.id = evidence.blob
         WHERE run = ? AND task = ? AND attempt = ? AND executions.execution = ? ORDER BY evidence.id",
    );
    let rows = bound(rows, execution).fetch_all(pool).await.map_err(classify)?;
    rows.into_iter()
        .map(|row| {
            let name: &str = row.get(0);
            let kind = Kind::ALL.into_iter().find(|kind| kind.as_str() == name);
            let kind = kind.ok_or_else(|| Error::Corrupt(format!("evidence of the unknown kind `{name}`")))?;
            let bytes = row.get::<i64, _>(2).unsigned_abs();
            Ok(Evidence { kind, blob: Blob { sha256: row.get(1), bytes } })
        })
        .collect()
}

pub(super) async fn steps(pool: &SqlitePool, execution: &ExecutionKey) -> Result<Vec<StoredStep>, Error> {
    let rows = sqlx::query(
        "SELECT step, json FROM steps JOIN executions ON executions.id = steps.execution
         WHERE run = ? AND task = ? AND attempt = ? AND executions.execution = ? ORDER BY step",
    );
    let rows = bound(rows, execution).fetch_all(pool).await.map_err(classify)?;
    let step =
        |row: sqlx::sqlite::SqliteRow| StoredStep { step_id: row.get(0), json: Bytes::from(row.get::<Vec<u8>, _>(1)) };
    Ok(rows.into_iter().map(step).collect())
}

type Query<'q> = sqlx::query::Query<'q, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>;

fn bound<'q>(query: Query<'q>, key: &'q ExecutionKey) -> Query<'q> {
    query.bind(&key.attempt.run.0).bind(&key.attempt.task.0).bind(key.attempt.attempt).bind(signed(key.execution))
}
