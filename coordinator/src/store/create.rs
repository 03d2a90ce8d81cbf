//! New run directories, and opening existing ones.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, atomic::AtomicBool},
};

use argosy_shared::{
    id::RunId,
    redact::Redactor,
    run_dir::{
        PlannedRun, ReusedFrom, RunInfo, moment,
        names::{self, PARAMS, PLANNED},
        progress::Origin,
        request,
    },
    time::Timestamp,
};
use jiff::{SignedDuration, tz::TimeZone};
use serde_json::{Map, Value};

use super::{Error, Info, Inner, RunStore, atomic, leftovers, lock, progress::Progress, write_info};
use crate::report::load;

/// A time stamp that is taken is replaced by the next free second, this many times.
const TRIES: i64 = 60;

/// A run that is to begin.
#[derive(Debug)]
pub struct NewRun {
    /// `--results-dir`.
    pub results_dir: PathBuf,
    /// `--run-name`; may span several levels, may be empty.
    pub run_name: String,
    /// See [`names::namespace`].
    pub namespace: String,
    /// `--run-id`; `None` takes the local time.
    pub run_id: Option<String>,
    /// What the user asked for, credentials and all; they are masked before anything is written.
    pub request: Value,
    /// The run whose results are taken over.
    pub reused_from: Option<ReusedFrom>,
    /// The tasks.
    pub planned: PlannedRun,
    /// Knows the credentials in force.
    pub redactor: Redactor,
    /// Now.
    pub started_at: Timestamp,
}

impl RunStore {
    /// Reserves a directory `<results_dir>/[<run name>/]<namespace>/<run id>` that did not exist, locks it, and writes
    /// `argosy.json` and `run_info.json`.
    ///
    /// # Errors
    /// The run id is taken or cannot be a directory's name; the disk.
    pub fn create(new: NewRun) -> Result<Self, Error> {
        let mut parent = new.results_dir.clone();
        parent.extend(names::run_name_levels(&new.run_name));
        parent.push(&new.namespace);
        if let Some(run_id) = &new.run_id
            && !names::is_run_id(run_id)
        {
            return Err(Error::BadRunId { run_id: run_id.clone() });
        }
        atomic::make_dirs(&parent)?;
        let run_id = reserve(&parent, new.run_id.as_deref(), new.started_at)?;
        let dir = absolute(&parent.join(&run_id));
        let lock = lock::take(&dir)?;
        atomic::write_json(&dir.join(PLANNED), &new.planned)?;
        let mut request = new.request;
        new.redactor.value(&mut request);
        let mut request = request::sanitise(request);
        request::nest_attempts(&mut request);
        set_run_id(&mut request, &run_id, &new.run_name);
        let info = RunInfo::new(RunId(run_id), moment::iso(new.started_at), request, new.reused_from);
        write_info(&dir, &info)?;
        Self::assemble(dir, info, lock, new.redactor, new.started_at)
    }

    /// Opens an existing run for writing, ours or AgentCompass's. Files that an interrupted writer left half done are
    /// removed. A terminal status stays: see [`RunStore::resumed`].
    ///
    /// # Errors
    /// There is no run, or another process writes it, or its `run_info.json` cannot be read; the disk.
    pub fn open(dir: &Path, redactor: Redactor, now: Timestamp) -> Result<Self, Error> {
        let info = load::run_info(dir)?;
        let dir = absolute(dir);
        let lock = lock::take(&dir)?;
        leftovers::remove(&dir)?;
        Self::assemble(dir, info, lock, redactor, now)
    }

    fn assemble(
        dir: PathBuf,
        record: RunInfo,
        lock: lock::Lock,
        redactor: Redactor,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let id = |path: &[&str]| record.requested(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        let origin = Origin {
            benchmark: id(&["benchmark", "id"]),
            harness: id(&["harness", "id"]),
            environment: id(&["environment", "id"]),
            model: id(&["model", "id"]),
        };
        let progress = Progress::open(&dir, &record.run_id.0, &origin, now)?;
        let plans = record.resolved_execution_plans.len();
        let inner = Inner {
            run_id: record.run_id.clone(),
            redactor,
            _lock: lock,
            info: Mutex::new(Info { record, plans, plans_written: plans }),
            params_written: AtomicBool::new(dir.join(PARAMS).exists()),
            progress: Mutex::new(progress),
            dir,
        };
        Ok(Self { inner: Arc::new(inner) })
    }
}

/// Makes the run's directory. That it must not exist is what keeps two processes from taking one name.
fn reserve(parent: &Path, wanted: Option<&str>, now: Timestamp) -> Result<String, Error> {
    if let Some(run_id) = wanted {
        return match make(parent, run_id)? {
            true => Ok(run_id.to_owned()),
            false => Err(Error::RunExists { run_id: run_id.to_owned(), dir: parent.join(run_id) }),
        };
    }
    let stamp = |second: i64| {
        let at = now.saturating_add(SignedDuration::from_secs(second)).unwrap_or(now);
        at.to_zoned_datetime(TimeZone::system()).strftime("%Y%m%d_%H%M%S").to_string()
    };
    for second in 0..TRIES {
        let run_id = stamp(second);
        if make(parent, &run_id)? {
            return Ok(run_id);
        }
    }
    Err(Error::NoFreeRunId { first: stamp(0), dir: parent.to_owned() })
}

/// Whether the directory is new.
fn make(parent: &Path, run_id: &str) -> Result<bool, Error> {
    let dir = parent.join(run_id);
    match fs::create_dir(&dir) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(Error::io(&dir, source)),
    }
}

fn absolute(path: &Path) -> PathBuf {
    // Fails only for an empty path or without a current directory; then the path is as good as any.
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn set_run_id(request: &mut Value, run_id: &str, run_name: &str) {
    if !request.is_object() {
        *request = Value::Object(Map::new());
    }
    if !request["output"].is_object() {
        request["output"] = Value::Object(Map::new());
    }
    request["output"]["run_id"] = Value::from(run_id);
    request["output"]["run_name"] = Value::from(run_name);
}
