//! From a path to a Python that is ready for code.
//!
//! The worker listens on a socket in a new private folder. The interpreter is started there, connects by a name relative
//! to it, says its version, is sent the program, and reports. The folder is removed again; nothing else can connect. Both
//! ends reach the socket without writing down the folder's path, so the 108 bytes that a socket's path may have do not
//! limit where a sandbox can be.

use std::{
    collections::BTreeMap,
    fs::{File, Permissions},
    os::{fd::AsRawFd as _, unix::fs::PermissionsExt as _},
    path::Path,
    time::Duration,
};

use serde::Deserialize;
use tokio::net::{UnixListener, UnixStream};

use super::{
    Error, Launch,
    codec::Tag,
    process::Process,
    program, shown,
    wire::{self, Wire},
};

/// The oldest Python whose `ast` module can do what the tool needs.
const OLDEST: (u32, u32) = (3, 9);
/// A cold interpreter on a loaded machine with a slow disk needs seconds; one that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);
/// The most bytes of a message about itself.
const LIMIT: usize = 64 << 10;

/// A process that waits for code.
pub(super) struct Ready {
    pub(super) version: String,
    pub(super) packages: BTreeMap<String, String>,
    pub(super) wire: Wire,
    pub(super) process: Process,
}

#[derive(Deserialize)]
struct Hello {
    version: String,
    executable: Option<String>,
}

#[derive(Deserialize)]
struct Report {
    packages: BTreeMap<String, String>,
}

/// Starts Python.
pub(super) async fn start(launch: &Launch, limit: u64) -> Result<Ready, Error> {
    let failed = |what: &str, error: &dyn std::fmt::Display| Error::Start(format!("{what}: {error}"));
    let folder = tempfile::Builder::new()
        .prefix("python-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(&launch.home)
        .map_err(|error| failed("no private folder for its socket", &error))?;
    let listener = listen(folder.path()).map_err(|error| failed("no socket for it", &error))?;
    let mut process = Process::spawn(launch, folder.path())?;
    let talk = tokio::time::timeout(PATIENCE, talk(launch, limit, &listener, &mut process));
    match talk.await {
        Ok(Ok((wire, version, packages))) => Ok(Ready { version, packages, wire, process }),
        Ok(Err(error)) => {
            process.kill().await;
            Err(error)
        }
        Err(_) => {
            process.kill().await;
            let program = shown(&launch.program);
            Err(Error::Start(format!("{program} did not connect within {}s", PATIENCE.as_secs())))
        }
    }
}

fn listen(folder: &Path) -> std::io::Result<UnixListener> {
    let folder = File::open(folder)?;
    UnixListener::bind(format!("/proc/self/fd/{}/socket", folder.as_raw_fd()))
}

async fn talk(
    launch: &Launch,
    limit: u64,
    listener: &UnixListener,
    process: &mut Process,
) -> Result<(Wire, String, BTreeMap<String, String>), Error> {
    let stream = tokio::select! {
        biased;
        stream = accept(listener, process_user()) => stream?,
        death = process.exited() => {
            let words = process.last_words().await;
            let program = shown(&launch.program);
            return Err(Error::Start(format!("{program} ended before it connected: {death}{words}")));
        }
    };
    process.led_by(stream.peer_cred().ok().and_then(|peer| peer.pid()));
    let mut wire = Wire::new(stream);

    let hello: Hello = message(&mut wire, &Tag::HELLO, process).await?;
    refuse_old(&hello)?;
    let workspace = launch
        .workspace
        .to_str()
        .ok_or_else(|| Error::Start(format!("the workspace's path is not UTF-8: {}", shown(&launch.workspace))))?;
    let tag = Tag::random().map_err(|error| Error::Start(format!("no random numbers: {error}")))?;
    // If this fails, the process has gone, and reading tells why.
    let _ = wire.send(&Tag::START, &program::start(workspace, limit, &tag)).await;
    let report: Report = message(&mut wire, &tag, process).await?;
    Ok((wire, hello.version, report.packages))
}

/// Waits for the process's connection. The folder is private, so only its own user could come between.
async fn accept(listener: &UnixListener, user: u32) -> Result<UnixStream, Error> {
    loop {
        let (stream, _) =
            listener.accept().await.map_err(|error| Error::Start(format!("its connection failed: {error}")))?;
        if stream.peer_cred().is_ok_and(|peer| peer.uid() == user) {
            return Ok(stream);
        }
    }
}

fn process_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

async fn message<T: for<'a> Deserialize<'a>>(wire: &mut Wire, tag: &Tag, process: &mut Process) -> Result<T, Error> {
    let payload = match wire.receive(tag, LIMIT).await {
        Ok(payload) => payload,
        Err(wire::Error::Unreadable(reason)) => {
            return Err(Error::Start(format!("it said something else than who it is: {reason}")));
        }
        Err(wire::Error::Closed) => {
            let death = process.exited().await;
            let words = process.last_words().await;
            return Err(Error::Start(format!("{death} before it was ready{words}")));
        }
    };
    serde_json::from_slice(&payload).map_err(|error| Error::Start(format!("unreadable words of it: {error}")))
}

fn refuse_old(hello: &Hello) -> Result<(), Error> {
    let mut numbers = hello.version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version >= OLDEST {
        return Ok(());
    }
    let place = hello.executable.as_deref().unwrap_or("the interpreter");
    Err(Error::Start(format!(
        "{place} is Python {}, but {}.{} or newer is needed; name another one as `python` in --env-params",
        hello.version, OLDEST.0, OLDEST.1
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_old_is_named() {
        let hello =
            |version: &str| Hello { version: version.to_owned(), executable: Some("/usr/bin/python".to_owned()) };
        for version in ["3.9.0", "3.13.0", "3.14.2", "4.0.0"] {
            assert!(refuse_old(&hello(version)).is_ok(), "{version}");
        }
        for version in ["3.8.20", "2.7.18", "", "x.y"] {
            let text = refuse_old(&hello(version)).unwrap_err().to_string();
            assert!(text.contains(&format!("/usr/bin/python is Python {version}, but 3.9")), "{text}");
        }
    }
}
