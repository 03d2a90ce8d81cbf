//! Judging: in the coordinator, after the answer is durable, repeated alone.

use argosy_shared::{
    issue::{Code, Issue, Phase, Severity},
    spec::JudgeRetry,
};

use super::world::{World, attempt, blob, execution, secs};
use crate::scheduler::{Effect, Input, Judgement, Reply, RetryScope, Stage};

#[test]
fn a_failed_judging_repeats_the_judging_and_not_the_agent() {
    let mut world = World::with(&["a"], |plan| plan.policy.max_retries = 1);
    let key = world.one("w");
    world.answer(&key);
    world.jobs(1);
    world.judge_fails(&key);
    let [Effect::WriteRetry(notice)] = &world.take_effects()[..] else { panic!() };
    assert_eq!((notice.scope, notice.retry), (RetryScope::Evaluate, 1));
    assert_eq!(world.jobs(1), [], "it waits");
    assert_eq!(world.lease("w", 8), [], "and no agent runs");
    world.pass(notice.delay);
    let jobs = world.jobs(1);
    assert_eq!(jobs[0].execution, key);
    assert_eq!(jobs[0].result, blob(&key, "result"));
    world.judged(&key);
    let outcome = world.stage("a").outcome().unwrap();
    assert_eq!((outcome.severity, outcome.judgement.as_ref()), (None, Some(&blob(&key, "judgement"))));
}

#[test]
fn without_budget_a_failed_judging_is_fatal_and_keeps_the_answer() {
    let mut world = World::with(&["a"], |_| {});
    let key = world.one("w");
    world.answer(&key);
    world.jobs(1);
    world.judge_fails(&key);
    let outcome = world.stage("a").outcome().unwrap();
    assert_eq!(outcome.severity, Some(Severity::Fatal));
    assert_eq!(outcome.issues[0].code, Code::JudgeFailed);
    assert_eq!((outcome.result.as_ref(), outcome.judgement.as_ref()), (Some(&blob(&key, "result")), None));
    assert_eq!(world.take_effects(), [Effect::Publish(attempt("a"))]);
}

#[test]
fn judge_retry_attempt_runs_the_agent_again_as_agentcompass_does() {
    let mut world = World::with(&["a"], |plan| {
        plan.policy.max_retries = 1;
        plan.policy.judge_retry = JudgeRetry::Attempt;
    });
    let key = world.one("w");
    world.answer(&key);
    world.jobs(1);
    world.judge_fails(&key);
    let [Effect::WriteRetry(notice)] = &world.take_effects()[..] else { panic!() };
    assert_eq!(notice.scope, RetryScope::Attempt);
    world.pass(secs(5));
    let again = world.one("w");
    assert_eq!(again, execution("a", 2));
    world.finish(&again);
}

#[test]
fn a_judgement_with_a_fatal_issue_is_a_failure() {
    let mut world = World::with(&["a"], |_| {});
    let key = world.one("w");
    world.answer(&key);
    world.jobs(1);
    let issues = vec![Issue::new(Phase::Evaluate, Code::JudgeInvalidOutput, "prose")];
    let judgement = Judgement { record: blob(&key, "judgement"), issues: issues.clone() };
    world.step(Input::Judged { execution: key, judgement });
    let outcome = world.stage("a").outcome().unwrap();
    assert_eq!((outcome.severity, &outcome.issues), (Some(Severity::Fatal), &issues));
}

#[test]
fn a_failure_always_has_a_fatal_issue() {
    let mut world = World::with(&["a"], |_| {});
    let key = world.one("w");
    world.answer(&key);
    world.jobs(1);
    world.step(Input::JudgeFailed { execution: key, issues: vec![] });
    assert!(world.stage("a").outcome().unwrap().issues.iter().any(Issue::is_fatal));
}

