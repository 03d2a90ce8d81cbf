//! A stand-in model and judge of a test's own, on a port of this process.

use std::net::SocketAddr;

use argosy_coordinator::{
    http::mock_model::Running,
    stand_in::{Script, StandIn, Stats},
};
use argosy_shared::model::secret::Secret;
use serde_json::Value;
use tokio::runtime::Runtime;

/// A running stand-in; it ends with the value.
#[derive(Debug)]
pub struct Server {
    runtime: Runtime,
    running: Option<Running>,
    address: SocketAddr,
}

impl Server {
    /// Plays `script` on a free port.
    ///
    /// # Panics
    /// The script or the port is of no use.
    #[must_use]
    pub fn start(script: &Value) -> Self {
        Self::with_key(script, "")
    }

    /// The same for those who know `key`.
    ///
    /// # Panics
    /// As [`Self::start`].
    #[must_use]
    pub fn with_key(script: &Value, key: &str) -> Self {
        Self::at(SocketAddr::from(([127, 0, 0, 1], 0)), script, key)
    }

    /// The same at a given address.
    ///
    /// # Panics
    /// As [`Self::start`].
    #[must_use]
    pub fn at(address: SocketAddr, script: &Value, key: &str) -> Self {
        let script = Script::parse(&script.to_string()).expect("a script");
        let key = (!key.is_empty()).then(|| Secret::new(key));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let running = runtime.block_on(StandIn::new(script, key).serve(address)).expect("a port");
        let address = running.addr();
        Self { runtime, running: Some(running), address }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What to give as `--model-base-url`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// What it was asked so far.
    ///
    /// # Panics
    /// It was stopped.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.running.as_ref().expect("not stopped").stats()
    }

    /// Takes no more requests and returns the closing counters.
    ///
    /// # Panics
    /// It was stopped before.
    pub fn stop(&mut self) -> Stats {
        let running = self.running.take().expect("not stopped");
        self.runtime.block_on(running.stop())
    }
}
