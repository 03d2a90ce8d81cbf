//! The worker's side of the fleet protocol: register, keep the slots filled, renew, report, drain.
//!
//! Four things run at once: this loop, which asks for leases and starts executions; one task per execution
//! (`slot`); one that forwards finished steps per execution; and the renewals (`renewal`), which wait for none of
//! the others. A lost lease cancels its execution; a lost coordinator does not: the executions go on while the
//! session registers again.

mod client;
mod files;
mod models;
mod renewal;
mod slot;

use std::{path::PathBuf, sync::Arc, time::Duration};

use argosy_shared::{
    id::ExecutionKey,
    lease::Assignment,
    model::secret::Secret,
    patience::Patience,
    spec::EnvironmentId,
    supervise::{self, CancellationToken, Shutdown, Task},
};
use futures::{
    FutureExt as _, StreamExt as _,
    future::{BoxFuture, OptionFuture},
    stream::FuturesUnordered,
};
use tonic::transport::Channel;

pub use self::client::Client;
use self::{models::Models, renewal::Held, slot::Slot};
use crate::cache::Cache;

/// How long a lease request waits at the coordinator for work to appear.
const LEASE_WAIT: Duration = Duration::from_secs(20);

/// What a worker is.
#[derive(Clone, Debug)]
pub struct Config {
    /// Its name, unique among live workers.
    pub name: String,
    /// Executions at once.
    pub slots: u32,
    /// Environments it provides.
    pub environments: Vec<EnvironmentId>,
    /// Folder for sandboxes.
    pub sandboxes: PathBuf,
    /// Folder of the data file cache.
    pub cache: PathBuf,
    /// Bound of that cache in bytes.
    pub cache_bytes: u64,
    /// How long a drain may take before executions are given back.
    pub drain_deadline: Duration,
}

/// Why a session ended before it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The coordinator does not want this worker.
    #[error("the coordinator refused this worker: {0}")]
    Refused(String),
    /// A folder cannot be used.
    #[error("{0}")]
    Folder(String),
}

/// A grant, decoded.
#[derive(Debug)]
struct Granted {
    key: ExecutionKey,
    assignment: Assignment,
    api_key: Secret,
}

/// What the coordinator says about a session at registration.
#[derive(Clone, Debug)]
struct Registration {
    session: String,
    lease: Duration,
    renew: Duration,
}

/// Works until `shutdown` asks to stop, or the coordinator says that it drains and nothing is left.
///
/// # Errors
/// The coordinator refuses the worker, or a folder cannot be used. A coordinator that cannot be reached is waited for.
pub async fn run(config: Config, channel: Channel, shutdown: Shutdown) -> Result<(), Error> {
    let client = Client::new(channel);
    let cache = Cache::open(&config.cache, config.cache_bytes, Arc::new(client.clone()))
        .await
        .map_err(|error| Error::Folder(error.to_string()))?;
    let shared = Arc::new(slot::Shared { name: config.name.clone(), sandboxes: config.sandboxes.clone(), cache });
    let mut session = Session {
        patience: Patience::new(Duration::from_millis(100), Duration::from_secs(10)),
        held: Held::default(),
        slots: FuturesUnordered::new(),
        models: Models::default(),
        deadline: None,
        config,
        client,
        shared,
        shutdown,
    };
    while let Some(registration) = session.register().await? {
        if session.work(registration).await == Ended::Done {
            session.client.deregister().await;
            break;
        }
        tracing::warn!("the coordinator no longer knows this session, registering again");
    }
    Ok(())
}

/// A worker with its executions, which live on while it registers again.
struct Session {
    config: Config,
    client: Client,
    shared: Arc<slot::Shared>,
    held: Held,
    /// Each execution is a task of its own: nothing the session waits for holds it up.
    slots: FuturesUnordered<Task<()>>,
    models: Models,
    patience: Patience,
    /// Gives back, when it ends, what a drain could not finish.
    deadline: Option<Task<()>>,
    shutdown: Shutdown,
}

/// How a registration ended.
#[derive(Debug, PartialEq, Eq)]
enum Ended {
    /// Nothing is left to do.
    Done,
    /// The coordinator has forgotten it.
    Forgotten,
}

/// A request for leases, or (`None`) the pause before the next one.
type Leasing = BoxFuture<'static, Result<Option<client::Grants>, client::Error>>;

