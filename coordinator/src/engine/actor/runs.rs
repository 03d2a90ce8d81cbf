//! What happens to runs: submitted, judged, published, over.

use std::{collections::HashMap, sync::Arc};

use argosy_shared::{
    id::{ExecutionKey, RunId},
    issue::Severity,
    supervise,
};
use tokio::sync::{mpsc, watch};

use super::{Actor, Batch, fleet::answer};
use crate::{
    engine::{
        Ending, Message, Progress, Refusal, Reply as Answer, Run,
        evaluate::{self, Evaluated, Outcome},
        progress::State,
        publish::{Job, Published, Publisher},
        runs::{Active, Figures},
    },
    scheduler::{FinalAttempt, Input, JudgeJob, Judgement, Reply, RunState, Stage},
};

impl Actor {
    pub(super) fn submit(&mut self, run: Run, reply: Answer<watch::Receiver<Progress>>, batch: &mut Batch) {
        let id = run.id.clone();
        if self.runs.contains_key(&id) {
            return answer(reply, Err(Refusal::Refused(format!("run {id} is being carried out already"))));
        }
        match self.decide(Input::RunSubmitted(Box::new(run.plan())), batch) {
            Reply::RunAdded | Reply::RunKnown | Reply::RunChanged => {}
            Reply::RunRefused(error) => return answer(reply, Err(Refusal::Refused(error.to_string()))),
            other => return answer(reply, Err(Refusal::Refused(format!("unexpected answer to a run: {other:?}")))),
        }
        // A run that was paused or ended in an earlier process goes on: it would not be submitted otherwise.
        if self.state.run_of(&id).is_some_and(|view| !matches!(view.state, RunState::Running | RunState::Finished)) {
            self.decide(Input::ResumeRun { run: id.clone() }, batch);
        }
        let progress = self.activate(run);
        self.to_publisher(&id, Job::Begin(self.reused(&id)));
        for attempt in self.state.unpublished().filter(|attempt| attempt.attempt.run == id).collect::<Vec<_>>() {
            self.to_publisher(&id, attempt.into());
        }
        if self.state.run_of(&id).is_some_and(|view| matches!(view.state, RunState::Finished)) {
            self.to_publisher(&id, Job::Finish);
        }
        batch.after.push(Box::new(move |_| answer(reply, Ok(progress))));
    }

    /// Starts the run's publisher and its progress.
    fn activate(&mut self, run: Run) -> watch::Receiver<Progress> {
        let run = Arc::new(run);
        let (publisher, jobs) = mpsc::unbounded_channel();
        let (progress, watching) = watch::channel(Progress::default());
        let publishing = supervise::spawn(
            "publish",
            Publisher {
                run: run.clone(),
                journal: self.journal.clone(),
                mailbox: self.mailbox.clone(),
                finals: self.finals(&run),
                positions: (0..).zip(run.tasks()).map(|(position, task)| (task.id.clone(), position)).collect(),
            }
            .work(jobs),
        );
        let active = Active {
            run: run.clone(),
            publisher,
            publishing: Some(publishing),
            progress,
            figures: Figures {
                reused: self.state.run_of(&run.id).map_or(0, |view| view.tally.done() as usize),
                ..Figures::default()
            },
            started: self.clock.monotonic(),
        };
        self.runs.insert(run.id.clone(), active);
        watching
    }

    /// The worst severity of each task that is over already.
    fn reused(&self, run: &RunId) -> Vec<Option<Severity>> {
        let Some(plan) = self.state.run_of(run).map(|view| view.plan) else { return Vec::new() };
        let over = plan.tasks.iter().filter_map(|task| {
            let outcomes = self.state.attempts_of(run, task).iter().map(|attempt| match &attempt.stage {
                Stage::Done { outcome } => Some(outcome.severity),
                _ => None,
            });
            outcomes.collect::<Option<Vec<_>>>()
        });
        over.map(|severities| severities.into_iter().max().flatten()).collect()
    }

    /// Attempts published by an earlier process, of tasks that have others left.
    fn finals(&self, run: &Run) -> HashMap<argosy_shared::id::TaskId, Vec<FinalAttempt>> {
        let mut finals: HashMap<_, Vec<FinalAttempt>> = HashMap::new();
        for (key, attempt) in self.state.attempts(&run.id) {
            if let Stage::Done { outcome } = &attempt.stage
                && outcome.execution > 0
            {
                finals.entry(key.task.clone()).or_default().push(FinalAttempt {
                    attempt: key,
                    outcome: outcome.clone(),
                    retries: attempt.retries,
                    lease_losses: attempt.lease_losses,
                    discarded: Vec::new(),
                    last_of_task: false,
                });
            }
        }
        finals.retain(|_, attempts| attempts.len() < run.execution.k as usize);
        finals
    }

    /// Gives the judge pool what fits in.
    pub(super) fn fill_judge_pool(&mut self, batch: &mut Batch) {
        let room = self.settings.judge_concurrency.saturating_sub(self.judging.len());
        if room == 0 || self.closing || !self.state.has_judging() {
            return;
        }
        let n = u32::try_from(room).unwrap_or(u32::MAX);
        if let Reply::JudgeJobs(jobs) = self.decide(Input::JudgeWanted { n }, batch) {
            for job in jobs {
                self.judge(job);
            }
        }
    }

