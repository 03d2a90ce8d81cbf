//! The indices that keep a decision from scanning all attempts. They are derived: `Queues::of` makes them from the
//! stages, and an invariant says that the kept ones equal the made ones.
//!
//! # Which run is next
//!
//! Start-time fair queueing. A run's start tag is the larger of the virtual time and its own finish tag; among the
//! runs that can start something, the one with the smallest start tag is next (the earlier submitted among equals).
//! A grant sets the virtual time to that start tag and the run's finish tag to it plus `STRIDE / weight`. So over any
//! stretch in which two runs both have work, their grants stand in the ratio of their weights, and a run that had
//! nothing to do for a while neither saves up turns nor has to catch up. All tags follow from `LeaseGranted` events,
//! so a replay restores them.

#![warn(clippy::wildcard_enum_match_arm, reason = "a new stage or event must be thought of here")]

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{
    plan::RunPlan,
    state::{Place, Run, Stage, Tally, Wait},
};

/// What one grant costs a run of weight 1. Divisible enough that weights up to thousands keep their ratios.
pub(super) const STRIDE: u64 = 1 << 32;

/// The start tag of a run.
pub(super) fn start_tag(virtual_time: u64, finish_tag: u64) -> u64 {
    virtual_time.max(finish_tag)
}

/// The finish tag after a grant that began at `start`.
pub(super) fn finish_tag(start: u64, weight: u32) -> u64 {
    start.saturating_add((STRIDE / u64::from(weight.max(1))).max(1))
}

