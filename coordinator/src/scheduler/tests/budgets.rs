//! Retries: what is retried, how often, after how long, and what is never replaced.

use argosy_shared::issue::{Code, Severity};

use super::world::{World, attempt, blob, error, execution, fatal, secs};
use crate::scheduler::{Effect, Event, Input, Reply, RetryScope, Stage};

#[test]
fn fatal_is_retried_while_there_is_budget_and_then_stands() {
    let mut world = World::with(&["a"], |plan| plan.policy.max_retries = 2);
    for retry in 1..=2u32 {
        let key = world.one("w");
        assert_eq!(key, execution("a", u64::from(retry)));
        assert_eq!(world.upload(&key, fatal()), Reply::ResultAccepted);
        let [Effect::WriteRetry(notice)] = &world.take_effects()[..] else { panic!() };
        assert_eq!((notice.retry, notice.max_retries, notice.scope), (retry, 2, RetryScope::Attempt));
        assert_eq!((notice.matched.as_str(), &notice.issues), ("fatal", &fatal()));
        let bound = secs(5) * retry;
        assert!(notice.delay >= bound / 2 && notice.delay <= bound, "{:?}", notice.delay);
        // The wait holds no slot and ends when it says.
        assert_eq!(world.state.workers().next().unwrap().leases, 0);
        world.pass(notice.delay - secs(1));
        assert_eq!(world.lease("w", 8), []);
        world.pass(secs(1));
    }
    let last = world.one("w");
    world.upload(&last, fatal());
    let outcome = world.stage("a").outcome().unwrap();
    assert_eq!((outcome.severity, outcome.execution), (Some(Severity::Fatal), 3));
    assert_eq!(outcome.result, Some(blob(&last, "result")), "its issues are in the result");
    assert_eq!(world.take_effects(), [Effect::Publish(attempt("a"))]);
    let published = world.state.final_attempt(&attempt("a")).unwrap();
    assert_eq!((published.retries, published.discarded.len(), published.last_of_task), (2, 2, true));
    assert_eq!(published.discarded[0].result, Some(blob(&execution("a", 1), "result")));
}

#[test]
fn an_error_stands_unless_a_pattern_says_otherwise() {
    let mut world = World::with(&["a"], |plan| plan.policy.max_retries = 5);
    let key = world.one("w");
    world.upload(&key, error());
    assert!(matches!(world.stage("a"), Stage::Answered { .. }));

    let mut world = World::with(&["a"], |plan| {
        plan.policy.max_retries = 1;
        plan.policy.retry_pattern_list = vec!["^model_output_invalid$".to_owned()];
    });
    let key = world.one("w");
    world.upload(&key, error());
    let [Effect::WriteRetry(notice)] = &world.take_effects()[..] else { panic!() };
    assert_eq!(notice.matched, "^model_output_invalid$");
    world.pass(secs(5));
    let key = world.one("w");
    world.upload(&key, error());
    assert!(matches!(world.stage("a"), Stage::Answered { .. }), "out of budget it is scored like any other");
}

#[test]
fn a_valid_result_is_never_replaced() {
    let mut world = World::with(&["a"], |plan| plan.policy.max_retries = 5);
    let key = world.one("w");
    world.answer(&key);
    // Neither a worse result of the same execution, nor another execution, nor an operator changes it.
    assert_eq!(world.upload(&key, fatal()), Reply::ResultDuplicate);
    assert_eq!(world.lease("w", 8), []);
    world.jobs(1);
    world.judged(&key);
    world.published(&key);
    let before = world.state.clone();
    world.step(Input::RequeueRun { run: attempt("a").run });
    world.judged(&key);
    world.judge_fails(&key);
    world.published(&key);
    world.upload(&execution("a", 2), vec![]);
    assert_eq!(world.state, before);
}

#[test]
fn an_attempt_of_many_fates_counts_each_in_its_own_budget() {
    let mut world = World::with(&["a"], |plan| {
        plan.policy.max_retries = 2;
        plan.policy.max_lease_losses = 1;
    });
    let first = world.one("w");
    world.upload(&first, fatal());
    world.pass(secs(5));
    world.one("w");
    world.join_as("w2", "w", 8);
    world.renew("w2", &[]);
    let third = world.one("w2");
    world.answer(&third);
    world.jobs(1);
    world.judge_fails(&third);
    world.pass(secs(10));
    world.jobs(1);
    world.judged(&third);
    let found = world.state.attempt(&attempt("a")).unwrap();
    assert_eq!((found.executions, found.retries, found.lease_losses), (3, 2, 1));
    assert_eq!(found.stage.outcome().unwrap().severity, None);
}

#[test]
fn requeued_fatals_start_with_fresh_budgets_and_everything_else_stays() {
    let mut world = World::with(&["a", "b"], |_| {});
    let (a, b) = (world.one("w"), world.one("w"));
    world.upload(&a, fatal());
    world.published(&a);
    world.finish(&b);
    assert_eq!(world.run_state().as_str(), "finished");
    assert_eq!(world.step(Input::RequeueRun { run: a.attempt.run.clone() }), Reply::Ok);
    assert_eq!(world.run_state().as_str(), "running");
    let again = world.lease("w", 8);
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].execution, execution("a", 2));
    assert_eq!(again[0].lost_before, [0; 0]);
    world.finish(&again[0].execution);
    assert_eq!(world.run_state().as_str(), "finished");
    let tally = world.state.run_of(&a.attempt.run).unwrap().tally;
    assert_eq!((tally.normal, tally.fatal, tally.total()), (2, 0, 2));
}

#[test]
fn a_task_that_killed_every_worker_can_be_requeued() {
    let mut world = World::with(&["a"], |plan| plan.policy.max_lease_losses = 0);
    let a = world.one("w");
    world.pass(super::world::LEASE);
    world.published(&a);
    assert_eq!(world.stage("a").outcome().unwrap().issues[0].code, Code::WorkerLost);
    world.step(Input::RequeueRun { run: a.attempt.run.clone() });
    world.join("w", 8);
    let again = world.one("w");
    world.finish(&again);
    assert!(world.journal.contains(&Event::AttemptRequeued { execution: a }));
}
