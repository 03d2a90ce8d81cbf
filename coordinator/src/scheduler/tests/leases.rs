//! Leases: granted, renewed, lost, fenced.

use argosy_shared::issue::{Code, Severity};

use super::world::{LEASE, World, attempt, error, execution, fatal, secs, tasks_of};
use crate::scheduler::{Departure, Effect, Event, Input, Reply, SessionId, Stage, event::LossReason};

#[test]
fn work_is_given_in_dataset_order_within_free_slots() {
    let mut world = World::with(&["a", "b", "c", "d"], |_| {});
    world.join("small", 1);
    assert_eq!(tasks_of(&world.lease("w", 2)), ["a", "b"]);
    assert_eq!(tasks_of(&world.lease("small", 8)), ["c"], "one slot, whatever it asks for");
    assert_eq!(tasks_of(&world.lease("small", 8)), [""; 0]);
    assert_eq!(tasks_of(&world.lease("w", 8)), ["d"]);
}

#[test]
fn all_attempts_of_a_task_come_before_the_next_task() {
    let mut world = World::with(&["a", "b"], |plan| plan.k = 2);
    let grants = world.lease("w", 8);
    let order: Vec<_> = grants.iter().map(|grant| grant.execution.to_string()).collect();
    assert_eq!(order, ["r/a#1.1", "r/a#2.1", "r/b#1.1", "r/b#2.1"]);
}

#[test]
fn task_concurrency_bounds_the_leases_of_a_run() {
    let mut world = World::with(&["a", "b", "c"], |plan| plan.policy.task_concurrency = 2);
    let grants = world.lease("w", 8);
    assert_eq!(tasks_of(&grants), ["a", "b"]);
    world.answer(&grants[0].execution);
    assert_eq!(tasks_of(&world.lease("w", 8)), ["c"], "an answer that waits for the judge holds no slot");
}

#[test]
fn a_lease_that_is_renewed_lives_and_one_that_is_not_dies() {
    let mut world = World::with(&["a", "b"], |_| {});
    let (a, b) = (world.one("w"), world.one("w"));
    for _ in 0..10 {
        world.pass(LEASE / 2);
        assert_eq!(world.renew("w", &[&a]), []);
    }
    assert_eq!(world.stage("a").deadline(), Some(world.now + LEASE));
    assert_eq!(world.state.holder(&a), Some("w"));
    assert!(!world.state.is_live(&b));
    assert!(world.journal.contains(&Event::LeaseLost { execution: b, reason: LossReason::Expired }));
}

#[test]
fn a_late_result_changes_nothing_and_is_kept_as_evidence() {
    let mut world = World::with(&["a"], |_| {});
    let first = world.one("w");
    world.pass(LEASE);
    assert_eq!(world.upload(&first, vec![]), Reply::ResultSuperseded { reason: "the lease was lost" });
    world.join("w", 8);
    let second = world.one("w");
    assert_eq!(second, execution("a", 2));
    assert_eq!(world.upload(&first, vec![]), Reply::ResultSuperseded { reason: "a later execution is the live one" });
    world.answer(&second);
    assert_eq!(world.upload(&first, vec![]), Reply::ResultSuperseded { reason: "a later execution has answered" });
    world.jobs(1);
    world.judged(&second);
    let before = world.state.clone();
    assert_eq!(world.upload(&first, vec![]), Reply::ResultSuperseded { reason: "the attempt is done" });
    assert_eq!(world.state, before);
}

#[test]
fn a_result_that_is_sent_twice_is_no_news() {
    let mut world = World::with(&["a"], |plan| plan.policy.max_retries = 1);
    let first = world.one("w");
    assert_eq!(world.upload(&first, fatal()), Reply::ResultAccepted);
    assert_eq!(world.upload(&first, fatal()), Reply::ResultDuplicate, "while the retry waits");
    world.pass(secs(5));
    let second = world.one("w");
    assert_eq!(world.upload(&first, fatal()), Reply::ResultDuplicate, "while the retry runs");
    world.answer(&second);
    assert_eq!(world.upload(&second, vec![]), Reply::ResultDuplicate);
    world.jobs(1);
    world.judged(&second);
    world.published(&second);
    assert_eq!(world.upload(&second, vec![]), Reply::ResultDuplicate);
    assert_eq!(world.upload(&first, fatal()), Reply::ResultDuplicate);
}

