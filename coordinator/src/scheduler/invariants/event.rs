//! May this event follow in this state?

use argosy_shared::{
    id::{ExecutionKey, RunId},
    issue::Issue,
    spec::JudgeRetry,
};

use super::{Invariant, Violation};
use crate::scheduler::{
    event::Event,
    policy::{FATAL, validate},
    state::{Answer, Attempt, Place, Run, RunState, Stage, State, Wait},
};

/// Whether `event` may follow in `state`. Constant time, but for `RunAdded` and `RunFinished`.
///
/// # Errors
/// The invariant that the event would break.
pub fn check_event(state: &State, event: &Event) -> Result<(), Violation> {
    match event {
        Event::RunAdded { plan } => {
            validate(plan).map_err(|error| Violation::new(Invariant::KnownNames, error.to_string()))?;
            let known = state.by_id.contains_key(&plan.id);
            require(!known, Invariant::KnownNames, || format!("run {} is added twice", plan.id))
        }
        Event::RunPolicyChanged { run, .. } | Event::RunRespecified { run, .. } => run_of(state, run).map(|_| ()),
        Event::RunPaused { run, .. } => in_state(state, run, |state| *state == RunState::Running),
        Event::RunResumed { run } => in_state(state, run, |state| *state != RunState::Running),
        Event::RunCancelled { run, .. } => {
            in_state(state, run, |state| matches!(state, RunState::Running | RunState::Paused { .. }))
        }
        Event::RunFinished { run } => {
            in_state(state, run, |state| *state != RunState::Finished)?;
            let tally = state.queues.tally(state.by_id[run] as usize);
            let open = tally.total() - tally.done();
            require(open == 0, Invariant::RunStateHolds, || format!("run {run} is finished with {open} attempts open"))
        }
        Event::LeaseGranted { execution, worker } => grant(state, execution, worker),
        Event::LeaseLost { execution, .. }
        | Event::LeaseReleased { execution, .. }
        | Event::ResultStored { execution, .. } => live(state, execution).map(|_| ()),
        Event::AttemptRetried { execution, matched, retry, .. } => {
            let (run, attempt, answer) = answered(state, execution)?;
            within_retries(run, attempt, *retry, execution)?;
            let failed = answer.issues.iter().any(Issue::is_fatal) || matched != FATAL;
            let by_judge = run.plan.policy.judge_retry == JudgeRetry::Attempt;
            require(failed || by_judge, Invariant::ValidResultStays, || {
                format!("{execution} is run again although its result is valid")
            })?;
            let stands = matches!(attempt.stage, Stage::Judging { .. } | Stage::JudgeWait { .. }) && !by_judge;
            require(!stands, Invariant::AnsweredStays, || format!("{execution} is run again because of its judge"))
        }
        Event::JudgeAttemptFailed { execution, retry, .. } => {
            let (run, attempt, _) = answered(state, execution)?;
            within_retries(run, attempt, *retry, execution)
        }
        Event::Judged { execution, .. } => {
            let (_, _, answer) = answered(state, execution)?;
            let fatal = answer.issues.iter().any(Issue::is_fatal);
            require(!fatal, Invariant::ValidResultStays, || format!("{execution} is FATAL and was judged"))
        }
        Event::AttemptFailed { execution, .. } => failed(state, execution),
        Event::AttemptDone { execution, severity } => {
            let (_, attempt) = find(state, execution)?;
            let settled = match &attempt.stage {
                Stage::Settled { outcome } => outcome.execution == execution.execution && outcome.severity == *severity,
                _ => false,
            };
            require(settled, Invariant::DoneIsFinal, || format!("{execution} is done without having been settled so"))
        }
        Event::AttemptRequeued { execution } => {
            let (place, attempt) = find(state, execution)?;
            let fatal = match &attempt.stage {
                Stage::Done { outcome } => outcome.execution == execution.execution && !outcome.is_valid(),
                _ => false,
            };
            require(fatal, Invariant::DoneIsFinal, || format!("{execution} is requeued without being done FATAL"))?;
            let finished = state.run(place).state == RunState::Finished;
            require(!finished, Invariant::RunStateHolds, || format!("{execution} is requeued in a finished run"))
        }
    }
}

