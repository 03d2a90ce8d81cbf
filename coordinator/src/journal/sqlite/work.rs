//! What the writer can be asked to do, and the SQL of it. Each piece of work runs inside a transaction that it may
//! share with others; an error of the database fails the transaction, everything else is an outcome.

use argosy_shared::{
    id::{AttemptKey, ExecutionKey},
    task::Blob,
};
use bytes::Bytes;
use sqlx::{Row, SqliteConnection};

use super::classify::classify;
use crate::journal::{Error, Kind, Position, StoredStep};

/// Something to be written.
#[derive(Clone, Debug)]
pub(super) enum Work {
    /// Nothing; done when everything before it is.
    Barrier,
    /// A batch of events.
    Append { version: u32, events: String },
    /// A row for a blob whose pieces follow.
    BeginBlob,
    /// A piece of such a blob.
    Piece { blob: i64, number: usize, bytes: Bytes },
    /// Such a blob will not be needed.
    AbandonBlob { blob: i64 },
    /// A blob is what an execution left.
    Name { execution: ExecutionKey, kind: Kind, blob: Blob, pieces: Pieces },
    /// A result is evidence only.
    Supersede { execution: ExecutionKey, sha256: String },
    /// Finished steps.
    Steps { execution: ExecutionKey, steps: Vec<StoredStep> },
    /// All executions of an attempt go.
    Forget { attempt: AttemptKey },
}

/// Where a blob's content is.
#[derive(Clone, Debug)]
pub(super) enum Pieces {
    /// Here: small enough to share the transaction.
    Inline(Bytes),
    /// In the row with that number, without a name yet.
    Stored(i64),
    /// In the database under its name already.
    Known,
}

/// What came of a piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    Nothing,
    Position(Position),
    Id(i64),
    /// What it was about does not exist.
    Missing,
}

impl Work {
    /// About how many bytes it writes, for the size of a transaction.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Append { events, .. } => events.len(),
            Self::Piece { bytes, .. } | Self::Name { pieces: Pieces::Inline(bytes), .. } => bytes.len(),
            Self::Steps { steps, .. } => steps.iter().map(|step| step.json.len()).sum(),
            Self::Barrier
            | Self::BeginBlob
            | Self::AbandonBlob { .. }
            | Self::Name { .. }
            | Self::Supersede { .. }
            | Self::Forget { .. } => 0,
        }
    }

    /// Does it in the open transaction. `last` is the position of the last batch, counted on by appends.
    pub(super) async fn run(&self, db: &mut SqliteConnection, last: &mut u64) -> Result<Done, Error> {
        match self {
            Self::Barrier => Ok(Done::Position(Position(*last))),
            Self::Append { version, events } => {
                let position = *last + 1;
                sqlx::query("INSERT INTO batches (position, version, events) VALUES (?, ?, ?)")
                    .bind(signed(position))
                    .bind(version)
                    .bind(events)
                    .execute(db)
                    .await
                    .map_err(classify)?;
                *last = position;
                Ok(Done::Position(Position(position)))
            }
            Self::BeginBlob => Ok(Done::Id(begin_blob(db).await?)),
            Self::Piece { blob, number, bytes } => {
                add_piece(db, *blob, *number, bytes).await?;
                Ok(Done::Nothing)
            }
            Self::AbandonBlob { blob } => {
                // Only if it has no name: it may have been kept after all.
                sqlx::query("DELETE FROM blobs WHERE id = ? AND sha256 IS NULL")
                    .bind(blob)
                    .execute(db)
                    .await
                    .map_err(classify)?;
                Ok(Done::Nothing)
            }
            Self::Name { execution, kind, blob, pieces } => name(db, execution, *kind, blob, pieces).await,
            Self::Supersede { execution, sha256 } => supersede(db, execution, sha256).await,
            Self::Steps { execution, steps } => {
                let id = execution_id(db, execution).await?;
                for step in steps {
                    sqlx::query("INSERT INTO steps (execution, step, json) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
                        .bind(id)
                        .bind(step.step_id)
                        .bind(&step.json[..])
                        .execute(&mut *db)
                        .await
                        .map_err(classify)?;
                }
                Ok(Done::Nothing)
            }
            Self::Forget { attempt } => forget(db, attempt).await,
        }
    }
}