impl Session {
    /// Registers, however long the coordinator is away; `None` when the worker was told to leave meanwhile.
    async fn register(&mut self) -> Result<Option<Registration>, Error> {
        loop {
            match self.client.register(&self.config).await {
                Ok(registration) => {
                    self.patience.reset();
                    self.client.set_session(&registration.session);
                    return Ok(Some(registration));
                }
                Err(client::Error::Refused(reason)) => return Err(Error::Refused(reason)),
                Err(error) => tracing::warn!(%error, "cannot register"),
            }
            tokio::select! {
                () = tokio::time::sleep(self.patience.next_delay()) => {}
                () = self.shutdown.drain.cancelled() => return Ok(None),
                () = self.shutdown.stop.cancelled() => return Ok(None),
            }
        }
    }

    /// Keeps the slots filled until the worker drains and is empty, or the coordinator forgets the session.
    async fn work(&mut self, registration: Registration) -> Ended {
        // Renewals see first that the coordinator has restarted; they say so through this token.
        let forgotten = CancellationToken::new();
        let _renewing = supervise::spawn(
            "renew",
            renewal::keep(self.client.clone(), self.held.clone(), registration, forgotten.clone()),
        );
        // The request for leases lives across rounds: dropping it half-way could lose a grant that is on its way.
        let mut leasing: Option<Leasing> = None;
        let mut draining = false;
        loop {
            if self.shutdown.drain.is_cancelled() || self.shutdown.stop.is_cancelled() {
                draining = true;
                self.start_deadline();
            }
            if draining {
                // Whatever it would have brought is free again as soon as the coordinator hears that we leave.
                leasing = None;
                if self.slots.is_empty() {
                    return Ended::Done;
                }
            } else if leasing.is_none() {
                leasing = self.ask_for_leases();
            }
            tokio::select! {
                () = self.shutdown.stop.cancelled() => {
                    self.held.cancel_all("the worker was told to stop");
                    while self.slots.next().await.is_some() {}
                }
                () = self.shutdown.drain.cancelled(), if !draining => {}
                () = forgotten.cancelled() => return Ended::Forgotten,
                Some(_) = self.slots.next() => {}
                Some(granted) = OptionFuture::from(leasing.as_mut()) => {
                    leasing = None;
                    match granted {
                        Ok(None) => {}
                        Ok(Some(grants)) => {
                            self.patience.reset();
                            draining |= grants.draining;
                            grants.leases.into_iter().for_each(|grant| self.begin(grant));
                        }
                        Err(client::Error::UnknownSession) => return Ended::Forgotten,
                        Err(error) => {
                            tracing::warn!(%error, "cannot lease");
                            leasing = Some(self.ask_again_later());
                        }
                    }
                }
            }
        }
    }

    fn free(&self) -> u32 {
        self.config.slots.saturating_sub(u32::try_from(self.slots.len()).unwrap_or(u32::MAX))
    }

    fn ask_for_leases(&self) -> Option<Leasing> {
        let (client, free) = (self.client.clone(), self.free());
        (free > 0).then(|| async move { client.lease(free, LEASE_WAIT).await.map(Some) }.boxed())
    }

    fn ask_again_later(&mut self) -> Leasing {
        let pause = self.patience.next_delay();
        async move {
            tokio::time::sleep(pause).await;
            Ok(None)
        }
        .boxed()
    }

    fn begin(&mut self, grant: Granted) {
        let model = self.models.of(&grant.assignment.model, &grant.api_key);
        let cancel = self.held.insert(&grant.key);
        let (worker, client, held) = (self.shared.clone(), self.client.clone(), self.held.clone());
        let slot = Slot { worker, client, held, cancel };
        self.slots.push(supervise::spawn("execution", slot.carry_out(grant.key, grant.assignment, model)));
    }

    /// Once a drain has begun, its deadline runs.
    fn start_deadline(&mut self) {
        if self.deadline.is_some() {
            return;
        }
        tracing::info!(running = self.slots.len(), "draining");
        let (held, after) = (self.held.clone(), self.config.drain_deadline);
        self.deadline = Some(supervise::spawn("drain deadline", async move {
            tokio::time::sleep(after).await;
            held.cancel_all("the drain deadline passed");
        }));
    }
}
