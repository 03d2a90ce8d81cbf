//! The engine's task: one loop, one state, one order of things.
//!
//! Messages are taken in batches. Each is decided and applied at once, so that the next one sees its consequences; the
//! events of the whole batch then go to the journal in one transaction; and only then do replies leave and effects
//! begin. While the journal cannot be written the batch waits here: nobody is told anything that could be forgotten.

mod fleet;
mod runs;

use std::{collections::HashMap, sync::Arc, time::Duration};

use argosy_shared::{
    id::RunId,
    patience::Patience,
    supervise::{self, Task},
    time::Clock,
};
use futures::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use tokio::sync::mpsc;

use super::{Message, Settings, session::Parked};
use crate::{
    engine::runs::Active,
    journal::Journal,
    scheduler::{Effect, Event, Input, Reply, State},
};

/// Messages decided before their events are journalled together.
const BATCH: usize = 256;

/// The engine.
pub(super) struct Actor {
    settings: Settings,
    journal: Arc<dyn Journal>,
    clock: Arc<dyn Clock>,
    /// For tasks that come back with what they found.
    mailbox: mpsc::Sender<Message>,
    state: State,
    runs: HashMap<RunId, Active>,
    parked: Vec<Parked>,
    /// Distinguishes this process's sessions from those of an earlier one.
    instance: String,
    sessions: u64,
    /// Small things that take a moment: assembling leases, storing steps.
    errands: FuturesUnordered<BoxFuture<'static, ()>>,
    /// Judgements under way.
    judging: FuturesUnordered<Task<()>>,
    /// Set while the engine is being shut down: nothing new is begun.
    closing: bool,
}

/// What one round of messages leads to.
#[derive(Default)]
struct Batch {
    events: Vec<Event>,
    after: Vec<After>,
}

/// Done once the events are durable.
type After = Box<dyn FnOnce(&mut Actor) + Send>;

impl Actor {
    pub(super) fn new(
        settings: Settings,
        journal: Arc<dyn Journal>,
        clock: Arc<dyn Clock>,
        mailbox: mpsc::Sender<Message>,
        state: State,
        instance: String,
    ) -> Self {
        Self {
            settings,
            journal,
            clock,
            mailbox,
            state,
            runs: HashMap::new(),
            parked: Vec::new(),
            instance,
            sessions: 0,
            errands: FuturesUnordered::new(),
            judging: FuturesUnordered::new(),
            closing: false,
        }
    }

    /// Runs until it is dropped.
    pub(super) async fn run(mut self, mut messages: mpsc::Receiver<Message>) {
        loop {
            let sleep = self.until_wakeup();
            let mut batch = Batch::default();
            tokio::select! {
                message = messages.recv() => {
                    let Some(message) = message else { return };
                    self.take(message, &mut batch);
                    for _ in 1..BATCH {
                        let Ok(message) = messages.try_recv() else { break };
                        self.take(message, &mut batch);
                    }
                }
                () = tokio::time::sleep(sleep) => {}
                Some(()) = self.errands.next(), if !self.errands.is_empty() => {}
                Some(_) = self.judging.next(), if !self.judging.is_empty() => {}
            }
            self.decide(Input::Tick, &mut batch);
            self.serve_parked(&mut batch);
            self.fill_judge_pool(&mut batch);
            self.settle(batch).await;
            self.show_progress();
        }
    }

    fn take(&mut self, message: Message, batch: &mut Batch) {
        match message {
            Message::Register(worker, reply) => self.register(worker, reply, batch),
            Message::Lease { session, free, wait, reply } => self.park(session, free, wait, reply),
            Message::Renew { session, held, reply } => self.renew(&session, held, reply, batch),
            Message::Steps { session, key, steps, reply } => self.steps(&session, key, steps, reply),
            Message::Blob { session, sha256, reply } => self.blob(&session, &sha256, reply),
            Message::Result(uploaded) => self.result(*uploaded, batch),
            Message::Release { session, key, reason, reply } => self.release(&session, key, reason, reply, batch),
            Message::Undelivered { session, keys } => self.undelivered(&session, keys, batch),
            Message::Deregister { session, reply } => self.deregister(&session, reply, batch),
            Message::Submit { run, reply } => self.submit(*run, reply, batch),
            Message::Pause { run, reason } => {
                self.decide(Input::PauseRun { run, reason }, batch);
            }
            Message::Resume { run } => {
                self.decide(Input::ResumeRun { run }, batch);
            }
            Message::Evaluated(evaluated) => self.evaluated(*evaluated, batch),
            Message::Published(published) => self.published(published, batch),
            Message::Shutdown { ending, reply } => self.shut_down(ending, reply, batch),
            Message::Close { ending, reply } => self.close(ending, reply, batch),
        }
    }

    /// Decides and applies; what must wait for the journal goes into the batch.
    fn decide(&mut self, input: Input, batch: &mut Batch) -> Reply {
        let decision = self.state.decide(self.clock.monotonic(), input);
        for violation in self.state.commit(&decision) {
            tracing::error!(%violation, "an invariant of the scheduler was about to be broken");
        }
        batch.events.extend(decision.events);
        for effect in decision.effects {
            batch.after.push(Box::new(move |actor: &mut Self| actor.carry_out(effect)));
        }
        decision.reply
    }

    /// Makes the batch durable, however long that takes, and then lets everybody know.
    async fn settle(&mut self, batch: Batch) {
        if !batch.events.is_empty() {
            let mut backoff = Patience::new(Duration::from_millis(200), Duration::from_secs(5));
            while let Err(error) = self.journal.append(batch.events.clone()).await {
                tracing::error!(%error, "the journal cannot be written; everything waits");
                self.show_trouble(&format!(
                    "the journal cannot be written: {error}; it goes on by itself once this is fixed"
                ));
                tokio::time::sleep(backoff.next_delay()).await;
            }
        }
        for after in batch.after {
            after(self);
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::WriteRetry(notice) => {
                let run = notice.execution.attempt.run.clone();
                if let Some(active) = self.runs.get_mut(&run) {
                    active.figures.retries += 1;
                }
                self.to_publisher(&run, notice.into());
            }
            Effect::Publish(key) => {
                if let Some(attempt) = self.state.final_attempt(&key) {
                    self.to_publisher(&key.run, attempt.into());
                }
            }
            Effect::RunFinished(run) => self.to_publisher(&run, super::publish::Job::Finish),
            // The worker hears it with its next renewal.
            Effect::Revoked(key) => tracing::info!(%key, "lease void, its run was cancelled"),
        }
    }

    /// How long nothing is due: the scheduler's next deadline, or that of a waiting lease request.
    fn until_wakeup(&self) -> Duration {
        let now = self.clock.monotonic();
        let parked = self.parked.iter().map(|parked| parked.until).min();
        let next = self.state.next_wakeup().into_iter().chain(parked).min();
        next.map_or(Duration::from_secs(60), |at| at.saturating_sub(now))
    }

    fn errand(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        self.errands.push(work.boxed());
    }

    fn judge_task(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        self.judging.push(supervise::spawn("judge", work));
    }
}
