//! Runs: submitted, paused, resumed, cancelled, finished.

use argosy_shared::issue::Severity;

use super::world::{World, attempt, execution, fatal, plan, secs, tasks_of};
use crate::scheduler::{Adopted, Effect, Input, Reply, RunPlan, RunState, SessionId, Stage, plan::PlanError};

fn run() -> argosy_shared::id::RunId {
    attempt("a").run
}

#[test]
fn a_run_is_finished_when_its_last_outcome_is_published() {
    let mut world = World::with(&["a", "b"], |_| {});
    let (a, b) = (world.one("w"), world.one("w"));
    world.finish(&a);
    world.answer(&b);
    world.jobs(1);
    world.judged(&b);
    assert_eq!(world.run_state(), &RunState::Running);
    assert_eq!(world.state.unpublished().count(), 1);
    world.take_effects();
    world.published(&b);
    assert_eq!(world.run_state(), &RunState::Finished);
    assert_eq!(world.take_effects(), [Effect::RunFinished(run())]);
    assert!(world.state.is_idle());
}

#[test]
fn what_was_not_published_before_a_crash_is_published_after_it() {
    let mut world = World::with(&["a"], |_| {});
    let a = world.one("w");
    world.answer(&a);
    world.jobs(1);
    world.judged(&a);
    world.restart();
    let open: Vec<_> = world.state.unpublished().collect();
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].execution(), a);
    world.published(&open[0].execution());
    assert_eq!(world.run_state(), &RunState::Finished);
}

#[test]
fn the_last_published_attempt_completes_its_task() {
    let mut world = World::with(&["a"], |plan| plan.k = 2);
    let grants = world.lease("w", 2);
    for grant in &grants {
        world.answer(&grant.execution);
    }
    world.jobs(2);
    for grant in &grants {
        world.judged(&grant.execution);
    }
    let last =
        |world: &World, at: usize| world.state.final_attempt(&grants[at].execution.attempt).unwrap().last_of_task;
    assert!(!last(&world, 1));
    world.published(&grants[1].execution);
    assert!(last(&world, 0));
}

#[test]
fn a_paused_run_starts_nothing_and_loses_nothing() {
    let mut world = World::with(&["a", "b"], |plan| plan.policy.max_retries = 1);
    let a = world.one("w");
    world.step(Input::PauseRun { run: run(), reason: "quota".to_owned() });
    assert_eq!(world.run_state(), &RunState::Paused { reason: "quota".to_owned() });
    assert_eq!(world.lease("w", 8), []);
    world.answer(&a);
    assert_eq!(world.jobs(8), []);
    world.restart();
    assert_eq!(world.run_state().as_str(), "paused");
    world.join("w", 8);
    world.step(Input::ResumeRun { run: run() });
    assert_eq!(world.jobs(8)[0].execution, a);
    assert_eq!(tasks_of(&world.lease("w", 8)), ["b"]);
}

#[test]
fn what_runs_while_its_run_is_paused_may_end() {
    let mut world = World::with(&["a", "b"], |_| {});
    let (a, b) = (world.one("w"), world.one("w"));
    world.answer(&a);
    world.jobs(1);
    world.step(Input::PauseRun { run: run(), reason: "disk".to_owned() });
    world.judged(&a);
    world.published(&a);
    world.upload(&b, fatal());
    world.published(&b);
    assert_eq!(world.run_state(), &RunState::Finished);
}

#[test]
fn a_cancelled_run_voids_its_leases_without_charge_and_can_be_taken_up_again() {
    let mut world = World::with(&["a", "b", "c"], |plan| plan.policy.max_lease_losses = 0);
    let (a, b) = (world.one("w"), world.one("w"));
    world.answer(&b);
    world.jobs(1);
    world.step(Input::CancelRun { run: run(), reason: "enough".to_owned() });
    assert_eq!(world.take_effects(), [Effect::Revoked(a.clone())]);
    assert_eq!(world.renew("w", &[&a]), std::slice::from_ref(&a));
    assert_eq!(world.upload(&a, vec![]), Reply::ResultSuperseded { reason: "the lease was lost" });
    assert_eq!(world.judged(&b), Reply::StaleJudgement);
    assert_eq!(world.lease("w", 8), []);
    assert!(world.state.is_idle());
    assert_eq!(world.step(Input::PauseRun { run: run(), reason: String::new() }), Reply::RunIs("cancelled"));

    assert_eq!(world.step(Input::ResumeRun { run: run() }), Reply::Ok);
    assert_eq!(world.jobs(8)[0].execution, b, "the answer is still there");
    let again = world.lease("w", 8);
    assert_eq!(tasks_of(&again), ["a", "c"]);
    assert_eq!((again[0].execution.execution, &again[0].lost_before[..]), (2, &[1][..]));
}

#[test]
fn a_finished_run_cannot_be_paused_or_cancelled() {
    let mut world = World::with(&["a"], |_| {});
    let a = world.one("w");
    world.finish(&a);
    for input in [
        Input::PauseRun { run: run(), reason: String::new() },
        Input::CancelRun { run: run(), reason: String::new() },
        Input::ResumeRun { run: run() },
    ] {
        assert_eq!(world.step(input), Reply::RunIs("finished"));
    }
    assert_eq!(world.step(Input::RequeueRun { run: run() }), Reply::Ok, "nothing was FATAL");
    assert_eq!(world.run_state(), &RunState::Finished);
    let nobody = argosy_shared::id::RunId("?".to_owned());
    assert_eq!(world.step(Input::ResumeRun { run: nobody.clone() }), Reply::UnknownRun(nobody));
}

