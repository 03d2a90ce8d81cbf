//! The first signal drains, the second ends at once; the run goes on afterwards.

use std::path::PathBuf;

use argosy_coordinator::stand_in::Kind;
use argosy_tests::{
    server::Server,
    stage::{Stage, end, finish, start, until},
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

#[test]
fn a_signal_drains_and_the_run_goes_on_with_reuse() {
    for signal in [Signal::INT, Signal::TERM] {
        let stage = Stage::new();
        let mut script = stage.script();
        script["latency"] = json!({"fixed": 30});
        let server = Server::start(&script);
        let mut command = stage.run(&server.base_url(), &json!({}));
        command.args(["--run-id", "r", "--task-concurrency", "2", "--no-preflight"]);
        let child = start(&mut command);
        let run = stage.files("r");
        until("something is published", || run.dir().join("details").exists() && !run.tasks().is_empty());
        kill_process(Pid::from_child(&child), signal).expect("a signal");
        let ended = end(child).expect(130);
        assert!(ended.stderr.contains("interrupted") && ended.stderr.contains("--reuse"), "{}", ended.stderr);
        assert_eq!(run.json("run_info.json")["status"], "cancelled");
        assert!(!run.dir().join("metrics.json").exists(), "an interrupted run has no scores");
        let drained = run.tasks().len();
        assert!((1..16).contains(&drained), "{drained} tasks");
        assert_eq!(stage.leftovers(), Vec::<PathBuf>::new());
        assert_eq!(stage.processes(), Vec::<u32>::new());

        // What was under way was finished, so nothing is paid twice.
        let mut command = stage.run(&server.base_url(), &json!({}));
        let _ = finish(command.args(["--reuse", "--task-concurrency", "5", "--no-preflight"])).expect(0);
        assert_eq!(run.json("run_info.json")["status"], "completed");
        let turns: u64 = run
            .single_results()
            .values()
            .map(|result| result["trajectory"]["steps"].as_array().expect("steps").len() as u64)
            .sum();
        assert_eq!(server.stats().by_kind[&Kind::Agent], turns);
    }
}

#[test]
fn a_second_signal_does_not_wait_for_what_is_under_way() {
    for hanging in ["agent", "judge"] {
        let stage = Stage::new();
        let mut script = stage.script();
        script["latency"] = json!({"fixed": 0});
        for task in script["tasks"].as_array_mut().expect("tasks") {
            if hanging == "agent" {
                task["agent"] = json!([{"content": "Final Answer: late", "latency_ms": 600_000}]);
            } else if let Some(judge) = task.get_mut("judge") {
                judge["sub_hypotheses"] = json!([{"content": {"sub_hypo": []}, "latency_ms": 600_000}]);
            }
        }
        script["judge"] = json!({"sub_hypotheses": [{"content": {"sub_hypo": []}, "latency_ms": 600_000}]});
        let server = Server::start(&script);
        let mut command = stage.run(&server.base_url(), &json!({}));
        command.args(["--run-id", "r", "--task-concurrency", "2", "--no-preflight"]);
        let mut child = start(&mut command);
        let kind = if hanging == "agent" { Kind::Agent } else { Kind::SubHypotheses };
        until("calls hang", || {
            server.stats().in_flight >= 2 && server.stats().by_kind.get(&kind).is_some_and(|calls| *calls >= 2)
        });
        let signal = || kill_process(Pid::from_child(&child), Signal::INT).expect("a signal");
        signal();
        let run = stage.files("r");
        // The first one waits: a call that takes ten minutes is not given up at once.
        std::thread::sleep(std::time::Duration::from_millis(300));
        signal();
        until("the process has ended", || child.try_wait().expect("a child").is_some());
        let _ = end(child).expect(130);
        assert_eq!(run.json("run_info.json")["status"], "cancelled", "{hanging}");
        assert_eq!(stage.leftovers(), Vec::<PathBuf>::new(), "{hanging}");
        assert_eq!(stage.processes(), Vec::<u32>::new(), "{hanging}");
    }
}
