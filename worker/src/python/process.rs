//! The operating system's side: starting the interpreter, its death, and killing all that belongs to it.

use std::{
    fmt,
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal};
use tokio::process::{Child, Command};

use super::{Error, Launch, Output, output::Drain, program, shown, strays};

/// The exit code with which the server says that it cannot use its connection any more (`server.py`).
const LOST: i32 = 71;
/// The longest wait for a killed process to be gone.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest wait for the rest of its output, which something that escaped may hold open.
const LAST_PATIENCE: Duration = Duration::from_secs(1);
/// Characters of stderr that a message shows.
const LAST_WORDS: usize = 300;

/// A running interpreter. Dropping it kills the group.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    pid: i32,
    /// The group to kill; `None` once that has been done, since its number may come to mean another one day.
    group: Option<Pid>,
    home: PathBuf,
    stdout: Drain,
    stderr: Drain,
    oom_kills_before: Option<u64>,
}

/// How a process ended.
#[derive(Debug)]
pub(super) struct Death {
    status: Option<ExitStatus>,
    oom: bool,
}

impl Process {
    /// Starts the interpreter with the boot program, in `folder`.
    pub(super) fn spawn(launch: &Launch, folder: &Path) -> Result<Self, Error> {
        let oom_kills_before = oom_kills();
        let mut child = Command::new(&launch.program)
            .arg("-c")
            .arg(program::BOOT)
            .env_clear()
            .envs(launch.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| Error::Start(format!("{} cannot be run: {error}", shown(&launch.program))))?;
        let missing = || Error::Start("its output is not there".to_owned());
        let stdout = Drain::new(child.stdout.take().ok_or_else(missing)?);
        let stderr = Drain::new(child.stderr.take().ok_or_else(missing)?);
        Ok(Self { child, pid: 0, group: None, home: launch.home.clone(), stdout, stderr, oom_kills_before })
    }

    /// Remembers which process answered: it leads the group. It is not the child itself where the interpreter is a
    /// script that starts the real one.
    pub(super) fn led_by(&mut self, pid: Option<i32>) {
        self.pid = pid.unwrap_or(0);
        self.group = Pid::from_raw(self.pid);
    }

    pub(super) fn pid(&self) -> i32 {
        self.pid
    }

    pub(super) fn output(&self) -> Output {
        let (stdout, stdout_bytes) = self.stdout.so_far();
        let (stderr, stderr_bytes) = self.stderr.so_far();
        Output { stdout, stdout_bytes, stderr, stderr_bytes }
    }

    /// Waits for the end. May be given up and called again.
    pub(super) async fn exited(&mut self) -> Death {
        let status = self.child.wait().await.ok();
        self.death(status)
    }

    /// How it ended, if it has.
    pub(super) fn exited_already(&mut self) -> Option<Death> {
        let status = self.child.try_wait().ok().flatten()?;
        Some(self.death(Some(status)))
    }

    /// The end of stderr, to go behind a message.
    pub(super) async fn last_words(&mut self) -> String {
        self.strike(); // what it left in the background may hold stderr open
        self.stderr.ended(LAST_PATIENCE).await;
        let (stderr, _) = self.stderr.so_far();
        let text = String::from_utf8_lossy(&stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        let skipped = text.chars().count().saturating_sub(LAST_WORDS);
        let text: String = text.chars().skip(skipped).collect();
        if text.is_empty() { text } else { format!("; its stderr ends with: {text}") }
    }

    /// Kills the group and every stray, and waits until they are gone.
    pub(super) async fn kill(&mut self) {
        self.strike();
        if tokio::time::timeout(PATIENCE, self.child.wait()).await.is_err() {
            tracing::warn!(pid = self.pid, "a killed python process is still there");
        }
        let (home, session) = (self.home.clone(), Some(self.pid).filter(|pid| *pid > 0));
        let left = tokio::task::spawn_blocking(move || strays::kill(&home, session)).await.unwrap_or_default();
        if !left.is_empty() {
            tracing::warn!(?left, "processes of a sandbox are still there after SIGKILL");
        }
    }

    /// Sends SIGKILL to the group and to the child.
    fn strike(&mut self) {
        if let Some(group) = self.group.take() {
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.start_kill();
    }

    fn death(&self, status: Option<ExitStatus>) -> Death {
        let killed = status.and_then(|status| status.signal()) == Some(Signal::KILL.as_raw());
        Death { status, oom: killed && oom_kills() > self.oom_kills_before }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.strike();
    }
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.status.and_then(|status| status.code());
        let signal = self.status.and_then(|status| status.signal());
        match (code, signal) {
            (Some(LOST), _) => write!(f, "its code closed the connection to the worker (exit code {LOST})"),
            (Some(code), _) => write!(f, "exit code {code}"),
            (None, Some(signal)) => {
                write!(f, "killed by {} (signal {signal})", signal_name(signal))?;
                if self.oom { f.write_str(", oom_killed: the host ran out of memory") } else { Ok(()) }
            }
            (None, None) => f.write_str("it ended in an unknown way"),
        }
    }
}

/// How many processes the kernel has killed on this host for want of memory.
fn oom_kills() -> Option<u64> {
    let counters = std::fs::read_to_string("/proc/vmstat").ok()?;
    counters.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
}

fn signal_name(signal: i32) -> &'static str {
    const NAMES: [(Signal, &str); 14] = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
    ];
    NAMES.iter().find(|(known, _)| known.as_raw() == signal).map_or("a signal", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_death_names_its_cause() {
        let death = |raw, oom| Death { status: Some(ExitStatus::from_raw(raw)), oom }.to_string();
        assert_eq!(death(3 << 8, false), "exit code 3");
        assert_eq!(death(11, false), "killed by SIGSEGV (signal 11)");
        assert_eq!(death(9, true), "killed by SIGKILL (signal 9), oom_killed: the host ran out of memory");
        assert_eq!(death(LOST << 8, false), "its code closed the connection to the worker (exit code 71)");
        assert_eq!(death(40, false), "killed by a signal (signal 40)");
    }
}
