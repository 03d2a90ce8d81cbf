//! A sandbox with a running Python, and looks at the process table.

use std::{path::Path, time::Duration};

use argosy_worker::{
    python::{Error, Execution, Options, Session},
    sandbox::host_process::Sandbox,
};
use tempfile::TempDir;

/// Long enough for a machine that has other things to do.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A sandbox below a root of its own, with the machine's Python in it.
pub(crate) struct Place {
    pub(crate) root: TempDir,
    pub(crate) sandbox: Sandbox,
    pub(crate) python: Session,
}

impl Place {
    pub(crate) async fn new() -> Self {
        Self::with_cap(1 << 20).await
    }

    pub(crate) async fn with_cap(max_observation_bytes: u64) -> Self {
        let root = tempfile::tempdir().expect("a folder");
        let sandbox = Sandbox::create(root.path()).await.expect("a sandbox");
        let python = start(&sandbox, max_observation_bytes).await;
        Self { root, sandbox, python }
    }

    /// The observation of code that brings one.
    pub(crate) async fn run(&mut self, code: &str) -> String {
        self.execute(code).await.observation
    }

    pub(crate) async fn execute(&mut self, code: &str) -> Execution {
        self.python.execute(code, PATIENCE).await.unwrap_or_else(|error| panic!("{code}: {error}"))
    }

    /// The error of code that brings none.
    pub(crate) async fn failure(&mut self, code: &str) -> Error {
        match self.python.execute(code, PATIENCE).await {
            Err(error) => error,
            Ok(execution) => panic!("{code}: {execution:?}"),
        }
    }

    /// The numbers that code prints.
    pub(crate) async fn pids(&mut self, code: &str) -> Vec<i32> {
        let printed = self.run(code).await;
        let pids: Vec<i32> = printed.split_whitespace().map(|word| word.parse().expect(&printed)).collect();
        assert!(!pids.is_empty(), "{printed}");
        pids
    }
}

/// Starts the machine's default Python, or the one that `ARGOSY_TEST_PYTHON` names.
pub(crate) async fn start(sandbox: &Sandbox, max_observation_bytes: u64) -> Session {
    let python = std::env::var("ARGOSY_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let options = Options { python, max_observation_bytes };
    sandbox.start_python(&options).await.expect("Python 3.9 or newer")
}

/// Waits until something holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..PATIENCE.as_millis() / 10 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what}: not within {PATIENCE:?}");
}

/// Waits until none of the processes is there any more; a zombie is not.
pub(crate) async fn until_gone(pids: &[i32]) {
    until(&format!("{pids:?} are gone"), || !pids.iter().any(|pid| is_alive(*pid))).await;
}

pub(crate) fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|fields| fields.split_whitespace().next());
    !matches!(state, None | Some("Z" | "X"))
}

/// The living processes of a session.
pub(crate) fn of_session(session: i32) -> Vec<i32> {
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
            fields.get(3).and_then(|field| field.parse().ok()) == Some(session)
        })
        .filter(|pid| is_alive(*pid))
        .collect()
}
