//! `argosy demo` comes out as worked out by hand.

use argosy_coordinator::demo;
use argosy_tests::{
    run_files::{RunFiles, codes},
    stage::{Stage, finish},
};
use serde_json::Value;

#[test]
fn the_demo_comes_out_as_expected_in_both_agent_types() {
    let expected = demo::expected();
    for (agent, expected) in [("coder", &expected.coder), ("react", &expected.react)] {
        let stage = Stage::new();
        let results = stage.results();
        let mut command = stage.argosy();
        command.args(["demo", "--agent", agent, "--progress", "plain", "--task-concurrency", "8", "--results-dir"]);
        let ended = finish(command.arg(&results)).expect(0);

        let run = RunFiles::newest(&results);
        let found = run.single_results();
        let default_splits = |id: &&String| id.starts_with("real_test__") || id.starts_with("synth_test__");
        assert!(found.keys().eq(expected.keys().filter(default_splits)), "{agent}: {:?}", found.keys());
        for (id, result) in &found {
            let wanted = &expected[id];
            let issues: Vec<&str> = wanted.issue.as_deref().into_iter().collect();
            assert_eq!(codes(result), issues, "{agent} {id}");
            let close = |name: &str, wanted: f64| {
                let found = result["metrics"][name].as_f64().unwrap_or(f64::NAN);
                assert!((found - wanted).abs() < 1e-6, "{agent} {id} {name}: {found}, not {wanted}");
            };
            close("score", wanted.score);
            close("recall_context", wanted.recall_context);
            close("mean_accuracy_score", wanted.mean_accuracy_score);
            let steps = result["trajectory"]["steps"].as_array().map_or(0, Vec::len);
            assert_eq!(steps, wanted.turns as usize, "{agent} {id}");
            assert_eq!(result["meta"]["harness"]["telemetry"]["iterations"], wanted.turns, "{agent} {id}");
            let judged = &result["meta"]["benchmark"]["discoverybench"]["judge_telemetry"]["calls"];
            assert_eq!(judged.as_u64().unwrap_or(0), u64::from(wanted.judge_calls), "{agent} {id}");
        }

        // The mean of what was worked out by hand is in the report and in the table.
        let mean = found.keys().map(|id| expected[id].score).sum::<f64>() / found.len() as f64;
        let reported = headline(&run.json("metrics.json"));
        assert!((reported - mean).abs() < 1e-6, "{reported}, not {mean}");
        for text in [&ended.stdout, &run.text("summary.md")] {
            assert!(text.contains(&format!("{mean:.4}")), "{agent}: {mean:.4} is not in\n{text}");
        }
        assert!(ended.stdout.contains("synth_test") && ended.stdout.contains("apiculture"), "{}", ended.stdout);
        let report = run.dir().join("summary.md");
        assert!(ended.stderr.contains(&format!("report: {}", report.display())), "{}", ended.stderr);
        assert_eq!(stage.leftovers(), Vec::<std::path::PathBuf>::new());
    }
}

/// The overall score.
pub(crate) fn headline(metrics: &Value) -> f64 {
    let series = metrics["series"].as_array().expect("series");
    let score = series.iter().find(|series| series["metric_id"] == "score").expect("the score");
    score["value"].as_f64().expect("a number")
}
