//! One long-lived Python process per execution, behind a Unix socket.
//!
//! The process is the sandbox's own interpreter, 3.9 or newer, running a server of this crate ([`program`]) that needs
//! nothing but the standard library. It gives the agent's code exactly what upstream's tool gives it: variables that
//! persist, the value or the output of the last statement as the observation, and all the oddities that follow from
//! how that tool is written (see `repl.py`).
//!
//! What the code prints goes elsewhere than what the server says: stdout and stderr are pipes that are emptied and
//! forgotten but for their ends ([`Output`]); the conversation has a socket of its own, and an answer counts only if it
//! begins with the tag made up for its request ([`codec`]). Whatever else arrives ends the session with
//! [`Error::Protocol`] and is never an observation. The code shares the process with the server, so code that goes and
//! looks for the connection can break it or answer in the server's place; it gains nothing that a `print` would not give.
//!
//! The process leads a session and a group of its own. A timeout kills the group with SIGKILL, and then every process
//! that still carries the sandbox's environment or belongs to its session; only a process that left the session *and*
//! cleared its environment escapes, as `host_process` isolates nothing. If the worker dies, the kernel kills the group
//! while code runs, and the server does it while it waits.

pub mod codec;
mod handshake;
mod output;
mod process;
pub mod program;
mod strays;
mod wire;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

pub(crate) use self::strays::kill as kill_strays;
use self::{
    codec::Tag,
    process::{Death, Process},
    wire::Wire,
};
pub use self::{output::Output, program::HARD_LIMIT};

/// How Python is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// The interpreter, a path or a name to look up.
    pub python: String,
    /// Cap of one observation in bytes; 0 = none, but for [`HARD_LIMIT`]. The two ends of a longer text are kept, with a
    /// marker between them that is not counted.
    pub max_observation_bytes: u64,
}

/// What an environment decides about the process.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The interpreter, an absolute path.
    pub program: PathBuf,
    /// All environment variables of the process; it inherits none.
    pub environment: Vec<(OsString, OsString)>,
    /// The folder where the agent's code runs, an absolute path.
    pub workspace: PathBuf,
    /// The sandbox's own folder. Processes whose `HOME` or `TMPDIR` lies in it belong to the sandbox.
    pub home: PathBuf,
}

/// The session with a running Python process. Dropping it kills the process group.
#[derive(Debug)]
pub struct Session {
    version: String,
    packages: BTreeMap<String, String>,
    frame_limit: usize,
    wire: Wire,
    process: Process,
    /// Why nothing can be executed any more.
    over: Option<&'static str>,
}

/// What one execution of code brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The text the next prompt shows.
    pub observation: String,
    /// Bytes cut out of it by the cap.
    pub bytes_cut: u64,
    /// Wall time in the process.
    pub elapsed: Duration,
}

/// Why an execution brought nothing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The interpreter could not be started.
    #[error("python could not start: {0}")]
    Start(String),
    /// The process died; the text names signal, exit code or `oom_killed`.
    #[error("the python process died: {0}")]
    Died(String),
    /// The process answered something that is not a reply.
    #[error("unreadable reply from the python process: {0}")]
    Protocol(String),
    /// The code ran longer than allowed; the process group has been killed.
    #[error("python execution exceeded {}s", .0.as_secs_f64())]
    Timeout(Duration),
}

/// How long a process that was asked to end, or that has closed its connection, may still take.
const GRACE: Duration = Duration::from_secs(3);

impl Session {
    /// Starts Python and waits until it is ready for code.
    ///
    /// # Errors
    /// [`Error::Start`]: the interpreter cannot be run, is older than 3.9, ends, or does not answer for two minutes.
    pub async fn start(launch: &Launch, options: &Options) -> Result<Self, Error> {
        let limit = match options.max_observation_bytes {
            0 => HARD_LIMIT,
            bytes => bytes.min(HARD_LIMIT),
        };
        let ready = handshake::start(launch, limit).await?;
        Ok(Self {
            version: ready.version,
            packages: ready.packages,
            frame_limit: codec::reply_limit(limit),
            wire: ready.wire,
            process: ready.process,
            over: None,
        })
    }

