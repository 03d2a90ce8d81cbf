//! Outcomes made by hand.

use std::collections::BTreeMap;

use argosy_coordinator::report::{
    metric_report::MetricReport,
    outcome::{Aggregation, AttemptOutcome, Plan, TaskOutcome, discoverybench_metrics},
};
use argosy_shared::{
    id::TaskId,
    issue::{Code, Issue, Phase},
};

/// A task with attempts of (score, recall_context, mean_accuracy_score) or none, and their issues.
pub(crate) fn task(id: &str, category: &str, attempts: &[(Option<[f64; 3]>, Vec<Issue>)]) -> TaskOutcome {
    let attempts: BTreeMap<u32, AttemptOutcome> = (1..)
        .zip(attempts)
        .map(|(number, (metrics, issues))| {
            let names = discoverybench_metrics();
            let metrics = metrics.iter().flat_map(|values| names.iter().cloned().zip(*values)).collect();
            (number, AttemptOutcome { metrics, issues: issues.clone() })
        })
        .collect();
    TaskOutcome { task: TaskId::from(id), category: Some(category.to_owned()), attempts }
}

pub(crate) fn error() -> Issue {
    Issue::new(Phase::Run, Code::HarnessMaxIterations, "no final answer after 3 turns")
}

pub(crate) fn fatal() -> Issue {
    Issue::new(Phase::Run, Code::ModelFailed, "HTTP 503: mock upstream unavailable")
}

pub(crate) fn plan(k: u32) -> Plan {
    Plan {
        k,
        metrics: discoverybench_metrics(),
        aggregation: Aggregation::ThreeLevels,
        tasks: Vec::new(),
        unnamed_missing: 0,
    }
}

/// The report without Argosy's additions, as AgentCompass would have written it.
pub(crate) fn bare(mut report: MetricReport) -> MetricReport {
    report.extra.clear();
    for series in &mut report.series {
        series.extra.clear();
    }
    report
}