fn grant(state: &State, execution: &ExecutionKey, worker: &str) -> Result<(), Violation> {
    let (place, attempt) = find(state, execution)?;
    let run = state.run(place);
    require(run.state == RunState::Running, Invariant::RunStateHolds, || {
        format!("{execution} is leased in a run that is {}", run.state.as_str())
    })?;
    // A replay has not started the delays' clocks.
    let ready = matches!(attempt.stage, Stage::Ready { wait: Wait::Over | Wait::For(_) });
    let next = execution.execution == attempt.executions + 1;
    require(ready && next, Invariant::OneLiveLease, || {
        format!("{execution} is leased after execution {} in stage {:?}", attempt.executions, attempt.stage)
    })?;
    let leased = state.queues.tally(place.run as usize).leased;
    let allowed = run.plan.policy.task_concurrency;
    require(leased < allowed, Invariant::WithinSlots, || format!("{execution} is lease {} of {allowed}", leased + 1))?;
    require(state.queues.room_at(&run.plan.endpoint) > 0, Invariant::WithinSlots, || {
        format!("{execution} is beyond the allowance of {}", run.plan.endpoint)
    })?;
    // Workers are soft: a replay knows none.
    let known = state.workers.values().find(|known| known.name == worker);
    let room = known.is_none_or(|known| state.queues.leases_of(worker) < known.slots);
    require(room, Invariant::WithinSlots, || format!("{execution} is beyond the slots of {worker}"))
}

/// A last execution may end as FATAL when its budget is used up.
fn failed(state: &State, execution: &ExecutionKey) -> Result<(), Violation> {
    let (place, attempt) = find(state, execution)?;
    let policy = &state.run(place).plan.policy;
    if let Some(answer) = attempt.stage.answer() {
        require(answer.execution == execution.execution, Invariant::StaleChangesNothing, || {
            format!("{execution} fails, but execution {} answered", answer.execution)
        })?;
        return require(attempt.retries >= policy.max_retries, Invariant::WithinBudget, || {
            format!("{execution} fails after {} of {} retries", attempt.retries, policy.max_retries)
        });
    }
    let lost = matches!(attempt.stage, Stage::Ready { .. }) && attempt.executions == execution.execution;
    require(lost, Invariant::StaleChangesNothing, || format!("{execution} fails in stage {:?}", attempt.stage))?;
    require(attempt.lease_losses > policy.max_lease_losses, Invariant::WithinBudget, || {
        format!("{execution} fails after {} of {} lost leases", attempt.lease_losses, policy.max_lease_losses)
    })
}

fn within_retries(run: &Run, attempt: &Attempt, retry: u32, execution: &ExecutionKey) -> Result<(), Violation> {
    let budget = run.plan.policy.max_retries;
    require(retry == attempt.retries + 1 && retry <= budget, Invariant::WithinBudget, || {
        format!("{execution}: retry {retry} after {} of {budget}", attempt.retries)
    })
}

fn live<'a>(state: &'a State, execution: &ExecutionKey) -> Result<(Place, &'a Attempt), Violation> {
    let found = find(state, execution)?;
    require(state.is_live(execution), Invariant::StaleChangesNothing, || {
        format!("{execution} has no live lease: {:?}", found.1.stage)
    })?;
    Ok(found)
}

fn answered<'a>(state: &'a State, execution: &ExecutionKey) -> Result<(&'a Run, &'a Attempt, &'a Answer), Violation> {
    let (place, attempt) = find(state, execution)?;
    let answer = attempt.stage.answer().filter(|answer| answer.execution == execution.execution);
    let answer = answer.ok_or_else(|| {
        let final_already = attempt.stage.outcome().is_some();
        let invariant = if final_already { Invariant::DoneIsFinal } else { Invariant::StaleChangesNothing };
        Violation::new(invariant, format!("{execution} has no answer that waits: {:?}", attempt.stage))
    })?;
    Ok((state.run(place), attempt, answer))
}

fn find<'a>(state: &'a State, execution: &ExecutionKey) -> Result<(Place, &'a Attempt), Violation> {
    let place = state.place(&execution.attempt);
    let place = place.ok_or_else(|| Violation::new(Invariant::KnownNames, format!("{execution} is of no attempt")))?;
    Ok((place, state.at(place)))
}

fn run_of<'a>(state: &'a State, id: &RunId) -> Result<&'a Run, Violation> {
    let number = state.by_id.get(id);
    let number = number.ok_or_else(|| Violation::new(Invariant::KnownNames, format!("there is no run {id}")))?;
    Ok(&state.runs[*number as usize])
}

fn in_state(state: &State, id: &RunId, fits: impl FnOnce(&RunState) -> bool) -> Result<(), Violation> {
    let run = run_of(state, id)?;
    require(fits(&run.state), Invariant::RunStateHolds, || format!("run {id} is {}", run.state.as_str()))
}

fn require(holds: bool, invariant: Invariant, place: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation::new(invariant, place())) }
}
