//! What workers say.

use std::{sync::Arc, time::Duration};

use argosy_shared::{id::ExecutionKey, trajectory::StepRecord};

use super::{Actor, Batch};
use crate::{
    engine::{
        Lease, Leases, Message, Refusal, Registered, Registering, Renewed, Reply as Answer, Run, Uploaded,
        publish::Job, session::Parked,
    },
    journal::{Journal, StoredStep},
    scheduler::{Departure, Grant, Input, Reply, ResultSummary, SessionId},
};

impl Actor {
    pub(super) fn register(&mut self, worker: Registering, reply: Answer<Registered>, batch: &mut Batch) {
        let session = self.next_session();
        tracing::info!(worker = worker.name, slots = worker.slots, "worker joined");
        self.decide(
            Input::WorkerRegistered {
                session: session.clone(),
                name: worker.name,
                slots: worker.slots,
                environments: worker.environments,
            },
            batch,
        );
        let registered = Registered { session: session.0, lease: self.settings.lease, renew: self.settings.renew };
        batch.after.push(Box::new(move |_| answer(reply, Ok(registered))));
    }

    pub(super) fn next_session(&mut self) -> SessionId {
        self.sessions += 1;
        SessionId(format!("{}-{}", self.instance, self.sessions))
    }

    /// Every lease request waits first; [`Self::serve_parked`] runs before anything else happens.
    pub(super) fn park(&mut self, session: String, free: u32, wait: Duration, reply: Answer<Leases>) {
        let until = self.clock.monotonic() + wait;
        self.parked.push(Parked { session: SessionId(session), free, until, reply });
    }

    /// Answers the waiting lease requests for which there is something, or whose time has come.
    pub(super) fn serve_parked(&mut self, batch: &mut Batch) {
        let now = self.clock.monotonic();
        for parked in std::mem::take(&mut self.parked) {
            // A worker whose call was cut has no use for a grant.
            if parked.reply.is_closed() {
                continue;
            }
            let free = if self.closing { 0 } else { parked.free };
            match self.decide(Input::LeaseWanted { session: parked.session.clone(), free }, batch) {
                Reply::Leases { grants, draining } if !grants.is_empty() => {
                    batch
                        .after
                        .push(Box::new(move |actor| actor.deliver(parked.session, grants, draining, parked.reply)));
                }
                Reply::Leases { draining, .. } if draining || self.closing || parked.until <= now => {
                    let draining = draining || self.closing;
                    batch.after.push(Box::new(move |_| {
                        answer(parked.reply, Ok(Leases { granted: Vec::new(), draining }));
                    }));
                }
                Reply::Leases { .. } => self.parked.push(parked),
                _ => answer(parked.reply, Err(Refusal::UnknownSession)),
            }
        }
    }

    /// Puts granted leases together and sends them. Steps of lost executions come from the journal, which takes a
    /// moment.
    fn deliver(&mut self, session: SessionId, grants: Vec<Grant>, draining: bool, reply: Answer<Leases>) {
        let mut known = Vec::new();
        for grant in grants {
            match self.runs.get(&grant.execution.attempt.run) {
                Some(active) => {
                    known.push((active.run.clone(), grant.clone()));
                    self.to_publisher(&active.run.id, Job::Started(grant.execution.attempt));
                }
                // A run that nobody has submitted in this process is not scheduled either.
                None => tracing::error!(key = %grant.execution, "a lease of a run that is not being carried out"),
            }
        }
        let journal = self.journal.clone();
        let mailbox = self.mailbox.clone();
        self.errand(async move {
            let mut granted = Vec::new();
            let keys: Vec<ExecutionKey> = known.iter().map(|(_, grant)| grant.execution.clone()).collect();
            for (run, grant) in known {
                if let Some(lease) = assemble(&run, grant, &*journal).await {
                    granted.push(lease);
                }
            }
            if reply.send(Ok(Leases { granted, draining })).is_err() {
                // The engine drops its mailbox only when it ends, and then nothing is to be told.
                let _ = mailbox.send(Message::Undelivered { session, keys }).await;
            }
        });
    }

    /// Leases whose worker had gone before they could be sent.
    pub(super) fn undelivered(&mut self, session: &SessionId, keys: Vec<ExecutionKey>, batch: &mut Batch) {
        for execution in keys {
            let reason = "the worker went away before it heard of the lease".to_owned();
            self.decide(Input::Released { session: session.clone(), execution, reason }, batch);
        }
    }

    pub(super) fn renew(&mut self, session: &str, held: Vec<ExecutionKey>, reply: Answer<Renewed>, batch: &mut Batch) {
        let renewed = match self.decide(Input::Renewed { session: SessionId(session.to_owned()), held }, batch) {
            Reply::Renewal { lost, draining } => Ok(Renewed { lost, draining: draining || self.closing }),
            _ => Err(Refusal::UnknownSession),
        };
        batch.after.push(Box::new(move |_| answer(reply, renewed)));
    }

