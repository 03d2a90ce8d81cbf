//! Opening: whose is it, what is it, make it ours.

use std::{
    fs::{self, File, TryLockError},
    io::{Read, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use sqlx::{
    ConnectOptions, Connection, Row, SqliteConnection, SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use super::{
    Options,
    classify::{classify, classify_io},
    schema,
};
use crate::journal::Error;

/// We are the only owner, so only a foreign program (a backup, a shell) can make us wait.
const BUSY: Duration = Duration::from_secs(10);

/// Connections that read; a large blob occupies one for a while.
const READERS: u32 = 4;

/// Most that is read of what the holder of a lock says about itself.
const MAX_HOLDER: u64 = 500;

pub(super) struct Opened {
    pub(super) connection: SqliteConnection,
    pub(super) readers: SqlitePool,
    /// Position of the last batch.
    pub(super) last: u64,
    pub(super) lock: File,
}

pub(super) async fn open(options: &Options) -> Result<Opened, Error> {
    let path = &options.path;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(folder).map_err(|error| classify_io(&error, &format!("{}: {error}", folder.display())))?;
    let lock = lock(path)?;
    let found = inspect(path).await?;

    let connect = SqliteConnectOptions::new().filename(path).busy_timeout(BUSY).disable_statement_logging();
    let mut writing = connect
        .clone()
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        // A large blob makes the log grow; it need not stay so.
        .pragma("journal_size_limit", (64 << 20).to_string());
    if let Some(pages) = options.max_pages {
        writing = writing.pragma("max_page_count", pages.to_string());
    }
    let mut connection = SqliteConnection::connect_with(&writing).await.map_err(classify)?;
    schema::migrate(&mut connection, found).await?;
    // The file's name must survive a power cut as well as its content.
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| classify_io(&error, &format!("{}: {error}", folder.display())))?;
    // Blobs whose last piece was never written.
    sqlx::query("DELETE FROM blobs WHERE sha256 IS NULL").execute(&mut connection).await.map_err(classify)?;
    let row = sqlx::query("SELECT COALESCE(MAX(position), 0), COUNT(*) FROM batches");
    let row = row.fetch_one(&mut connection).await.map_err(classify)?;
    let (last, count): (i64, i64) = (row.get(0), row.get(1));
    if last != count {
        return Err(Error::Corrupt(format!("{count} batches of {last} are there")));
    }
    let readers =
        SqlitePoolOptions::new().max_connections(READERS).connect_lazy_with(connect.pragma("query_only", "ON"));
    Ok(Opened { connection, readers, last: u64::try_from(last).unwrap_or(0), lock })
}

/// Looks at what is there before anything is changed: the schema it has, 0 for a new one.
async fn inspect(path: &Path) -> Result<i64, Error> {
    if fs::metadata(path).map_or(0, |found| found.len()) == 0 {
        return Ok(0);
    }
    let options = SqliteConnectOptions::new().filename(path).busy_timeout(BUSY).disable_statement_logging();
    let mut connection = SqliteConnection::connect_with(&options).await.map_err(classify)?;
    let pragma = async |sql: &'static str, connection: &mut SqliteConnection| {
        let row = sqlx::query(sql).fetch_one(connection).await.map_err(classify)?;
        Ok::<i64, Error>(row.get(0))
    };
    let application = pragma("PRAGMA application_id", &mut connection).await?;
    let found = pragma("PRAGMA user_version", &mut connection).await?;
    let tables = pragma("SELECT COUNT(*) FROM sqlite_schema", &mut connection).await?;
    connection.close().await.map_err(classify)?;
    // Ours may have died between being made and being marked.
    let blank = application == 0 && found == 0 && tables == 0;
    if application != schema::APPLICATION && !blank {
        return Err(Error::Foreign { path: path.to_owned(), found: application });
    }
    if found > schema::NEWEST {
        return Err(Error::NewerSchema { path: path.to_owned(), found, known: schema::NEWEST });
    }
    Ok(found)
}

/// Takes the lock file and writes into it who we are.
fn lock(path: &Path) -> Result<File, Error> {
    let name = lock_path(path);
    let say = |error: &std::io::Error| classify_io(error, &format!("{}: {error}", name.display()));
    let open = File::options().read(true).write(true).create(true).truncate(false).open(&name);
    let mut file = open.map_err(|error| say(&error))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // Unreadable words about the holder do not make the journal free.
            let _ = (&mut file).take(MAX_HOLDER).read_to_string(&mut holder);
            let holder = holder.trim();
            let holder = if holder.is_empty() { "another process" } else { holder }.to_owned();
            return Err(Error::Held { path: path.to_owned(), holder });
        }
        Err(TryLockError::Error(error)) => return Err(say(&error)),
    }
    let since = argosy_shared::time::wall();
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_else(|_| "this host".to_owned());
    let us = format!(
        "process {} on {} (argosy {}, since {since})\n",
        std::process::id(),
        host.trim(),
        argosy_shared::VERSION
    );
    file.set_len(0).and_then(|()| file.write_all(us.as_bytes())).map_err(|error| say(&error))?;
    Ok(file)
}

fn lock_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}