#[test]
fn the_same_run_again_is_known_and_what_cannot_change_a_score_may_differ() {
    let mut world = World::with(&["a", "b"], |_| {});
    let a = world.one("w");
    let submit = |world: &mut World, change: &dyn Fn(&mut RunPlan)| {
        let mut again = plan("r", &["a", "b"]);
        change(&mut again);
        world.step(Input::RunSubmitted(Box::new(again)))
    };
    assert_eq!(submit(&mut world, &|_| {}), Reply::RunKnown);
    assert_eq!(submit(&mut world, &|plan| plan.policy.task_concurrency = 1), Reply::RunChanged);
    assert_eq!(world.lease("w", 8), [], "the new limit holds at once");
    let moved = |plan: &mut RunPlan| {
        plan.endpoint = "elsewhere".to_owned();
        plan.policy.task_concurrency = 1;
    };
    assert_eq!(submit(&mut world, &moved), Reply::RunChanged);
    world.answer(&a);
    world.step(Input::SetAllowance { endpoint: "elsewhere".to_owned(), max_in_flight: Some(0) });
    assert_eq!(world.lease("w", 8), [], "and the new endpoint's allowance");
    for (field, change) in
        [("k", (&|plan: &mut RunPlan| plan.k = 2) as &dyn Fn(&mut RunPlan)), ("tasks", &|plan| plan.tasks.reverse())]
    {
        let refused = PlanError::Differs { run: run(), field };
        assert_eq!(submit(&mut world, change), Reply::RunRefused(refused));
    }
}

#[test]
fn nonsense_is_refused_with_its_reason() {
    let refused = |change: &dyn Fn(&mut RunPlan)| {
        let mut world = World::new();
        let mut plan = plan("r", &["a", "b"]);
        change(&mut plan);
        match world.step(Input::RunSubmitted(Box::new(plan))) {
            Reply::RunRefused(error) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(&|plan| plan.tasks.clear()), "run r has no tasks");
    assert_eq!(refused(&|plan| plan.k = 0), "run r: k is 0; it must be at least 1");
    assert_eq!(refused(&|plan| plan.policy.weight = 0), "run r: weight is 0; it must be at least 1");
    assert_eq!(refused(&|plan| plan.tasks.push("a".into())), "run r: task a is listed twice");
    assert_eq!(refused(&|plan| plan.expected_seconds = vec![1.0]), "run r: 1 expected durations for 2 tasks");
    let pattern = refused(&|plan| plan.policy.retry_pattern_list = vec!["(".to_owned()]);
    assert!(pattern.contains("`(` is not a regular expression"), "{pattern}");
    let delay = refused(&|plan| plan.policy.retry_min_delay_seconds = f64::NAN);
    assert!(delay.contains("NaN seconds is not possible"), "{delay}");
    let adopted = Adopted { task: "a".into(), attempt: 2, severity: None };
    assert_eq!(refused(&|plan| plan.adopted.push(adopted.clone())), "run r: adopted attempt a#2 is not in the plan");
    let mut world = World::with(&["a"], |_| {});
    let input = Input::SetConcurrency { run: run(), task_concurrency: 0 };
    assert!(matches!(world.step(input), Reply::RunRefused(PlanError::Zero { .. })));
}

#[test]
fn adopted_attempts_are_done_from_the_start() {
    let mut world = World::with(&["a", "b"], |plan| {
        plan.adopted = vec![Adopted { task: "a".into(), attempt: 1, severity: Some(Severity::Fatal) }];
    });
    let b = world.lease("w", 8);
    assert_eq!(tasks_of(&b), ["b"]);
    assert_eq!(world.upload(&execution("a", 0), vec![]), Reply::ResultSuperseded { reason: "the attempt is done" });
    world.finish(&b[0].execution);
    assert_eq!(world.run_state(), &RunState::Finished);
    world.step(Input::RequeueRun { run: run() });
    let a = world.one("w");
    assert_eq!(a, execution("a", 1));
    world.upload(&a, fatal());
    world.published(&a);
    world.step(Input::RequeueRun { run: run() });
    assert_eq!(world.one("w"), execution("a", 2));
}

#[test]
fn a_wholly_adopted_run_is_finished_at_once() {
    let world = World::with(&["a"], |plan| {
        plan.adopted = vec![Adopted { task: "a".into(), attempt: 1, severity: None }; 2];
    });
    assert_eq!(world.run_state(), &RunState::Finished);
    assert_eq!(world.effects, [Effect::RunFinished(run())]);
}

#[test]
fn a_worker_without_the_environment_gets_nothing() {
    let mut world = World::with(&["a"], |_| {});
    world.step(Input::WorkerRegistered {
        session: SessionId("v".to_owned()),
        name: "v".to_owned(),
        slots: 1,
        environments: vec![],
    });
    assert_eq!(world.lease("v", 1), []);
    assert!(!world.state.has_work_for(&SessionId("v".to_owned())));
    assert!(world.state.has_work_for(&SessionId("w".to_owned())));
}

#[test]
fn without_workers_everything_waits_and_goes_on_when_one_comes() {
    let mut world = World::with(&["a"], |_| {});
    world.pass(secs(7 * 24 * 3600));
    assert_eq!(world.state.workers().count(), 0);
    assert!(matches!(world.stage("a"), Stage::Ready { .. }));
    world.join("w", 1);
    world.one("w");
}
