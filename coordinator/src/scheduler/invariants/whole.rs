//! Does everything hold in this state?

use super::{Invariant, Violation};
use crate::scheduler::{
    queue::Queues,
    state::{Attempt, RunState, Stage, State},
};

/// All that is wrong with a state. Looks at every attempt.
#[must_use]
pub fn check(state: &State) -> Vec<Violation> {
    let mut violations = Vec::new();
    if Queues::of(&state.runs).derived() != state.queues.clone().derived() {
        violations.push(Violation::new(Invariant::QueuesAgree, "kept and derived queues differ"));
    }
    for run in &state.runs {
        let id = &run.plan.id;
        for (attempt, index) in run.attempts.iter().zip(0..) {
            let k = run.plan.k;
            let place = || format!("{id}/{}#{}", run.plan.tasks[(index / k) as usize], index % k + 1);
            numbers(attempt, &place, &mut violations);
            let open = !matches!(attempt.stage, Stage::Done { .. });
            if open && run.state == RunState::Finished {
                violations.push(Violation::new(Invariant::RunStateHolds, format!("{} is open", place())));
            }
            let leased = matches!(attempt.stage, Stage::Leased { .. } | Stage::Judging { .. });
            if leased && matches!(run.state, RunState::Cancelled { .. }) {
                violations.push(Violation::new(Invariant::RunStateHolds, format!("{} goes on", place())));
            }
        }
    }
    for (session, worker) in &state.workers {
        let others = state.workers.iter().filter(|(other, found)| *other != session && found.name == worker.name);
        if others.count() > 0 {
            violations.push(Violation::new(Invariant::KnownNames, format!("worker {} has two sessions", worker.name)));
        }
    }
    violations
}

/// Execution numbers tell a straight story: 1, 2, 3 and so on, each discarded but perhaps the last. An adopted attempt
/// that was requeued begins with 0.
fn numbers(attempt: &Attempt, place: &dyn Fn() -> String, violations: &mut Vec<Violation>) {
    let discarded: Vec<u64> = attempt.discarded.iter().map(|discarded| discarded.execution).collect();
    let first = if discarded.first() == Some(&0) { 0 } else { 1 };
    let in_order = discarded.iter().copied().eq(first..first + discarded.len() as u64);
    let gone = discarded.iter().filter(|execution| **execution > 0).count() as u64;
    let all = attempt.executions;
    let fits = match &attempt.stage {
        Stage::Ready { .. } => gone == all,
        Stage::Leased { execution, .. } => *execution == all && gone + 1 == all,
        Stage::Answered { answer } | Stage::Judging { answer } | Stage::JudgeWait { answer, .. } => {
            answer.execution == all && gone + 1 == all
        }
        // One that lost its worker too often is discarded and has the last word.
        Stage::Settled { outcome } | Stage::Done { outcome } => {
            outcome.execution == all && (gone == all || gone + 1 == all)
        }
    };
    if !in_order || !fits {
        let story = format!("{}: {all} executions, {discarded:?} discarded, {:?}", place(), attempt.stage);
        violations.push(Violation::new(Invariant::OneLiveLease, story));
    }
}
