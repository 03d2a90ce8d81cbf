//! Replay: the journal alone gives the state back.

use argosy_shared::issue::Code;

use super::world::{LEASE, World, attempt, execution, fatal, plan, secs};
use crate::scheduler::{
    Event, Input, RunPlan, SessionId, Settings, State,
    event::{DecodeError, LossReason, VERSION, decode, encode},
    invariants::Invariant,
};

#[test]
fn an_outstanding_lease_gets_one_full_length_of_grace() {
    let mut world = World::with(&["a", "b"], |_| {});
    let (a, b) = (world.one("w"), world.one("w"));
    world.pass(LEASE - secs(1));
    world.restart();
    world.pass(LEASE - secs(1));
    world.join_as("w2", "w", 8);
    assert_eq!(world.renew("w2", &[&a, &b]), [], "the worker is back in time");
    world.restart();
    world.pass(LEASE);
    assert!(!world.state.is_live(&a) && !world.state.is_live(&b), "not back in time");
}

#[test]
fn a_result_may_come_before_the_worker_has_joined_again() {
    let mut world = World::with(&["a"], |_| {});
    let a = world.one("w");
    world.restart();
    world.answer(&a);
}

#[test]
fn a_retry_waits_its_whole_delay_again() {
    let mut world = World::with(&["a"], |plan| plan.policy.max_retries = 1);
    let a = world.one("w");
    world.upload(&a, fatal());
    let delay = world.state.next_wakeup().unwrap() - world.now;
    world.pass(delay - secs(1));
    world.restart();
    world.join("w", 1);
    world.pass(delay - secs(1));
    assert_eq!(world.lease("w", 1), []);
    world.pass(secs(1));
    assert_eq!(world.one("w"), execution("a", 2));
}

#[test]
fn what_was_ready_again_before_a_crash_may_wait_again_but_is_never_lost() {
    let mut world = World::with(&["a"], |plan| plan.policy.max_retries = 1);
    let a = world.one("w");
    world.upload(&a, fatal());
    world.pass(secs(5));
    world.restart();
    world.join("w", 1);
    world.pass(secs(5));
    world.one("w");
}

#[test]
fn an_event_that_cannot_follow_is_skipped_and_named() {
    let mut world = World::with(&["a"], |_| {});
    let a = world.one("w");
    let lost = Event::LeaseLost { execution: a.clone(), reason: LossReason::Expired };
    let journal =
        [&world.journal[..], &[lost.clone(), lost, Event::AttemptDone { execution: a, severity: None }]].concat();
    let replayed = State::replay(Settings { lease: LEASE }, &journal);
    let named: Vec<_> = replayed.skipped.iter().map(|(at, violation)| (*at, violation.invariant)).collect();
    assert_eq!(named, [(3, Invariant::StaleChangesNothing), (4, Invariant::DoneIsFinal)]);
    assert_eq!(replayed.state.attempt(&attempt("a")).unwrap().lease_losses, 1);
}