async fn name(
    db: &mut SqliteConnection,
    execution: &ExecutionKey,
    kind: Kind,
    blob: &Blob,
    pieces: &Pieces,
) -> Result<Done, Error> {
    let known = named_blob(db, &blob.sha256).await?;
    let id = match (known, pieces) {
        // Someone stored the same meanwhile; the pieces without a name go.
        (Some(known), Pieces::Stored(id)) => {
            sqlx::query("DELETE FROM blobs WHERE id = ?").bind(id).execute(&mut *db).await.map_err(classify)?;
            known
        }
        (Some(known), Pieces::Inline(_) | Pieces::Known) => known,
        (None, Pieces::Known) => return Ok(Done::Missing),
        (None, Pieces::Stored(id)) => {
            give_name(db, *id, blob).await?;
            *id
        }
        (None, Pieces::Inline(bytes)) => {
            let id = begin_blob(db).await?;
            if !bytes.is_empty() {
                add_piece(db, id, 0, bytes).await?;
            }
            give_name(db, id, blob).await?;
            id
        }
    };
    let execution = execution_id(db, execution).await?;
    sqlx::query("INSERT INTO evidence (execution, kind, blob) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
        .bind(execution)
        .bind(kind.as_str())
        .bind(id)
        .execute(db)
        .await
        .map_err(classify)?;
    Ok(Done::Nothing)
}

async fn supersede(db: &mut SqliteConnection, execution: &ExecutionKey, sha256: &str) -> Result<Done, Error> {
    let (Some(blob), execution) = (named_blob(db, sha256).await?, execution_id(db, execution).await?) else {
        return Ok(Done::Missing);
    };
    let changed = sqlx::query("UPDATE OR REPLACE evidence SET kind = ? WHERE execution = ? AND blob = ? AND kind = ?")
        .bind(Kind::Superseded.as_str())
        .bind(execution)
        .bind(blob)
        .bind(Kind::Result.as_str())
        .execute(db)
        .await
        .map_err(classify)?;
    Ok(if changed.rows_affected() == 0 { Done::Missing } else { Done::Nothing })
}

async fn forget(db: &mut SqliteConnection, attempt: &AttemptKey) -> Result<Done, Error> {
    let blobs = sqlx::query(
        "SELECT DISTINCT evidence.blob FROM evidence JOIN executions ON executions.id = evidence.execution
         WHERE run = ? AND task = ? AND attempt = ?",
    );
    let blobs = blobs
        .bind(&attempt.run.0)
        .bind(&attempt.task.0)
        .bind(attempt.attempt)
        .fetch_all(&mut *db)
        .await
        .map_err(classify)?;
    // Takes steps and evidence along.
    sqlx::query("DELETE FROM executions WHERE run = ? AND task = ? AND attempt = ?")
        .bind(&attempt.run.0)
        .bind(&attempt.task.0)
        .bind(attempt.attempt)
        .execute(&mut *db)
        .await
        .map_err(classify)?;
    for row in blobs {
        // Another attempt may have left the same bytes.
        sqlx::query("DELETE FROM blobs WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM evidence WHERE blob = ?1)")
            .bind(row.get::<i64, _>(0))
            .execute(&mut *db)
            .await
            .map_err(classify)?;
    }
    Ok(Done::Nothing)
}

async fn begin_blob(db: &mut SqliteConnection) -> Result<i64, Error> {
    let row = sqlx::query("INSERT INTO blobs DEFAULT VALUES RETURNING id").fetch_one(db).await.map_err(classify)?;
    Ok(row.get(0))
}

async fn add_piece(db: &mut SqliteConnection, blob: i64, number: usize, bytes: &Bytes) -> Result<(), Error> {
    sqlx::query("INSERT INTO pieces (blob, number, bytes) VALUES (?, ?, ?)")
        .bind(blob)
        .bind(signed(number as u64))
        .bind(&bytes[..])
        .execute(db)
        .await
        .map_err(classify)?;
    Ok(())
}

async fn give_name(db: &mut SqliteConnection, id: i64, blob: &Blob) -> Result<(), Error> {
    sqlx::query("UPDATE blobs SET sha256 = ?, bytes = ? WHERE id = ?")
        .bind(&blob.sha256)
        .bind(signed(blob.bytes))
        .bind(id)
        .execute(db)
        .await
        .map_err(classify)?;
    Ok(())
}

async fn named_blob(db: &mut SqliteConnection, sha256: &str) -> Result<Option<i64>, Error> {
    let row = sqlx::query("SELECT id FROM blobs WHERE sha256 = ?").bind(sha256).fetch_optional(db).await;
    Ok(row.map_err(classify)?.map(|row| row.get(0)))
}

/// The row of an execution, made when it is missing.
async fn execution_id(db: &mut SqliteConnection, key: &ExecutionKey) -> Result<i64, Error> {
    // The update changes nothing; it makes RETURNING return the row that is there already.
    let row = sqlx::query(
        "INSERT INTO executions (run, task, attempt, execution) VALUES (?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET execution = excluded.execution RETURNING id",
    );
    let row = row
        .bind(&key.attempt.run.0)
        .bind(&key.attempt.task.0)
        .bind(key.attempt.attempt)
        .bind(signed(key.execution))
        .fetch_one(db)
        .await
        .map_err(classify)?;
    Ok(row.get(0))
}

/// SQLite's integers are signed; nothing here counts that far.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
