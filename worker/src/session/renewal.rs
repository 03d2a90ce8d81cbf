//! Keeps leases alive, on a task of its own that waits for no work.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use argosy_shared::{id::ExecutionKey, supervise::CancellationToken};

use super::{Client, Registration, client};

/// The executions this worker holds, shared between the loop, the slots and the renewals.
#[derive(Clone, Debug, Default)]
pub(super) struct Held(Arc<Mutex<HashMap<ExecutionKey, Lease>>>);

#[derive(Debug)]
struct Lease {
    cancel: CancellationToken,
    why: Arc<Mutex<Option<Ending>>>,
}

/// Why an execution was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The coordinator gave the attempt to somebody else: destroy the sandbox, report nothing.
    Lost,
    /// This worker gives the lease back.
    Released(&'static str),
}

/// Cancellation of one execution, with its reason.
#[derive(Clone, Debug)]
pub(super) struct Cancel {
    /// Cancelled when the execution must end.
    pub(super) token: CancellationToken,
    why: Arc<Mutex<Option<Ending>>>,
}

impl Cancel {
    /// The reason, once cancelled.
    pub(super) fn ending(&self) -> Option<Ending> {
        *lock(&self.why)
    }
}

impl Held {
    pub(super) fn insert(&self, key: &ExecutionKey) -> Cancel {
        let cancel = Cancel { token: CancellationToken::new(), why: Arc::default() };
        let lease = Lease { cancel: cancel.token.clone(), why: cancel.why.clone() };
        lock(&self.0).insert(key.clone(), lease);
        cancel
    }

    /// Ends the lease's renewals when it is dropped.
    pub(super) fn holding(&self, key: ExecutionKey) -> Holding {
        Holding { held: self.clone(), key }
    }

    pub(super) fn cancel_all(&self, reason: &'static str) {
        for lease in lock(&self.0).values() {
            lease.end(Ending::Released(reason));
        }
    }

    fn lose(&self, key: &ExecutionKey) {
        if let Some(lease) = lock(&self.0).get(key) {
            lease.end(Ending::Lost);
        }
    }

    fn keys(&self) -> Vec<ExecutionKey> {
        lock(&self.0).keys().cloned().collect()
    }
}

/// A lease somebody works on.
pub(super) struct Holding {
    held: Held,
    key: ExecutionKey,
}

impl Drop for Holding {
    fn drop(&mut self) {
        lock(&self.held.0).remove(&self.key);
    }
}

impl Lease {
    fn end(&self, ending: Ending) {
        lock(&self.why).get_or_insert(ending);
        self.cancel.cancel();
    }
}

/// Renews until the coordinator no longer knows the session, which cancels `ended`.
pub(super) async fn keep(client: Client, held: Held, registration: Registration, ended: CancellationToken) {
    let mut interval = tokio::time::interval(registration.renew);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        interval.tick().await;
        // A call that hangs longer than a lease lasts is of no use to anybody.
        let call = tokio::time::timeout(registration.lease.max(Duration::from_secs(1)), client.renew(held.keys()));
        match call.await {
            Ok(Ok(lost)) => lost.iter().for_each(|key| {
                tracing::warn!(%key, "lease lost");
                held.lose(key);
            }),
            Ok(Err(client::Error::UnknownSession)) => {
                ended.cancel();
                return;
            }
            Ok(Err(error)) => tracing::warn!(%error, "cannot renew"),
            Err(_) => tracing::warn!("renewal timed out"),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