#[test]
fn every_invariant_of_an_event_can_be_broken_and_is_then_named() {
    let mut world = World::with(&["a", "b", "c"], |plan| {
        plan.policy.max_retries = 1;
        plan.policy.task_concurrency = 1;
    });
    let b = execution("b", 1);
    let expect = |world: &World, event: Event, invariant: Invariant| {
        let mut state = world.state.clone();
        let before = state.clone();
        assert_eq!(state.evolve(&event).unwrap_err().invariant, invariant, "{event:?}");
        assert_eq!(state, before);
    };
    let grant = |key| Event::LeaseGranted { execution: key, worker: "w".to_owned() };
    let run = attempt("a").run;
    expect(&world, grant(execution("?", 1)), Invariant::KnownNames);
    expect(&world, grant(execution("a", 2)), Invariant::OneLiveLease);
    expect(&world, Event::RunAdded { plan: Box::new(plan("r", &["a"])) }, Invariant::KnownNames);
    expect(&world, Event::RunAdded { plan: Box::new(plan("s", &[])) }, Invariant::KnownNames);
    expect(&world, Event::RunResumed { run: run.clone() }, Invariant::RunStateHolds);
    expect(&world, Event::RunFinished { run: run.clone() }, Invariant::RunStateHolds);
    let failed = |key| Event::AttemptFailed { execution: key, issues: vec![] };
    expect(&world, failed(execution("a", 0)), Invariant::WithinBudget);

    let a = world.one("w");
    expect(&world, grant(execution("a", 2)), Invariant::OneLiveLease);
    expect(&world, grant(b.clone()), Invariant::WithinSlots);
    expect(
        &world,
        Event::LeaseLost { execution: b.clone(), reason: LossReason::Expired },
        Invariant::StaleChangesNothing,
    );
    expect(&world, failed(a.clone()), Invariant::StaleChangesNothing);

    world.answer(&a);
    let retried = |retry, matched: &str| Event::AttemptRetried {
        execution: a.clone(),
        matched: matched.to_owned(),
        retry,
        delay_ms: 0,
        judge_issues: Vec::new(),
    };
    expect(&world, retried(1, "fatal"), Invariant::ValidResultStays);
    expect(&world, retried(2, "x"), Invariant::WithinBudget);
    expect(&world, failed(a.clone()), Invariant::WithinBudget);
    world.jobs(1);
    expect(&world, retried(1, "x"), Invariant::AnsweredStays);
    world.judged(&a);
    let judged =
        Event::Judged { execution: a.clone(), judgement: super::world::blob(&a, "j"), issues: vec![], severity: None };
    expect(&world, judged, Invariant::DoneIsFinal);
    let fatal = Some(argosy_shared::issue::Severity::Fatal);
    expect(&world, Event::AttemptDone { execution: a.clone(), severity: fatal }, Invariant::DoneIsFinal);
    world.published(&a);
    expect(&world, Event::AttemptRequeued { execution: a.clone() }, Invariant::DoneIsFinal);
    world.step(Input::PauseRun { run, reason: String::new() });
    expect(&world, grant(b), Invariant::RunStateHolds);
}

#[test]
fn events_are_written_as_json_that_later_versions_can_read() {
    let events = [
        Event::LeaseGranted { execution: execution("a", 1), worker: "w".to_owned() },
        Event::AttemptRetried {
            execution: execution("a", 1),
            matched: "fatal".to_owned(),
            retry: 1,
            delay_ms: 4321,
            judge_issues: Vec::new(),
        },
    ];
    let text = encode(&events);
    assert_eq!(
        text,
        concat!(
            r#"[{"event":"lease_granted","execution":{"attempt":{"run":"r","task":"a","attempt":1},"execution":1},"#,
            r#""worker":"w"},{"event":"attempt_retried","execution":{"attempt":{"run":"r","task":"a","attempt":1},"#,
            r#""execution":1},"matched":"fatal","retry":1,"delay_ms":4321}]"#
        )
    );
    assert_eq!(decode(VERSION, &text).unwrap(), events);
    let newer = decode(VERSION + 1, "[]").unwrap_err();
    assert!(matches!(newer, DecodeError::Newer { found } if found == VERSION + 1));
    assert!(matches!(decode(VERSION, "[{"), Err(DecodeError::Malformed(_))));
}

#[test]
fn a_plan_of_the_first_version_is_read_with_its_defaults() {
    let text = r#"{"id":"r","k":1,"tasks":["a"],"environment":"host_process","endpoint":"e","policy":
        {"task_concurrency":4,"max_retries":0,"retry_min_delay_seconds":5.0,"retry_max_delay_seconds":60.0,
         "max_lease_losses":3}}"#;
    let read: RunPlan = serde_json::from_str(text).unwrap();
    let mut expected = plan("r", &["a"]);
    expected.policy.task_concurrency = 4;
    expected.endpoint = "e".to_owned();
    assert_eq!(read, expected);
}

#[test]
fn an_issue_survives_the_journal() {
    let mut world = World::with(&["a"], |plan| plan.policy.max_lease_losses = 0);
    world.one("w");
    world.step(Input::WorkerGone { session: SessionId("w".to_owned()), departure: crate::scheduler::Departure::Lost });
    world.restart();
    assert_eq!(world.stage("a").outcome().unwrap().issues[0].code, Code::WorkerLost);
}