    fn judge(&mut self, job: JudgeJob) {
        let Some(active) = self.runs.get(&job.execution.attempt.run) else { return };
        let (run, journal, mailbox) = (active.run.clone(), self.journal.clone(), self.mailbox.clone());
        self.to_publisher(&run.id.clone(), Job::Judging(job.execution.attempt.clone()));
        self.judge_task(async move {
            let evaluated = evaluate::evaluate(run, journal, job).await;
            // The engine drops its mailbox only when it ends; the answer is then judged again.
            let _ = mailbox.send(Message::Evaluated(Box::new(evaluated))).await;
        });
    }

    pub(super) fn evaluated(&mut self, evaluated: Evaluated, batch: &mut Batch) {
        let Evaluated { execution, outcome } = evaluated;
        match outcome {
            Outcome::Judged { record, score, issues } => {
                self.warn(&execution, &issues);
                let judgement = Judgement { record, issues };
                let reply = self.decide(Input::Judged { execution: execution.clone(), judgement }, batch);
                if matches!(reply, Reply::Ok)
                    && let Some(active) = self.runs.get_mut(&execution.attempt.run)
                {
                    active.figures.score_sum += score;
                    active.figures.evaluated += 1;
                }
            }
            Outcome::Failed(issues) => {
                self.warn(&execution, &issues);
                self.decide(Input::JudgeFailed { execution, issues }, batch);
            }
            Outcome::Released(reason) => {
                tracing::warn!(%execution, reason, "a judging could not be carried out, it goes back into the queue");
                self.decide(Input::JudgeReleased { execution }, batch);
            }
        }
    }

    /// Shows an issue to whoever watches.
    pub(super) fn warn(&mut self, execution: &ExecutionKey, issues: &[argosy_shared::issue::Issue]) {
        if let (Some(active), Some(issue)) = (self.runs.get_mut(&execution.attempt.run), issues.last()) {
            active.say(&execution.attempt.task, &format!("{} {}", issue.code, issue.message));
        }
    }

    pub(super) fn published(&mut self, published: Published, batch: &mut Batch) {
        match published {
            Published::Attempt(execution) => {
                self.decide(Input::Published { execution }, batch);
            }
            Published::Over(run, state) => {
                if let Some(active) = self.runs.get_mut(&run) {
                    active.figures.over = Some(state);
                }
            }
            Published::Trouble(run, trouble) => {
                let input = match &trouble {
                    Some(reason) => Input::PauseRun { run: run.clone(), reason: reason.clone() },
                    None => Input::ResumeRun { run: run.clone() },
                };
                self.decide(input, batch);
                if let Some(active) = self.runs.get_mut(&run) {
                    active.figures.trouble = trouble;
                }
            }
        }
    }

    pub(super) fn to_publisher(&self, run: &RunId, job: Job) {
        match self.runs.get(run) {
            // A publisher ends only with its run, and then nothing is to be written.
            Some(active) => drop(active.publisher.send(job)),
            None => tracing::debug!(%run, "nothing is written for a run that is not being carried out"),
        }
    }

    /// Stops giving out work, lets judgings and writing come to their end, and then lets the caller know.
    pub(super) fn shut_down(&mut self, ending: Ending, reply: Answer<()>, batch: &mut Batch) {
        self.closing = true;
        batch.after.push(Box::new(move |actor| {
            let judging: Vec<_> = std::mem::take(&mut actor.judging).into_iter().collect();
            let mailbox = actor.mailbox.clone();
            actor.errand(async move {
                for task in judging {
                    // A judging that panicked is judged again after the restart.
                    let _ = task.await;
                }
                let _ = mailbox.send(Message::Close { ending, reply }).await;
            });
        }));
    }

    /// The second half of a shutdown: nothing is judged any more, so the publishers can end.
    pub(super) fn close(&mut self, ending: Ending, reply: Answer<()>, batch: &mut Batch) {
        batch.after.push(Box::new(move |actor| {
            let mut publishing = Vec::new();
            for (id, active) in &mut actor.runs {
                let over = active.figures.over.is_some();
                if !over {
                    drop(active.publisher.send(Job::Interrupt(ending.clone())));
                    tracing::info!(run = %id, "interrupted");
                    active.figures.over = Some(State::Cancelled);
                }
                let (closed, _) = mpsc::unbounded_channel();
                active.publisher = closed;
                publishing.extend(active.publishing.take());
            }
            actor.errand(async move {
                for task in publishing {
                    let _ = task.await;
                }
                answer(reply, Ok(()));
            });
        }));
    }

    pub(super) fn show_progress(&self) {
        let workers = self.state.workers().count();
        let now = self.clock.monotonic();
        for (id, active) in &self.runs {
            if let Some(view) = self.state.run_of(id) {
                let paused = match view.state {
                    RunState::Paused { reason } => Some(reason.as_str()),
                    _ => None,
                };
                active.show(&view.tally, paused, workers, now);
            }
        }
    }

    /// Shows trouble of the coordinator itself at every run.
    pub(super) fn show_trouble(&self, text: &str) {
        for active in self.runs.values() {
            active.progress.send_modify(|progress| progress.state = State::Paused(text.to_owned()));
        }
    }
}
