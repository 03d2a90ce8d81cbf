//! Files of real AgentCompass runs, made again from the outcomes those runs had.

use std::fs;

use argosy_coordinator::report::{metrics, outcome::TaskOutcome, summary};
use argosy_shared::issue::Issue;
use argosy_tests::places;

use crate::support::{bare, error, fatal, plan, task};

const RIGHT: Option<[f64; 3]> = Some([0.5, 1.0, 0.5]);
const ZERO: Option<[f64; 3]> = Some([0.0; 3]);

/// The six tasks of the sample runs, each with `k` attempts; `outcome` says what became of a task.
fn tasks(k: usize, outcome: impl Fn(&str) -> (Option<[f64; 3]>, Vec<Issue>)) -> Vec<TaskOutcome> {
    [
        ("real_test__alpha__0__0", "real_test:sociology"),
        ("real_test__alpha__0__1", "real_test:sociology"),
        ("real_test__beta__0__0", "real_test:biology"),
        ("synth_test__delta__0__0", "synth_test:music"),
        ("synth_test__gamma__0__0", "synth_test:ecology"),
        ("synth_test__gamma__1__0", "synth_test:ecology"),
    ]
    .into_iter()
    .map(|(id, category)| task(id, category, &vec![outcome(id); k]))
    .collect()
}

fn usual(id: &str) -> (Option<[f64; 3]>, Vec<Issue>) {
    if id.contains("beta") || id.contains("delta") { (ZERO, vec![error()]) } else { (RIGHT, Vec::new()) }
}

#[test]
fn sample_runs_give_the_same_files() {
    let Some(folder) = places::agentcompass_samples() else {
        places::skipped("sample_runs_give_the_same_files", "no AgentCompass samples beside the project");
        return;
    };
    let one_fatal = |id: &str| if id.ends_with("alpha__0__0") { (None, vec![fatal()]) } else { usual(id) };
    let cases = [
        ("clean", "mock-ok", 1, tasks(1, usual)),
        ("k2_avg", "mock-ok", 2, tasks(2, usual)),
        ("fatal_all", "mock-503", 1, tasks(1, |_| (None, vec![fatal()]))),
        ("reference_values", "mock-mixed", 1, tasks(1, one_fatal)),
    ];
    for (name, model, k, tasks) in cases {
        let report = bare(metrics::aggregate(&tasks, &plan(k)).unwrap());
        let read = |file: &str| fs::read_to_string(folder.join(format!("{name}.{file}"))).unwrap();
        assert_eq!(report.to_json().unwrap(), read("metrics.json"), "{name}");
        assert_eq!(summary::markdown(model, "mini_discovery", &report), read("summary.md"), "{name}");
    }
}
