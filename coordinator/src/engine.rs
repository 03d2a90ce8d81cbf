//! The engine: the one owner of the [`crate::scheduler`].
//!
//! It is a task with a mailbox. Each message is turned into an input, decided, journalled, applied, answered, in that
//! order: **journal before reply**. What takes long (judging, publishing, storing a result's bytes) happens on tasks of
//! its own that come back through the mailbox.
//!
//! [`Handle`] is all that others see of it.

pub mod progress;
pub mod rebuild;
pub mod run;

mod actor;
mod evaluate;
mod publish;
mod runs;
mod session;

use std::{path::PathBuf, sync::Arc, time::Duration};

use argosy_shared::{
    VERSION,
    id::{ExecutionKey, RunId},
    lease::Assignment,
    model::secret::Secret,
    result::ExecutionResult,
    run_dir::RunStatus,
    spec::EnvironmentId,
    supervise::{self, Task},
    task::Blob,
    time::Clock,
    trajectory::StepRecord,
};
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot, watch};

pub use self::{progress::Progress, run::Run};
use crate::{
    journal::{self, Journal, Kind},
    scheduler::{self, SessionId, State},
};

/// Messages that wait in the mailbox at most; senders wait beyond.
const MAILBOX: usize = 1024;

/// Timing of the fleet.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// A lease that is not renewed for this long is lost.
    pub lease: Duration,
    /// How often workers renew.
    pub renew: Duration,
    /// Judgings at once, over all runs.
    pub judge_concurrency: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { lease: Duration::from_secs(12), renew: Duration::from_secs(3), judge_concurrency: 16 }
    }
}

/// A handle on the engine; clones share it.
#[derive(Clone)]
pub struct Handle {
    mailbox: mpsc::Sender<Message>,
    journal: Arc<dyn Journal>,
}

/// A worker that asks to be let in.
#[derive(Clone, Debug)]
pub struct Registering {
    /// Its name, unique among live workers.
    pub name: String,
    /// Its Argosy version.
    pub version: String,
    /// What it can provide.
    pub environments: Vec<EnvironmentId>,
    /// Executions at once.
    pub slots: u32,
}

/// A worker that was let in.
#[derive(Clone, Debug)]
pub struct Registered {
    /// Names this registration in every later call.
    pub session: String,
    /// A lease that is not renewed for this long is lost.
    pub lease: Duration,
    /// How often to renew.
    pub renew: Duration,
}

/// The answer to a request for leases.
#[derive(Default)]
pub struct Leases {
    /// What the worker may now carry out.
    pub granted: Vec<Lease>,
    /// The worker will get nothing more.
    pub draining: bool,
}

/// One execution granted.
pub struct Lease {
    /// What to do.
    pub assignment: Assignment,
    /// Key of the model under test.
    pub api_key: Secret,
}

/// The answer to a renewal.
#[derive(Clone, Debug, Default)]
pub struct Renewed {
    /// Executions that are no longer the live ones.
    pub lost: Vec<ExecutionKey>,
    /// The worker will get nothing more.
    pub draining: bool,
}

/// How runs that are unfinished when the engine ends are marked. All of them can be gone on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// `Cancelled` or `TimedOut`.
    pub status: RunStatus,
    /// Why, for `run_info.json`.
    pub reason: String,
}

impl Default for Ending {
    fn default() -> Self {
        Self { status: RunStatus::Cancelled, reason: "interrupted".to_owned() }
    }
}

/// Why the engine does not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The session ended or never was.
    #[error("unknown session")]
    UnknownSession,
    /// It would be wrong; asking again is of no use.
    #[error("{0}")]
    Refused(String),
    /// It cannot be done now.
    #[error("{0}")]
    Unavailable(String),
}

/// Why an engine cannot start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] journal::Error),
}

type Reply<T> = oneshot::Sender<Result<T, Refusal>>;

/// What reaches the engine's mailbox.
enum Message {
    Register(Registering, Reply<Registered>),
    Lease { session: String, free: u32, wait: Duration, reply: Reply<Leases> },
    Renew { session: String, held: Vec<ExecutionKey>, reply: Reply<Renewed> },
    Steps { session: String, key: ExecutionKey, steps: Vec<StepRecord>, reply: Reply<()> },
    Blob { session: String, sha256: String, reply: Reply<Option<PathBuf>> },
    Result(Box<Uploaded>),
    Release { session: String, key: ExecutionKey, reason: String, reply: Reply<()> },
    Undelivered { session: SessionId, keys: Vec<ExecutionKey> },
    Deregister { session: String, reply: Reply<()> },
    Submit { run: Box<Run>, reply: Reply<watch::Receiver<Progress>> },
    Pause { run: RunId, reason: String },
    Resume { run: RunId },
    Shutdown { ending: Ending, reply: Reply<()> },
    Close { ending: Ending, reply: Reply<()> },
    Evaluated(Box<evaluate::Evaluated>),
    Published(publish::Published),
}

/// A result that is durable as bytes and not yet known to the scheduler.
struct Uploaded {
    session: String,
    key: ExecutionKey,
    result: ExecutionResult,
    blob: Blob,
    reply: Reply<bool>,
}

