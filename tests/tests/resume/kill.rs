//! `kill -9` at moments of chance.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    process::Command,
};

use argosy_coordinator::stand_in::{Kind, Stats};
use argosy_tests::{
    server::Server,
    stage::{Stage, end, finish, start, until},
};
use serde_json::{Value, json};

const CONCURRENCY: &str = "3";

fn command(stage: &Stage, server: &Server) -> Command {
    let mut command = stage.run(&server.base_url(), &json!({"split": "all"}));
    command.args(["--task-concurrency", CONCURRENCY, "--no-preflight"]);
    command.args(["--harness-params", r#"{"agent_type": "react"}"#]);
    command
}

fn script(stage: &Stage) -> Value {
    let mut script = stage.script();
    script["latency"] = json!({"uniform": [5, 60]});
    script
}

/// What must not depend on how often a run was killed.
fn outcome(stage: &Stage, run_id: &str) -> (Value, BTreeMap<String, Value>) {
    let run = stage.files(run_id);
    let results = run.single_results().into_iter().map(|(id, result)| {
        let steps: Vec<Value> = result["trajectory"]["steps"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|step| json!([step["assistant_content"], step["observation"]]))
            .collect();
        (id, json!([result["metrics"], result["final_answer"], result["issues"], steps]))
    });
    (run.json("metrics.json"), results.collect())
}

fn calls(stats: &Stats, kind: Kind) -> u64 {
    stats.by_kind.get(&kind).copied().unwrap_or_default()
}

#[test]
fn a_run_killed_again_and_again_ends_like_an_undisturbed_one() {
    let calm = Stage::new();
    let server = Server::start(&script(&calm));
    let _ = finish(command(&calm, &server).args(["--run-id", "r"])).expect(0);
    let undisturbed = server.stats();
    let wanted = outcome(&calm, "r");

    let stage = Stage::new();
    let server = Server::start(&script(&stage));
    let run = stage.files("r");
    let mut kills = 0;
    let mut answered: BTreeSet<String> = BTreeSet::new();
    // Each process is killed a little later than the last: at calls of the agent, of the judge, between them.
    for goal in [4, 17, 31, 46, 62, 79, 97, 120, 150, 190] {
        let mut command = command(&stage, &server);
        command.args(if kills == 0 { ["--run-id", "r"] } else { ["--reuse", "r"] });
        let mut child = start(&mut command);
        until("the run has got so far, or is over", || {
            server.stats().calls >= goal || child.try_wait().expect("a child").is_some()
        });
        let over = child.try_wait().expect("a child").is_some();
        child.kill().expect("a signal");
        let ended = end(child);
        if over {
            let _ = ended.expect(0);
            break;
        }
        kills += 1;
        // What was published is never touched again.
        let published: BTreeSet<String> = run.tasks().into_keys().collect();
        assert!(published.is_superset(&answered), "{answered:?} became {published:?}");
        answered = published;
    }
    assert!(kills >= 5, "killed {kills} times");
    let _ = finish(command(&stage, &server).args(["--reuse", "r"])).expect(0);

    let found = outcome(&stage, "r");
    for (id, result) in &wanted.1 {
        assert_eq!(found.1.get(id), Some(result), "{id}");
    }
    assert_eq!(found, wanted);
    assert_eq!(run.json("run_info.json")["status"], "completed");

    // Calls paid again are those that were in flight, at most one for each slot and each killed process. A judging that
    // was in flight begins anew; its calls before the kill come on top.
    let stats = server.stats();
    let slots: u64 = CONCURRENCY.parse().expect("a number");
    let again = calls(&stats, Kind::Agent) - calls(&undisturbed, Kind::Agent);
    assert!(again <= kills * slots, "{again} turns were paid twice with {kills} kills");
    let judging = [Kind::SubHypotheses, Kind::Context, Kind::Variables, Kind::Relation];
    let judged = |stats: &Stats| judging.iter().map(|kind| calls(stats, *kind)).sum::<u64>();
    let most_of_one = 8;
    let again = judged(&stats) - judged(&undisturbed);
    assert!(again <= kills * 16 * most_of_one, "{again} calls of the judge were paid twice with {kills} kills");
    let golds = calls(&stats, Kind::SubHypotheses) - calls(&undisturbed, Kind::SubHypotheses);
    // At most the tasks in flight are judged again, each with two such calls.
    assert!(golds <= kills * 2 * 2 * slots, "{golds}");

    assert_eq!(stage.leftovers(), Vec::<PathBuf>::new(), "leftovers of the killed processes");
    until("no process is left", || stage.processes().is_empty());
}

#[test]
fn what_a_killed_process_leaves_behind_is_removed_by_the_next() {
    let stage = Stage::new();
    let mut script = script(&stage);
    for task in script["tasks"].as_array_mut().expect("tasks") {
        // The second turn hangs, so that Python processes and sandboxes are there.
        task["agent"] = json!([
            "Action: python_repl_ast\nAction Input: print(1)",
            {"content": "Final Answer: late", "latency_ms": 60000},
        ]);
    }
    let server = Server::start(&script);
    let mut first = start(command(&stage, &server).args(["--run-id", "r"]));
    until("three sandboxes are in use", || server.stats().in_flight == 3 && calls(&server.stats(), Kind::Agent) >= 6);
    first.kill().expect("a signal");
    let _ = end(first);
    assert!(!stage.leftovers().is_empty(), "a killed process cannot clean up");

    // Another run: the sweep is not the resumed run's alone.
    let quick = Server::start(&{
        let mut script = stage.script();
        script["latency"] = json!({"fixed": 0});
        script
    });
    let mut other = stage.run(&quick.base_url(), &json!({"limit": 1}));
    let _ = finish(other.args(["--run-id", "other", "--no-preflight"])).expect(0);
    assert_eq!(stage.leftovers(), Vec::<PathBuf>::new());
    until("no process is left", || stage.processes().is_empty());
}
