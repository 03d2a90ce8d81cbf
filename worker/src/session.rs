//! The worker's side of the fleet protocol: register, keep the slots filled, renew, report, drain.
//!
//! Four things run at once: this loop, which asks for leases and starts executions; one task per execution
//! ([`slot`]); one that forwards finished steps per execution; and the renewals ([`renewal`]), which wait for none of
//! the others. A lost lease cancels its execution; a lost coordinator does not: the executions go on while the
//! session registers again.

mod client;
mod files;
mod models;
mod renewal;
mod slot;

use std::{path::PathBuf, sync::Arc, time::Duration};

use argosy_shared::{
    patience::Patience,
    id::ExecutionKey,
    lease::Assignment,
    model::secret::Secret,
    spec::EnvironmentId,
    supervise::{self, CancellationToken, Shutdown},
};
use futures::{StreamExt as _, stream::FuturesUnordered};
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
    let cache = {
        let client = client.clone();
        Cache::open(&config.cache, config.cache_bytes, Arc::new(client))
            .await
            .map_err(|error| Error::Folder(error.to_string()))?
    };
    let worker = Arc::new(slot::Shared { name: config.name.clone(), sandboxes: config.sandboxes.clone(), cache });
    let held = Held::default();
    let mut slots = FuturesUnordered::new();
    let mut models = Models::default();
    let mut backoff = Patience::new(Duration::from_millis(100), Duration::from_secs(10));

    'registered: loop {
        let registration = match client.register(&config).await {
            Ok(registration) => registration,
            Err(client::Error::Refused(reason)) => return Err(Error::Refused(reason)),
            Err(error) => {
                tracing::warn!(%error, "cannot register");
                tokio::select! {
                    () = tokio::time::sleep(backoff.next_delay()) => continue 'registered,
                    () = shutdown.drain.cancelled() => return Ok(()),
                }
            }
        };
        backoff.reset();
        client.set_session(&registration.session);
        // Renewals see the session end first when the coordinator restarts; they say so through this token.
        let ended = CancellationToken::new();
        let renewing =
            supervise::spawn("renew", renewal::keep(client.clone(), held.clone(), registration.clone(), ended.clone()));
        let mut draining = false;
        loop {
            let free = config.slots.saturating_sub(u32::try_from(slots.len()).unwrap_or(u32::MAX));
            draining |= shutdown.drain.is_cancelled() || shutdown.stop.is_cancelled();
            if draining && slots.is_empty() {
                drop(renewing);
                client.deregister().await;
                return Ok(());
            }
            tokio::select! {
                () = shutdown.stop.cancelled() => {
                    held.cancel_all("the worker was told to stop");
                    while slots.next().await.is_some() {}
                    client.deregister().await;
                    return Ok(());
                }
                () = shutdown.drain.cancelled(), if !draining => {
                    tracing::info!(running = slots.len(), "draining");
                    release_after(held.clone(), config.drain_deadline);
                }
                () = ended.cancelled() => {
                    tracing::warn!("the coordinator no longer knows this session, registering again");
                    continue 'registered;
                }
                Some(()) = slots.next(), if !slots.is_empty() => {}
                granted = client.lease(free, LEASE_WAIT), if free > 0 && !draining => match granted {
                    Ok(grants) => {
                        draining |= grants.draining;
                        for grant in grants.leases {
                            let model = models.of(&grant.assignment.model, &grant.api_key);
                            let cancel = held.insert(&grant.key);
                            let slot = Slot { worker: worker.clone(), client: client.clone(), held: held.clone(), cancel };
                            slots.push(slot.carry_out(grant.key, grant.assignment, model));
                        }
                        backoff.reset();
                    }
                    Err(client::Error::UnknownSession) => continue 'registered,
                    Err(error) => {
                        tracing::warn!(%error, "cannot lease");
                        let pause = backoff.next_delay();
                        tokio::select! {
                            () = tokio::time::sleep(pause) => {}
                            () = shutdown.drain.cancelled() => {}
                        }
                    }
                },
            }
        }
    }
}

/// Gives executions back that a drain could not finish in time.
fn release_after(held: Held, deadline: Duration) {
    let task = supervise::spawn("drain deadline", async move {
        tokio::time::sleep(deadline).await;
        held.cancel_all("the drain deadline passed");
    });
    std::mem::forget(task);
}