impl Handle {
    /// Starts an engine with what its journal remembers. It ends when the returned task is dropped.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub async fn start(
        settings: Settings,
        journal: Arc<dyn Journal>,
        clock: Arc<dyn Clock>,
    ) -> Result<(Self, Task<()>), Error> {
        let events = journal::read_all(&*journal).await?;
        let replayed = State::replay(scheduler::Settings { lease: settings.lease }, &events);
        for (position, violation) in &replayed.skipped {
            tracing::error!(position, %violation, "an event of the journal does not follow from those before it");
        }
        let mut state = replayed.state;
        state.after_restart(clock.monotonic());
        let (mailbox, messages) = mpsc::channel(MAILBOX);
        let handle = Self { mailbox: mailbox.clone(), journal: journal.clone() };
        let instance = uuid::Uuid::new_v4().simple().to_string();
        let actor = actor::Actor::new(settings, journal, clock, mailbox, state, instance);
        Ok((handle, supervise::spawn("engine", actor.run(messages))))
    }

    /// Lets a worker in.
    ///
    /// # Errors
    /// Another version, or a name without text.
    pub async fn register(&self, worker: Registering) -> Result<Registered, Refusal> {
        if worker.version != VERSION {
            return Err(Refusal::Refused(format!(
                "worker `{}` is argosy {}, this coordinator is {VERSION}: use the same version on all hosts",
                worker.name, worker.version
            )));
        }
        if worker.name.is_empty() || worker.slots == 0 {
            return Err(Refusal::Refused("a worker needs a name and at least one slot".to_owned()));
        }
        self.ask(|reply| Message::Register(worker, reply)).await
    }

    /// Gives out up to `free` executions, waiting up to `wait` for the first.
    ///
    /// # Errors
    /// The session is unknown, or the journal cannot be written.
    pub async fn lease(&self, session: &str, free: u32, wait: Duration) -> Result<Leases, Refusal> {
        let session = session.to_owned();
        self.ask(|reply| Message::Lease { session, free, wait, reply }).await
    }

    /// Keeps leases alive and says which are lost.
    ///
    /// # Errors
    /// The session is unknown.
    pub async fn renew(&self, session: &str, held: Vec<ExecutionKey>) -> Result<Renewed, Refusal> {
        let session = session.to_owned();
        self.ask(|reply| Message::Renew { session, held, reply }).await
    }

    /// Takes finished steps of one execution; durable when this returns.
    ///
    /// # Errors
    /// The session is unknown, the execution is not the live one, or the journal cannot be written.
    pub async fn steps(&self, session: &str, key: ExecutionKey, steps: Vec<StepRecord>) -> Result<(), Refusal> {
        let session = session.to_owned();
        self.ask(|reply| Message::Steps { session, key, steps, reply }).await
    }

    /// Where a data file lies.
    ///
    /// # Errors
    /// The session is unknown.
    pub async fn blob(&self, session: &str, sha256: &str) -> Result<Option<PathBuf>, Refusal> {
        let (session, sha256) = (session.to_owned(), sha256.to_owned());
        self.ask(|reply| Message::Blob { session, sha256, reply }).await
    }

    /// Takes a result; durable when this returns. False: the execution is not the live one, the result was kept as
    /// evidence.
    ///
    /// # Errors
    /// The session is unknown, the bytes are no result, or the journal cannot be written.
    pub async fn result(&self, session: &str, key: ExecutionKey, body: Bytes) -> Result<bool, Refusal> {
        let result: ExecutionResult = serde_json::from_slice(&body)
            .map_err(|error| Refusal::Refused(format!("the result of {key} cannot be read: {error}")))?;
        // The bytes are made durable out here, so that a large result does not hold up the engine.
        let blob = self
            .journal
            .put(&key, Kind::Result, body)
            .await
            .map_err(|error| Refusal::Unavailable(error.to_string()))?;
        let session = session.to_owned();
        self.ask(|reply| Message::Result(Box::new(Uploaded { session, key, result, blob, reply }))).await
    }

    /// Takes a lease back unfinished; charged to no budget.
    ///
    /// # Errors
    /// The session is unknown, or the journal cannot be written.
    pub async fn release(&self, session: &str, key: ExecutionKey, reason: String) -> Result<(), Refusal> {
        let session = session.to_owned();
        self.ask(|reply| Message::Release { session, key, reason, reply }).await
    }

    /// Lets a worker go; its leases are free at once.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub async fn deregister(&self, session: &str) -> Result<(), Refusal> {
        let session = session.to_owned();
        self.ask(|reply| Message::Deregister { session, reply }).await
    }

    /// Takes a run, new or to be resumed, and gives its progress.
    ///
    /// # Errors
    /// A run of that name is being carried out already, or the journal cannot be written.
    pub async fn submit(&self, run: Run) -> Result<watch::Receiver<Progress>, Refusal> {
        let run = Box::new(run);
        self.ask(|reply| Message::Submit { run, reply }).await
    }

    /// Starts nothing more of a run; what runs may end.
    pub async fn pause(&self, run: RunId, reason: String) {
        // An engine that has ended has nothing to pause.
        let _ = self.mailbox.send(Message::Pause { run, reason }).await;
    }

    /// Goes on with a paused run.
    pub async fn resume(&self, run: RunId) {
        let _ = self.mailbox.send(Message::Resume { run }).await;
    }

    /// Gives out nothing more, lets judgings end, writes what is to be written, and marks unfinished runs as
    /// interrupted. The engine is of no use afterwards.
    ///
    /// # Errors
    /// The engine has ended already.
    pub async fn shut_down(&self) -> Result<(), Refusal> {
        self.shut_down_with(Ending::default()).await
    }

    /// The same, with unfinished runs marked as `ending` says.
    ///
    /// # Errors
    /// The engine has ended already.
    pub async fn shut_down_with(&self, ending: Ending) -> Result<(), Refusal> {
        self.ask(|reply| Message::Shutdown { ending, reply }).await
    }

    async fn ask<T>(&self, message: impl FnOnce(Reply<T>) -> Message) -> Result<T, Refusal> {
        let stopped = || Refusal::Unavailable("the coordinator is shutting down".to_owned());
        let (reply, answer) = oneshot::channel();
        self.mailbox.send(message(reply)).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }
}
