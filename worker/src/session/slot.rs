//! One lease from grant to report.

use std::{path::PathBuf, sync::Arc, time::Duration};

use argosy_shared::{
    id::ExecutionKey, lease::Assignment, model::Model, patience::Patience, redact::Redactor, result::ExecutionResult,
    supervise, trajectory::StepRecord,
};
use bytes::Bytes;
use tokio::sync::mpsc;

use super::{
    client::{self, Client},
    renewal::{Cancel, Ending, Held},
};
use crate::{cache::Cache, execution};

/// What all slots of a worker share.
pub(super) struct Shared {
    pub(super) name: String,
    pub(super) sandboxes: PathBuf,
    pub(super) cache: Cache,
}

/// One slot with one lease.
pub(super) struct Slot {
    pub(super) worker: Arc<Shared>,
    pub(super) client: Client,
    pub(super) held: Held,
    pub(super) cancel: Cancel,
    /// Knows the lease's credential: a model that repeats it must not carry it to a disk.
    pub(super) redactor: Redactor,
}

impl Slot {
    /// Carries the lease out and reports it: the result, or that the lease is given back, or (when it was lost)
    /// nothing.
    pub(super) async fn carry_out(self, key: ExecutionKey, assignment: Assignment, model: Arc<dyn Model>) {
        // Also when this panics: a lease that nobody works on must not be renewed.
        let _holding = self.held.holding(key.clone());
        let (steps, receiver) = mpsc::unbounded_channel();
        let forwarding = supervise::spawn("steps", forward(self.client.clone(), key.clone(), receiver));
        let redactor = self.redactor.clone();
        let sink = move |step: StepRecord| {
            // A step that is not sent is paid again after a crash, nothing worse. The forwarder ends early only when the
            // lease is lost, and then nobody wants the steps.
            if let Some(step) = without(&redactor, &step) {
                let _ = steps.send(step);
            }
        };
        let result = execution::carry_out(
            &assignment,
            model,
            &self.worker.cache,
            &self.worker.sandboxes,
            &self.worker.name,
            &sink,
            &self.cancel.token,
        )
        .await;
        // The result holds all steps: what the forwarder has not sent yet is no longer needed.
        drop(forwarding);
        match self.cancel.ending() {
            Some(Ending::Lost) => tracing::warn!(%key, "sandbox of a lost lease destroyed"),
            Some(Ending::Released(reason)) => {
                if let Err(error) = self.client.release(&key, reason).await {
                    tracing::warn!(%key, %error, "cannot give the lease back, it will run out");
                }
            }
            None => self.report(&key, &result).await,
        }
    }

    /// Uploads until the coordinator has it, the lease is lost or the worker stops.
    async fn report(&self, key: &ExecutionKey, result: &ExecutionResult) {
        let body = match redacted(&self.redactor, result).and_then(|result| serde_json::to_vec(&result)) {
            Ok(body) => Bytes::from(body),
            Err(error) => {
                tracing::error!(%key, %error, "a result cannot be written as JSON");
                return;
            }
        };
        let mut backoff = Patience::new(Duration::from_millis(100), Duration::from_secs(5));
        loop {
            match self.client.upload(key, body.clone()).await {
                Ok(true) => return,
                Ok(false) => {
                    tracing::warn!(%key, "the result came too late and was kept as evidence only");
                    return;
                }
                Err(client::Error::Refused(reason)) => {
                    tracing::error!(%key, reason, "the result was refused");
                    return;
                }
                Err(error) => tracing::warn!(%key, %error, "cannot upload the result, trying again"),
            }
            tokio::select! {
                () = tokio::time::sleep(backoff.next_delay()) => {}
                () = self.cancel.token.cancelled() => return,
            }
        }
    }
}

/// The record as JSON, without the credential.
fn redacted<T: serde::Serialize>(redactor: &Redactor, record: &T) -> serde_json::Result<serde_json::Value> {
    let mut value = serde_json::to_value(record)?;
    redactor.value(&mut value);
    Ok(value)
}

/// The step without the credential.
fn without(redactor: &Redactor, step: &StepRecord) -> Option<StepRecord> {
    redacted(redactor, step).and_then(serde_json::from_value).ok()
}

/// Sends steps in the order in which they come, as many at once as have gathered.
async fn forward(client: Client, key: ExecutionKey, mut steps: mpsc::UnboundedReceiver<StepRecord>) {
    let mut backoff = Patience::new(Duration::from_millis(100), Duration::from_secs(5));
    let mut batch = Vec::new();
    while steps.recv_many(&mut batch, 64).await > 0 {
        while let Err(error) = client.steps(&key, &batch).await {
            if matches!(error, client::Error::Refused(_)) {
                return;
            }
            tracing::debug!(%key, %error, "cannot send steps, trying again");
            tokio::time::sleep(backoff.next_delay()).await;
        }
        backoff.reset();
        batch.clear();
    }
}
