//! One long-lived Python process per execution, behind a Unix socket.

use std::time::Duration;

/// How Python is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// The interpreter, a path or a name to look up.
    pub python: String,
    /// Cap of one observation in bytes, 0 = none.
    pub max_observation_bytes: u64,
}

/// The session with a running Python process.
#[derive(Debug)]
pub struct Session {}

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

impl Session {
    /// `sys.version_info` as `3.12.1`.
    #[must_use]
    pub fn version(&self) -> &str {
        ""
    }

    /// Runs code with upstream's `PythonAstREPLTool` semantics.
    ///
    /// # Errors
    /// After [`Error::Timeout`], [`Error::Died`] and [`Error::Protocol`] the session is over.
    pub async fn execute(&mut self, _code: &str, timeout: Duration) -> Result<Execution, Error> {
        Err(Error::Timeout(timeout))
    }

    /// Ends the process and everything it started.
    pub async fn stop(self) {}
}