    /// `sys.version_info` as `3.12.1`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Those of the benchmark's packages that the interpreter has, with their versions.
    #[must_use]
    pub fn packages(&self) -> &BTreeMap<String, String> {
        &self.packages
    }

    /// The process id, also the id of its group and session.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.process.pid()
    }

    /// What the process has written to its stdout and stderr so far, outside of what was observed.
    #[must_use]
    pub fn output(&self) -> Output {
        self.process.output()
    }

    /// Runs code with upstream's `PythonAstREPLTool` semantics.
    ///
    /// Lone surrogates in the observation are shown as `\udc80`.
    ///
    /// # Errors
    /// After [`Error::Timeout`], [`Error::Died`] and [`Error::Protocol`] the session is over; likewise after this future
    /// was dropped before its end.
    pub async fn execute(&mut self, code: &str, timeout: Duration) -> Result<Execution, Error> {
        if let Some(reason) = self.over {
            return Err(Error::Died(reason.to_owned()));
        }
        self.over = Some("its session is over since an earlier execution was given up");
        match tokio::time::timeout(timeout, self.exchange(code)).await {
            Ok(Ok(execution)) => {
                self.over = None;
                Ok(execution)
            }
            Ok(Err(error)) => {
                self.over = Some("its session is over since an earlier execution failed");
                self.process.kill().await;
                Err(error)
            }
            Err(_) => {
                self.over = Some("it was killed since an earlier execution took too long");
                self.process.kill().await;
                Err(Error::Timeout(timeout))
            }
        }
    }

    /// Ends the process and everything it started.
    ///
    /// An idle interpreter gets three seconds to end as after any script, so that files which the code left open are
    /// written out; then, and at once where code is still running, everything is killed.
    pub async fn stop(mut self) {
        if self.over.is_none() && self.wire.send(&Tag::START, &[]).await.is_ok() {
            let _ = tokio::time::timeout(GRACE, self.process.exited()).await;
        }
        self.process.kill().await;
    }

    async fn exchange(&mut self, code: &str) -> Result<Execution, Error> {
        if let Some(status) = self.process.exited_already() {
            return Err(self.died(status, "between two executions").await);
        }
        self.wire.silent().map_err(Error::Protocol)?;
        let tag =
            Tag::random().map_err(|error| Error::Protocol(format!("no random numbers for a request: {error}")))?;
        // A process that cannot be written to has gone; why is found out below.
        let _ = self.wire.send(&tag, &codec::request(code)).await;
        let received = tokio::select! {
            biased;
            frame = self.wire.receive(&tag, self.frame_limit) => Ok(frame),
            status = self.process.exited() => Err(status),
        };
        let frame = match received {
            Ok(frame) => frame,
            // The answer may have been sent in the last moment.
            Err(status) => match tokio::time::timeout(GRACE, self.wire.receive(&tag, self.frame_limit)).await {
                Ok(Ok(frame)) => Ok(frame),
                Ok(Err(_)) | Err(_) => return Err(self.died(status, "while its code ran").await),
            },
        };
        match frame {
            Ok(payload) => {
                codec::Reply::parse(payload).map(Execution::from).map_err(|error| Error::Protocol(error.to_string()))
            }
            Err(wire::Error::Closed) => match tokio::time::timeout(GRACE, self.process.exited()).await {
                Ok(status) => Err(self.died(status, "while its code ran").await),
                Err(_) => Err(Error::Protocol("its connection was closed while it went on running".to_owned())),
            },
            Err(wire::Error::Unreadable(reason)) => Err(Error::Protocol(reason)),
        }
    }

    async fn died(&mut self, death: Death, when: &str) -> Error {
        let words = self.process.last_words().await;
        Error::Died(format!("{death} {when}{words}"))
    }
}

impl From<codec::Reply> for Execution {
    fn from(reply: codec::Reply) -> Self {
        Self { observation: reply.observation, bytes_cut: reply.bytes_cut, elapsed: reply.elapsed }
    }
}

/// A path as text, for messages.
fn shown(path: &Path) -> String {
    path.display().to_string()
}