    pub(super) fn steps(&mut self, session: &str, key: ExecutionKey, steps: Vec<StepRecord>, reply: Answer<()>) {
        if !self.knows(session) {
            return answer(reply, Err(Refusal::UnknownSession));
        }
        if !self.state.is_live(&key) {
            return answer(reply, Err(Refusal::Refused(format!("{key} is not the live execution"))));
        }
        if let Some(active) = self.runs.get_mut(&key.attempt.run) {
            steps.iter().for_each(|step| active.count_step(step));
        }
        let journal = self.journal.clone();
        self.errand(async move {
            let stored = async {
                let mut encoded = Vec::with_capacity(steps.len());
                for step in &steps {
                    let json = serde_json::to_vec(step).map_err(|error| Refusal::Refused(error.to_string()))?;
                    encoded.push(StoredStep { step_id: step.step_id, json: json.into() });
                }
                journal.append_steps(&key, encoded).await.map_err(|error| Refusal::Unavailable(error.to_string()))
            };
            answer(reply, stored.await);
        });
    }

    fn knows(&self, session: &str) -> bool {
        self.state.workers().any(|worker| worker.session.0 == session)
    }

    pub(super) fn blob(&mut self, session: &str, sha256: &str, reply: Answer<Option<std::path::PathBuf>>) {
        if !self.knows(session) {
            return answer(reply, Err(Refusal::UnknownSession));
        }
        let path = self
            .runs
            .values()
            .find_map(|active| active.run.dataset.data.blobs.get(sha256).map(|file| file.path.clone()));
        answer(reply, Ok(path));
    }

    pub(super) fn result(&mut self, uploaded: Uploaded, batch: &mut Batch) {
        let Uploaded { session, key, result, blob, reply } = uploaded;
        if !self.knows(&session) {
            return answer(reply, Err(Refusal::UnknownSession));
        }
        let summary = ResultSummary {
            has_answer: result.final_answer.is_some(),
            issues: result.issues.clone(),
            result: blob.clone(),
        };
        if result.issues.iter().any(|issue| issue.severity >= argosy_shared::issue::Severity::Error) {
            self.warn(&key, &result.issues);
        }
        let accepted = match self.decide(Input::ResultUploaded { execution: key.clone(), summary }, batch) {
            Reply::ResultAccepted | Reply::ResultDuplicate => true,
            Reply::ResultSuperseded { reason } => {
                tracing::warn!(%key, reason, "late result kept as evidence");
                let journal = self.journal.clone();
                self.errand(async move {
                    if let Err(error) = journal.supersede(&key, &blob).await {
                        tracing::warn!(%key, %error, "cannot mark the late result");
                    }
                });
                false
            }
            other => {
                tracing::warn!(%key, ?other, "unexpected answer to a result");
                false
            }
        };
        batch.after.push(Box::new(move |_| answer(reply, Ok(accepted))));
    }

    pub(super) fn release(
        &mut self,
        session: &str,
        execution: ExecutionKey,
        reason: String,
        reply: Answer<()>,
        batch: &mut Batch,
    ) {
        let session = SessionId(session.to_owned());
        let released = match self.decide(Input::Released { session, execution, reason }, batch) {
            Reply::UnknownWorker => Err(Refusal::UnknownSession),
            _ => Ok(()),
        };
        batch.after.push(Box::new(move |_| answer(reply, released)));
    }

    pub(super) fn deregister(&mut self, session: &str, reply: Answer<()>, batch: &mut Batch) {
        let session = SessionId(session.to_owned());
        self.decide(Input::WorkerGone { session, departure: Departure::Deregistered }, batch);
        batch.after.push(Box::new(move |_| answer(reply, Ok(()))));
    }
}

/// One lease as it is sent, with the steps to replay.
async fn assemble(run: &Arc<Run>, grant: Grant, journal: &dyn Journal) -> Option<Lease> {
    let task = run.task(&grant.execution.attempt.task)?;
    let mut replay = Vec::new();
    if run.execution.replay {
        // The longest record is the one that saves most.
        for execution in grant.lost_before {
            let key = ExecutionKey { attempt: grant.execution.attempt.clone(), execution };
            match recorded_steps(journal, &key).await {
                Ok(steps) if steps.len() > replay.len() => replay = steps,
                Ok(_) => {}
                Err(error) => tracing::warn!(%key, error, "recorded steps cannot be read; its turns are paid again"),
            }
        }
    }
    Some(Lease { assignment: run.assignment(grant.execution, task, replay), api_key: run.model.api_key.clone() })
}

/// The steps of an execution up to the first that is missing.
async fn recorded_steps(journal: &dyn Journal, key: &ExecutionKey) -> Result<Vec<StepRecord>, String> {
    let stored = journal.steps_of(key).await.map_err(|error| error.to_string())?;
    (1..)
        .zip(stored)
        .take_while(|(number, step)| step.step_id == *number)
        .map(|(_, step)| serde_json::from_slice(&step.json).map_err(|error| error.to_string()))
        .collect()
}

/// Sends an answer; an asker who has gone does not want it.
pub(super) fn answer<T>(reply: Answer<T>, value: Result<T, Refusal>) {
    let _ = reply.send(value);
}