#[test]
fn executions_that_never_were_are_refused() {
    let mut world = World::with(&["a"], |_| {});
    world.one("w");
    for key in [execution("a", 0), execution("a", 2), execution("b", 1)] {
        assert!(matches!(world.upload(&key, vec![]), Reply::ResultSuperseded { .. }), "{key}");
        assert_eq!(world.renew("w", &[&key]), [key]);
    }
    let mut other = execution("a", 1);
    other.attempt.attempt = 2;
    assert_eq!(world.upload(&other, vec![]), Reply::ResultSuperseded { reason: "no such attempt" });
}

#[test]
fn nobody_renews_or_gives_back_what_is_anothers() {
    let mut world = World::with(&["a"], |_| {});
    let a = world.one("w");
    world.join("thief", 8);
    assert_eq!(world.renew("thief", &[&a]), std::slice::from_ref(&a));
    let session = SessionId("thief".to_owned());
    world.step(Input::Released { session, execution: a.clone(), reason: "mine".to_owned() });
    assert_eq!(world.state.holder(&a), Some("w"));
}

#[test]
fn a_lost_worker_is_charged_to_a_budget_of_its_own() {
    let mut world = World::with(&["a"], |plan| {
        plan.policy.max_lease_losses = 2;
        plan.policy.max_retries = 7;
    });
    for losses in 1..=2 {
        world.one("w");
        world.step(Input::WorkerGone { session: SessionId("w".to_owned()), departure: Departure::Lost });
        let attempt = world.state.attempt(&attempt("a")).unwrap();
        assert_eq!((attempt.lease_losses, attempt.retries), (losses, 0));
        world.join("w", 8);
    }
    let third = world.lease("w", 1);
    assert_eq!(third[0].lost_before, [1, 2], "their paid turns can be replayed");
    world.step(Input::WorkerGone { session: SessionId("w".to_owned()), departure: Departure::Lost });
    let outcome = world.stage("a").outcome().expect("out of budget").clone();
    assert_eq!(outcome.severity, Some(Severity::Fatal));
    assert_eq!(outcome.issues[0].code, Code::WorkerLost);
    assert_eq!(outcome.issues[0].message, "lost its worker 3 times, at last `w`: the worker is gone");
    assert_eq!(world.take_effects(), [Effect::Publish(attempt("a"))]);
}

#[test]
fn what_a_worker_gives_back_is_charged_to_nothing_and_goes_on_elsewhere_at_once() {
    let mut world = World::with(&["a"], |plan| plan.policy.max_lease_losses = 0);
    let a = world.one("w");
    let reason = "draining".to_owned();
    world.step(Input::Released { session: SessionId("w".to_owned()), execution: a.clone(), reason });
    world.join("other", 1);
    let again = world.lease("other", 1);
    assert_eq!(again[0].execution, execution("a", 2));
    assert_eq!(again[0].lost_before, [1]);
    assert_eq!(world.renew("w", &[&a]), [a], "and is the other's now");
    let attempt = world.state.attempt(&attempt("a")).unwrap();
    assert_eq!((attempt.lease_losses, attempt.retries), (0, 0));
}

#[test]
fn giving_back_for_ever_slows_down() {
    let mut world = World::with(&["a"], |_| {});
    for _ in 0..3 {
        let a = world.one("w");
        world.step(Input::Released { session: SessionId("w".to_owned()), execution: a, reason: String::new() });
    }
    let a = world.one("w");
    world.step(Input::Released { session: SessionId("w".to_owned()), execution: a, reason: String::new() });
    assert_eq!(world.lease("w", 1), []);
    world.pass(secs(5));
    let a = world.one("w");
    world.answer(&a);
}