/// All indices over the stages of all attempts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queues {
    runs: Vec<RunQueue>,
    /// Ends of delays and leases.
    timers: BTreeSet<(Duration, Place)>,
    /// Live leases by the worker's name.
    holders: BTreeMap<String, BTreeSet<Place>>,
    endpoints: BTreeMap<String, Endpoint>,
    settled: BTreeSet<Place>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct RunQueue {
    /// (rank, attempt) of what waits for a worker.
    ready: BTreeSet<(u32, u32)>,
    /// (has an answer, attempt): those without one need no judge call and go first.
    to_judge: BTreeSet<(bool, u32)>,
    tally: Tally,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Endpoint {
    in_flight: u32,
    /// Soft: set by the engine, not derived.
    allowance: Option<u32>,
}

impl Queues {
    /// The queues of these runs, without allowances.
    pub(super) fn of(runs: &[Run]) -> Self {
        let mut queues = Self::default();
        for (run, number) in runs.iter().zip(0u32..) {
            queues.add_run();
            for (attempt, index) in run.attempts.iter().zip(0u32..) {
                let place = Place { run: number, attempt: index };
                queues.enter(&run.plan, run.rank(place), place, &attempt.stage);
            }
        }
        queues
    }

    /// The queues without what is not derived, for comparison.
    pub(super) fn derived(mut self) -> Self {
        self.endpoints.retain(|_, endpoint| {
            endpoint.allowance = None;
            endpoint.in_flight > 0
        });
        self
    }

    /// Takes the allowances of `earlier` over.
    pub(super) fn keep_allowances(&mut self, earlier: Self) {
        for (name, endpoint) in earlier.endpoints {
            if endpoint.allowance.is_some() {
                self.set_allowance(&name, endpoint.allowance);
            }
        }
    }

    pub(super) fn add_run(&mut self) {
        self.runs.push(RunQueue::default());
    }

    /// Enters an attempt that is in `stage`.
    pub(super) fn enter(&mut self, plan: &RunPlan, rank: u32, place: Place, stage: &Stage) {
        if let Some(at) = stage.deadline() {
            self.timers.insert((at, place));
        }
        let queue = &mut self.runs[place.run as usize];
        *queue.tally.field(stage) += 1;
        match stage {
            Stage::Ready { wait: Wait::Over } => {
                queue.ready.insert((rank, place.attempt));
            }
            Stage::Leased { worker, .. } => {
                if let Some(places) = self.holders.get_mut(worker) {
                    places.insert(place);
                } else {
                    self.holders.insert(worker.clone(), BTreeSet::from([place]));
                }
            }
            Stage::Answered { answer } => {
                queue.to_judge.insert((answer.has_answer, place.attempt));
            }
            Stage::Settled { .. } => {
                self.settled.insert(place);
            }
            Stage::Ready { .. } | Stage::Judging { .. } | Stage::JudgeWait { .. } | Stage::Done { .. } => {}
        }
        if let Some(name) = endpoint_in_use(plan, stage) {
            if let Some(endpoint) = self.endpoints.get_mut(name) {
                endpoint.in_flight += 1;
            } else {
                self.endpoints.insert(name.to_owned(), Endpoint { in_flight: 1, allowance: None });
            }
        }
    }

    /// Removes an attempt that was in `stage`.
    pub(super) fn leave(&mut self, plan: &RunPlan, rank: u32, place: Place, stage: &Stage) {
        if let Some(at) = stage.deadline() {
            self.timers.remove(&(at, place));
        }
        let queue = &mut self.runs[place.run as usize];
        *queue.tally.field(stage) -= 1;
        match stage {
            Stage::Ready { wait: Wait::Over } => {
                queue.ready.remove(&(rank, place.attempt));
            }
            Stage::Leased { worker, .. } => {
                if let Some(places) = self.holders.get_mut(worker) {
                    places.remove(&place);
                    if places.is_empty() {
                        self.holders.remove(worker);
                    }
                }
            }
            Stage::Answered { answer } => {
                queue.to_judge.remove(&(answer.has_answer, place.attempt));
            }
            Stage::Settled { .. } => {
                self.settled.remove(&place);
            }
            Stage::Ready { .. } | Stage::Judging { .. } | Stage::JudgeWait { .. } | Stage::Done { .. } => {}
        }
        if let Some(name) = endpoint_in_use(plan, stage)
            && let Some(endpoint) = self.endpoints.get_mut(name)
        {
            endpoint.in_flight -= 1;
            if endpoint.in_flight == 0 && endpoint.allowance.is_none() {
                self.endpoints.remove(name);
            }
        }
    }

    pub(super) fn set_allowance(&mut self, endpoint: &str, max_in_flight: Option<u32>) {
        let entry = self.endpoints.entry(endpoint.to_owned()).or_default();
        entry.allowance = max_in_flight;
        if entry.in_flight == 0 && max_in_flight.is_none() {
            self.endpoints.remove(endpoint);
        }
    }

    /// How many more executions or judgings the endpoint may have.
    pub(super) fn room_at(&self, endpoint: &str) -> u32 {
        self.endpoints
            .get(endpoint)
            .and_then(|endpoint| Some(endpoint.allowance?.saturating_sub(endpoint.in_flight)))
            .unwrap_or(u32::MAX)
    }

    /// Attempts of a run that wait for a worker, next first.
    pub(super) fn ready(&self, run: usize) -> impl Iterator<Item = Place> {
        let number = u32::try_from(run).unwrap_or(u32::MAX);
        self.runs[run].ready.iter().map(move |(_, attempt)| Place { run: number, attempt: *attempt })
    }

    /// Attempts of a run that wait for the judge with whether they have an answer, next first.
    pub(super) fn to_judge(&self, run: usize) -> impl Iterator<Item = (bool, Place)> {
        let number = u32::try_from(run).unwrap_or(u32::MAX);
        self.runs[run].to_judge.iter().map(move |(has, attempt)| (*has, Place { run: number, attempt: *attempt }))
    }

    pub(super) fn tally(&self, run: usize) -> Tally {
        self.runs[run].tally
    }

    /// Live leases of a worker.
    pub(super) fn held_by(&self, worker: &str) -> impl Iterator<Item = Place> {
        self.holders.get(worker).into_iter().flatten().copied()
    }

    pub(super) fn leases_of(&self, worker: &str) -> u32 {
        self.holders.get(worker).map_or(0, |places| u32::try_from(places.len()).unwrap_or(u32::MAX))
    }

    /// All live leases.
    pub(super) fn leases(&self) -> impl Iterator<Item = Place> {
        self.holders.values().flatten().copied()
    }

    /// Delays and leases that end at `now` or before, earliest first.
    pub(super) fn due(&self, now: Duration) -> impl Iterator<Item = (Duration, Place)> {
        self.timers.iter().copied().take_while(move |(at, _)| *at <= now)
    }

    pub(super) fn next_timer(&self) -> Option<Duration> {
        self.timers.first().map(|(at, _)| *at)
    }

    pub(super) fn settled(&self) -> impl Iterator<Item = Place> {
        self.settled.iter().copied()
    }
}

/// The endpoint that an attempt in this stage is using.
fn endpoint_in_use<'a>(plan: &'a RunPlan, stage: &Stage) -> Option<&'a str> {
    match stage {
        Stage::Leased { .. } => Some(&plan.endpoint),
        Stage::Judging { answer } if answer.has_answer => plan.judge_endpoint.as_deref(),
        Stage::Judging { .. }
        | Stage::Ready { .. }
        | Stage::Answered { .. }
        | Stage::JudgeWait { .. }
        | Stage::Settled { .. }
        | Stage::Done { .. } => None,
    }
}
