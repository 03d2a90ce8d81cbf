//! Workers: joining, coming back, going, draining; and a coordinator that was away itself.

use super::world::{LEASE, World, attempt, execution, secs, tasks_of};
use crate::scheduler::{Departure, Event, Input, Reply, SessionId, event::LossReason};

fn session(name: &str) -> SessionId {
    SessionId(name.to_owned())
}

#[test]
fn an_unknown_session_hears_that_it_is_unknown() {
    let mut world = World::with(&["a"], |_| {});
    let a = world.one("w");
    for input in [
        Input::LeaseWanted { session: session("?"), free: 1 },
        Input::Renewed { session: session("?"), held: vec![a.clone()] },
        Input::WorkerSuspected { session: session("?"), grace: secs(1) },
        Input::WorkerGone { session: session("?"), departure: Departure::Lost },
        Input::Released { session: session("?"), execution: a.clone(), reason: String::new() },
        Input::DrainWorker { name: "?".to_owned() },
    ] {
        assert_eq!(world.step(input), Reply::UnknownWorker);
    }
    assert!(world.state.is_live(&a));
}

#[test]
fn a_silent_worker_is_forgotten_and_joins_again() {
    let mut world = World::with(&["a"], |_| {});
    world.pass(LEASE);
    assert_eq!(world.state.workers().count(), 0);
    assert_eq!(world.step(Input::LeaseWanted { session: session("w"), free: 1 }), Reply::UnknownWorker);
    world.join_as("w2", "w", 8);
    world.one("w2");
}

#[test]
fn asking_for_work_is_a_sign_of_life() {
    let mut world = World::with(&[], |plan| plan.tasks.push("a".into()));
    let a = world.one("w");
    world.answer(&a);
    for _ in 0..5 {
        world.pass(LEASE / 2);
        assert_eq!(world.lease("w", 1), []);
    }
    assert_eq!(world.state.workers().count(), 1);
}

#[test]
fn a_worker_that_reconnects_keeps_what_it_holds() {
    let mut world = World::with(&["a", "b"], |_| {});
    let (a, b) = (world.one("w"), world.one("w"));
    world.join_as("w2", "w", 8);
    assert_eq!(world.step(Input::Renewed { session: session("w"), held: vec![] }), Reply::UnknownWorker, "replaced");
    assert_eq!(world.renew("w2", &[&a, &b]), []);
    world.pass(LEASE / 2);
    assert!(world.state.is_live(&a) && world.state.is_live(&b));
    world.finish(&a);
}

#[test]
fn a_worker_that_restarted_has_forgotten_and_its_leases_are_free_at_once() {
    let mut world = World::with(&["a", "b"], |_| {});
    let (a, b) = (world.one("w"), world.one("w"));
    world.join_as("w2", "w", 2);
    assert_eq!(world.lease("w2", 2), [], "its old leases still count against its slots");
    assert_eq!(world.renew("w2", &[&b]), []);
    assert!(world.journal.contains(&Event::LeaseLost { execution: a, reason: LossReason::Forgotten }));
    assert!(world.state.is_live(&b));
    assert_eq!(tasks_of(&world.lease("w2", 2)), ["a"]);
}

#[test]
fn a_lease_on_its_way_to_the_worker_survives_a_renewal_without_it() {
    let mut world = World::with(&["a"], |_| {});
    let a = world.one("w");
    assert_eq!(world.renew("w", &[]), []);
    assert!(world.state.is_live(&a));
    world.pass(LEASE - secs(1));
    assert_eq!(world.renew("w", &[]), []);
    world.pass(secs(1));
    assert!(!world.state.is_live(&a), "but nobody renewed it");
    assert_eq!(world.state.workers().count(), 1, "the worker lives");
}

#[test]
fn a_broken_connection_shortens_the_leases_until_the_worker_is_heard_of() {
    let mut world = World::with(&["a", "b"], |_| {});
    let (a, b) = (world.one("w"), world.one("w"));
    world.step(Input::WorkerSuspected { session: session("w"), grace: secs(2) });
    assert_eq!(world.state.next_wakeup(), Some(world.now + secs(2)));
    world.pass(secs(1));
    assert_eq!(world.renew("w", &[&a]), []);
    world.pass(secs(1));
    assert!(world.state.is_live(&a));
    assert!(!world.state.is_live(&b));
    // It never lengthens a lease.
    world.pass(LEASE / 2 - secs(1));
    world.renew("w", &[&a]);
    world.step(Input::WorkerSuspected { session: session("w"), grace: secs(3600) });
    assert_eq!(world.stage("a").deadline(), Some(world.now + LEASE));
}

#[test]
fn a_worker_that_leaves_politely_costs_nothing() {
    let mut world = World::with(&["a"], |_| {});
    world.one("w");
    world.step(Input::WorkerGone { session: session("w"), departure: Departure::Deregistered });
    assert_eq!(world.state.attempt(&attempt("a")).unwrap().lease_losses, 0);
    world.join("v", 1);
    assert_eq!(world.one("v"), execution("a", 2));
}

#[test]
fn a_draining_worker_keeps_what_it_has_and_gets_nothing_more() {
    let mut world = World::with(&["a", "b"], |_| {});
    let a = world.one("w");
    assert_eq!(world.step(Input::DrainWorker { name: "w".to_owned() }), Reply::Ok);
    let reply = world.step(Input::LeaseWanted { session: session("w"), free: 1 });
    assert_eq!(reply, Reply::Leases { grants: vec![], draining: true });
    let reply = world.step(Input::Renewed { session: session("w"), held: vec![a.clone()] });
    assert_eq!(reply, Reply::Renewal { lost: vec![], draining: true });
    world.finish(&a);
    world.join_as("w2", "w", 1);
    assert_eq!(world.one("w2"), execution("b", 1), "a new registration is a new beginning");
}

#[test]
fn a_coordinator_that_was_stopped_blames_nobody() {
    let mut world = World::with(&["a", "b"], |_| {});
    let (a, b) = (world.one("w"), world.one("w"));
    world.freeze(secs(300));
    world.step(Input::Tick);
    assert!(world.state.is_live(&a) && world.state.is_live(&b));
    assert_eq!(world.state.workers().count(), 1);
    assert_eq!(world.renew("w", &[&a]), []);
    world.pass(LEASE);
    assert!(!world.state.is_live(&b), "one full length of grace, not more");
}

#[test]
fn a_tick_that_is_only_a_little_late_is_as_good_as_one_in_time() {
    let mut world = World::with(&["a"], |_| {});
    let a = world.one("w");
    world.freeze(LEASE + world.state.settings().lateness());
    world.step(Input::Tick);
    assert!(!world.state.is_live(&a));
}

#[test]
fn idle_ticks_change_nothing() {
    let mut world = World::with(&["a"], |_| {});
    world.one("w");
    let before = world.state.clone();
    for _ in 0..3 {
        let decision = world.decide(Input::Tick);
        assert_eq!((decision.events, decision.soft), (vec![], vec![]));
        world.step(Input::Tick);
    }
    assert_eq!(world.state, before);
}
