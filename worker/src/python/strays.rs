//! Processes that belong to a sandbox but not to the group that was killed: they started a group of their own, or their
//! parent has gone.

use std::{fs, os::unix::ffi::OsStrExt as _, path::Path, time::Duration};

use rustix::process::{Pid, PidfdFlags, Signal};

/// Rounds before giving up, some five seconds. A round finds what was there when it began; what that started meanwhile,
/// and what has been killed but not gone yet, is for the next.
const ROUNDS: u64 = 100;

/// Kills every process whose `HOME` or `TMPDIR` lies in the sandbox's folder `home`, or whose session is `session`, and
/// returns those that are still there.
///
/// The environment is the one a process was started with, so a process that was given another one and left the session
/// is not found.
pub(crate) fn kill(home: &Path, session: Option<i32>) -> Vec<i32> {
    let mut found = Vec::new();
    for round in 0..ROUNDS {
        found = processes().filter(|pid| kill_if_ours(*pid, home, session)).map(Pid::as_raw_pid).collect();
        if found.is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(round.min(50)));
    }
    found
}

/// Whether it belonged to the sandbox; then it has been sent SIGKILL. The descriptor is taken first, so that the
/// process that is judged is the one that is killed, whatever becomes of its number.
fn kill_if_ours(pid: Pid, home: &Path, session: Option<i32>) -> bool {
    let Ok(process) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return false };
    let folder = Path::new("/proc").join(pid.as_raw_pid().to_string());
    let ours = belongs_by_environment(&folder, home) || belongs_by_session(&folder, session);
    ours && rustix::process::pidfd_send_signal(process, Signal::KILL).is_ok()
}

/// All processes but this one.
fn processes() -> impl Iterator<Item = Pid> {
    let own = rustix::process::getpid();
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
        .filter(move |pid| *pid != own)
}

fn belongs_by_environment(process: &Path, home: &Path) -> bool {
    let Ok(environment) = fs::read(process.join("environ")) else { return false };
    environment
        .split(|byte| *byte == 0)
        .filter_map(|entry| entry.strip_prefix(b"HOME=").or_else(|| entry.strip_prefix(b"TMPDIR=")))
        .any(|value| Path::new(std::ffi::OsStr::from_bytes(value)).starts_with(home))
}

/// A zombie counts as gone.
fn belongs_by_session(process: &Path, session: Option<i32>) -> bool {
    let Some(session) = session else { return false };
    let Ok(stat) = fs::read(process.join("stat")) else { return false };
    let stat = String::from_utf8_lossy(&stat);
    // The name in parentheses may hold anything. Behind it: state, parent, group, session.
    let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let state = fields.next();
    state != Some("Z") && fields.nth(2).and_then(|field| field.parse().ok()) == Some(session)
}
