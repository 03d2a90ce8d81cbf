//! `fixtures/report/agentcompass.json`: made-up outcomes with the report and summary AgentCompass 1.0.1 made of them
//! (`fixtures/report/generate.py`, run where it is installed). Every byte must be equal.

use std::collections::BTreeMap;

use argosy_coordinator::report::{
    hierarchy, metrics,
    outcome::{Aggregation, AttemptOutcome, Plan, TaskOutcome, discoverybench_metrics},
    summary,
};
use argosy_shared::{id::TaskId, issue::Issue, run_dir::json};
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

use crate::support::bare;

#[derive(Deserialize)]
struct Case {
    name: String,
    k: u32,
    aggregation_mode: String,
    category_hierarchy: Option<Value>,
    details: Vec<Detail>,
    metrics: Value,
    summary: String,
}

#[derive(Deserialize)]
struct Detail {
    task_id: TaskId,
    category: Option<String>,
    attempts: BTreeMap<u32, Attempt>,
}

#[derive(Deserialize)]
struct Attempt {
    metrics: IndexMap<String, f64>,
    issues: Vec<Issue>,
}

#[test]
fn reports_and_summaries_are_agentcompasss_to_the_byte() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../../fixtures/report/agentcompass.json")).unwrap();
    assert!(cases.len() > 10);
    for case in cases {
        let tasks: Vec<TaskOutcome> = case
            .details
            .into_iter()
            .map(|detail| TaskOutcome {
                task: detail.task_id,
                category: detail.category,
                attempts: detail
                    .attempts
                    .into_iter()
                    .map(|(number, attempt)| {
                        (number, AttemptOutcome { metrics: attempt.metrics, issues: attempt.issues })
                    })
                    .collect(),
            })
            .collect();
        let aggregation = match (&case.category_hierarchy, case.aggregation_mode.as_str()) {
            (Some(tree), _) => Aggregation::Hierarchy(hierarchy::parse(tree).unwrap()),
            (None, "category_mean") => Aggregation::CategoryMean,
            (None, _) => Aggregation::MicroWeighted,
        };
        let plan =
            Plan { k: case.k, metrics: discoverybench_metrics(), aggregation, tasks: Vec::new(), unnamed_missing: 0 };
        let report = bare(metrics::aggregate(&tasks, &plan).unwrap());
        assert_eq!(
            report.to_json().unwrap(),
            json::pretty_sorted(&case.metrics).unwrap(),
            "{}: metrics.json",
            case.name
        );
        let text = summary::markdown("org/model`x", "discoverybench", &report);
        assert_eq!(text, case.summary, "{}: summary.md", case.name);
    }
}
