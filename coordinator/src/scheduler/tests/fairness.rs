//! Which run is next.

use std::collections::BTreeMap;

use super::world::{World, plan, tasks_of};
use crate::scheduler::{Input, Order};

/// Runs `r`, `s`, ... of many tasks with these weights, all in one world with a worker of one slot.
fn world(weights: &[u32]) -> World {
    let mut world = World::new();
    world.check_replay = false;
    for (number, weight) in weights.iter().enumerate() {
        let tasks: Vec<String> = (0..200).map(|task| format!("{number}-{task:03}")).collect();
        let mut plan = plan(&format!("run {number}"), &tasks.iter().map(String::as_str).collect::<Vec<_>>());
        plan.policy.weight = *weight;
        plan.policy.task_concurrency = 1000;
        world.step(Input::RunSubmitted(Box::new(plan)));
    }
    world.join("w", 1000);
    world
}

fn shares(world: &mut World, grants: u32) -> Vec<u32> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for grant in world.lease("w", grants) {
        *counts.entry(grant.execution.attempt.run.0).or_default() += 1;
    }
    counts.into_values().collect()
}

#[test]
fn equal_runs_take_turns() {
    let mut world = world(&[1, 1, 1]);
    let grants = world.lease("w", 6);
    assert_eq!(tasks_of(&grants), ["0-000", "1-000", "2-000", "0-001", "1-001", "2-001"]);
}

#[test]
fn weights_are_shares() {
    let mut world = world(&[1, 2, 5]);
    assert_eq!(shares(&mut world, 80), [10, 20, 50]);
    assert_eq!(shares(&mut world, 8), [1, 2, 5]);
}

#[test]
fn one_lease_at_a_time_gives_the_same_shares() {
    let mut world = world(&[3, 1]);
    let mut counts = [0; 2];
    for _ in 0..40 {
        let grant = world.lease("w", 1).remove(0);
        counts[usize::from(grant.execution.attempt.run.0 == "run 1")] += 1;
    }
    assert_eq!(counts, [30, 10]);
    world.assert_replay();
}

#[test]
fn who_had_nothing_to_do_saves_up_no_turns() {
    let mut world = world(&[1, 1]);
    world.step(Input::PauseRun { run: argosy_shared::id::RunId("run 1".to_owned()), reason: "test".to_owned() });
    assert_eq!(shares(&mut world, 100), [100]);
    world.step(Input::ResumeRun { run: argosy_shared::id::RunId("run 1".to_owned()) });
    assert_eq!(shares(&mut world, 20), [10, 10]);
}

#[test]
fn a_run_at_its_limit_leaves_the_slots_to_the_others() {
    let mut world = world(&[1, 1]);
    world.step(Input::SetConcurrency { run: argosy_shared::id::RunId("run 0".to_owned()), task_concurrency: 3 });
    assert_eq!(shares(&mut world, 20), [3, 17]);
}

#[test]
fn a_restart_remembers_whose_turn_it_is() {
    let mut world = world(&[1, 1]);
    assert_eq!(tasks_of(&world.lease("w", 3)), ["0-000", "1-000", "0-001"]);
    world.restart();
    world.join("v", 1000);
    assert_eq!(tasks_of(&world.lease("v", 2)), ["1-001", "0-002"]);
}

#[test]
fn the_longest_expected_start_first_when_that_is_wanted() {
    let seconds = vec![10.0, 300.0, 20.0, 300.0];
    let mut world = World::with(&["a", "b", "c", "d"], |plan| {
        plan.order = Order::LongestFirst;
        plan.expected_seconds.clone_from(&seconds);
        plan.k = 2;
    });
    let order: Vec<_> = world.lease("w", 8).iter().map(|grant| grant.execution.attempt.to_string()).collect();
    assert_eq!(order, ["r/b#1", "r/b#2", "r/d#1", "r/d#2", "r/c#1", "r/c#2", "r/a#1", "r/a#2"]);
    let mut world = World::with(&["a", "b"], |plan| plan.expected_seconds = vec![1.0, 2.0]);
    assert_eq!(tasks_of(&world.lease("w", 8)), ["a", "b"]);
}
