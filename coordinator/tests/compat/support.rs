//! A place of its own for each test: dataset, stand-in, results, and a command that sees nothing of the machine's
//! configuration.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use argosy_coordinator::{
    demo::{self, Materialised},
    http::mock_model::Running,
    stand_in::{Latency, Script, StandIn},
};
use serde_json::Value;
use tempfile::TempDir;

/// What a test works in.
pub(crate) struct Place {
    runtime: tokio::runtime::Runtime,
    stand_in: Running,
    demo: Materialised,
    home: TempDir,
}

impl Place {
    /// With a stand-in that answers at once.
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// With a stand-in whose script is changed first.
    pub(crate) fn with(change: impl FnOnce(&mut Script)) -> Self {
        let home = tempfile::tempdir().unwrap();
        let files = home.path().join("demo");
        fs::create_dir(&files).unwrap();
        let demo = demo::materialise(&files).unwrap();
        let mut script = Script::parse(&fs::read_to_string(&demo.script).unwrap()).unwrap();
        script.models = Vec::new();
        script.latency = Latency::Fixed(0.0);
        change(&mut script);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let stand_in = runtime.block_on(StandIn::start(([127, 0, 0, 1], 0).into(), script)).unwrap();
        Self { runtime, stand_in, demo, home }
    }

    pub(crate) fn path(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn base_url(&self) -> String {
        self.stand_in.base_url()
    }

    /// Chat requests so far.
    pub(crate) fn calls(&self) -> u64 {
        self.stand_in.stats().calls
    }

    /// `argosy` with these arguments, in the place's directory.
    pub(crate) fn argosy(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_argosy"));
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("ARGOSY_") {
                command.env_remove(name);
            }
        }
        command.env("XDG_CONFIG_HOME", self.path().join("config"));
        command.env("XDG_CACHE_HOME", self.path().join("cache"));
        command
    }

    /// Flags that say where the benchmark is.
    pub(crate) fn dataset(&self) -> [String; 5] {
        [
            "--dataset".to_owned(),
            self.demo.dataset.display().to_string(),
            "--prompt-pack".to_owned(),
            self.demo.prompt_pack.display().to_string(),
            "--allow-unpinned".to_owned(),
        ]
    }

    /// `argosy run` of two tasks against the stand-in, with further flags.
    pub(crate) fn run(&self, model: &str, flags: &[&str]) -> Command {
        let mut command = self.argosy(&["run", "discoverybench", "discovery_agent", model]);
        command.args(self.dataset()).args(["--env", "host_process"]);
        if !flags.contains(&"--model-base-url") {
            command.args(["--model-base-url", &self.base_url()]);
        }
        if !flags.contains(&"--benchmark-params") {
            command.args(["--benchmark-params", PARAMS]);
        }
        command.args(["--progress", "none"]).args(flags);
        command
    }

    /// The directory of a run.
    pub(crate) fn dir(&self, namespace: &str, run_id: &str) -> PathBuf {
        self.path().join("results").join(namespace).join(run_id)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // The server lives on the runtime and ends with it.
        let _guard = self.runtime.enter();
    }
}

/// Benchmark parameters of a short run.
pub(crate) const PARAMS: &str = r#"{"judge_model":{"id":"j"},"isolate_network":false,"limit":2}"#;

/// Runs to the end; what it printed, with the exit code.
pub(crate) fn end(mut command: Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// Runs to the end, which must be the refusal of bad input; what it said.
pub(crate) fn refused(command: Command) -> String {
    let (code, _, talk) = end(command);
    assert_eq!(code, Some(2), "{talk}");
    talk
}

pub(crate) fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// Waits until something holds, about a minute at most, while the process lives.
pub(crate) fn wait_for(child: &mut Child, what: &str, holds: impl Fn() -> bool) {
    for _ in 0..3000 {
        if holds() {
            return;
        }
        assert!(child.try_wait().unwrap().is_none(), "the process ended before {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{what} did not come");
}