#[test]
fn a_loss_or_a_result_in_between_ends_the_row_of_releases() {
    let mut world = World::with(&["a"], |plan| {
        plan.policy.max_lease_losses = 9;
        plan.policy.max_retries = 9;
    });
    let release = |world: &mut World| {
        let execution = world.one("w");
        let reason = "draining".to_owned();
        world.step(Input::Released { session: SessionId("w".to_owned()), execution, reason });
    };
    for _ in 0..3 {
        release(&mut world);
    }
    world.one("w");
    world.pass(LEASE);
    world.join("w", 8);
    for _ in 0..3 {
        release(&mut world);
    }
    let key = world.one("w");
    world.upload(&key, fatal());
    world.pass(secs(5));
    for _ in 0..3 {
        release(&mut world);
    }
    world.one("w");
}

#[test]
fn only_lost_executions_since_the_last_retry_can_be_replayed() {
    let mut world = World::with(&["a"], |plan| plan.policy.max_retries = 3);
    world.one("w");
    world.pass(LEASE);
    world.join("w", 8);
    let second = world.lease("w", 1);
    assert_eq!(second[0].lost_before, [1]);
    world.upload(&second[0].execution, fatal());
    world.pass(secs(5));
    assert_eq!(world.lease("w", 1)[0].lost_before, [0; 0], "a retry starts afresh");
}

#[test]
fn an_answerless_result_waits_for_its_zero() {
    let mut world = World::with(&["a", "b"], |_| {});
    let (a, b) = (world.one("w"), world.one("w"));
    world.answer(&a);
    assert_eq!(world.upload(&b, error()), Reply::ResultAccepted);
    let jobs = world.jobs(5);
    let order: Vec<_> = jobs.iter().map(|job| (job.execution.attempt.task.as_str(), job.has_answer)).collect();
    assert_eq!(order, [("b", false), ("a", true)], "what needs no call is not kept waiting");
    world.judged(&b);
    world.published(&b);
    assert_eq!(world.stage("b").outcome().unwrap().severity, Some(Severity::Error));
}

#[test]
fn an_endpoints_allowance_is_shared_by_its_runs() {
    let mut world = World::with(&["a", "b", "c"], |plan| plan.endpoint = "shared".to_owned());
    let mut second = super::world::plan("s", &["x", "y"]);
    second.endpoint = "shared".to_owned();
    world.step(Input::RunSubmitted(Box::new(second)));
    let endpoint = "shared".to_owned();
    world.step(Input::SetAllowance { endpoint: endpoint.clone(), max_in_flight: Some(3) });
    let grants = world.lease("w", 8);
    assert_eq!(tasks_of(&grants), ["a", "x", "b"]);
    assert!(!world.state.has_work_for(&SessionId("w".to_owned())));
    // Less takes nothing away from what runs, and gives nothing until enough has ended.
    world.step(Input::SetAllowance { endpoint: endpoint.clone(), max_in_flight: Some(2) });
    world.answer(&grants[0].execution);
    assert_eq!(world.lease("w", 8), []);
    world.answer(&grants[1].execution);
    assert_eq!(tasks_of(&world.lease("w", 8)), ["y"]);
    world.step(Input::SetAllowance { endpoint, max_in_flight: None });
    assert_eq!(tasks_of(&world.lease("w", 8)), ["c"]);
}

#[test]
fn a_stage_owns_its_deadline() {
    let mut world = World::with(&["a"], |_| {});
    assert_eq!(world.stage("a"), &Stage::Ready { wait: crate::scheduler::state::Wait::Over });
    let a = world.one("w");
    assert_eq!(world.state.next_wakeup(), Some(world.now + LEASE));
    world.answer(&a);
    world.step(Input::WorkerGone { session: SessionId("w".to_owned()), departure: Departure::Deregistered });
    assert_eq!(world.state.next_wakeup(), None, "nothing to wake up for");
}