#[test]
fn warnings_of_the_judge_join_the_outcome() {
    let mut world = World::with(&["a"], |_| {});
    let key = world.one("w");
    world.answer(&key);
    world.jobs(1);
    let issues = vec![Issue::new(Phase::Evaluate, Code::JudgeCountAdjusted, "3 of 2")];
    let judgement = Judgement { record: blob(&key, "judgement"), issues: issues.clone() };
    world.step(Input::Judged { execution: key, judgement });
    let outcome = world.stage("a").outcome().unwrap();
    assert_eq!((outcome.severity, &outcome.issues), (Some(Severity::Warning), &issues));
}

#[test]
fn nothing_is_judged_twice_at_once_and_only_what_was_handed_out_is_accepted() {
    let mut world = World::with(&["a"], |_| {});
    let key = world.one("w");
    world.answer(&key);
    assert_eq!(world.judged(&key), Reply::StaleJudgement, "nobody was asked");
    assert_eq!(world.jobs(5).len(), 1);
    assert_eq!(world.jobs(5), []);
    assert_eq!(world.judged(&execution("a", 7)), Reply::StaleJudgement);
    assert_eq!(world.judged(&key), Reply::Ok);
    assert_eq!(world.judged(&key), Reply::StaleJudgement);
    assert_eq!(world.judge_fails(&key), Reply::StaleJudgement);
}

#[test]
fn a_judging_that_is_given_up_costs_nothing() {
    let mut world = World::with(&["a"], |_| {});
    let key = world.one("w");
    world.answer(&key);
    world.jobs(1);
    assert_eq!(world.step(Input::JudgeReleased { execution: key.clone() }), Reply::Ok);
    assert_eq!(world.state.attempt(&attempt("a")).unwrap().retries, 0);
    assert_eq!(world.jobs(1)[0].execution, key);
}

#[test]
fn after_a_restart_what_was_in_judgement_is_judged_again_and_nothing_else_is_done_again() {
    let mut world = World::with(&["a", "b"], |plan| plan.policy.max_retries = 1);
    let (a, b) = (world.one("w"), world.one("w"));
    world.answer(&a);
    world.answer(&b);
    world.jobs(2);
    world.judge_fails(&b);
    world.restart();
    world.join("w", 8);
    assert_eq!(world.lease("w", 8), [], "no agent runs again");
    let jobs = world.jobs(5);
    assert_eq!(jobs.len(), 1);
    assert_eq!(jobs[0].execution, a);
    world.pass(secs(5));
    assert_eq!(world.jobs(5)[0].execution, b, "its delay began anew");
}

#[test]
fn the_judges_allowance_bounds_calls_and_not_zeros() {
    let mut world = World::with(&["a", "b", "c"], |plan| plan.judge_endpoint = Some("judge".to_owned()));
    let keys = [world.one("w"), world.one("w"), world.one("w")];
    world.step(Input::SetAllowance { endpoint: "judge".to_owned(), max_in_flight: Some(1) });
    world.answer(&keys[0]);
    world.answer(&keys[1]);
    world.upload(&keys[2], super::world::error());
    let jobs = world.jobs(5);
    let order: Vec<_> = jobs.iter().map(|job| job.execution.attempt.task.as_str()).collect();
    assert_eq!(order, ["c", "a"]);
    assert!(!world.state.has_judging());
    world.judged(&keys[0]);
    assert_eq!(world.jobs(5)[0].execution, keys[1]);
}

#[test]
fn runs_share_the_judge_pool() {
    let mut world = World::with(&["a", "b", "c"], |_| {});
    world.step(Input::RunSubmitted(Box::new(super::world::plan("s", &["x", "y"]))));
    for grant in world.lease("w", 8) {
        world.answer(&grant.execution);
    }
    let order: Vec<_> = world.jobs(4).into_iter().map(|job| job.execution.attempt.task.0).collect();
    assert_eq!(order, ["a", "x", "b", "y"]);
    assert!(matches!(world.stage("c"), Stage::Answered { .. }));
}
