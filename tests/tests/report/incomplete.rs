//! A run that lacks results is never dressed up.

use argosy_coordinator::report::{metrics, stats::Statistics, summary, table};
use argosy_shared::{id::TaskId, run_dir::PlannedTask};

use crate::support::{fatal, plan, task};

fn planned(id: &str, category: &str) -> PlannedTask {
    PlannedTask { task_id: TaskId::from(id), category: category.to_owned(), question_group: None }
}

#[test]
fn missing_tasks_withhold_the_official_value() {
    let tasks = [task("a", "s:x", &[(Some([1.0, 1.0, 1.0]), Vec::new())])];
    let mut plan = plan(1);
    plan.tasks = vec![planned("a", "s:x"), planned("b", "s:x"), planned("c", "s:y")];
    let report = metrics::aggregate(&tasks, &plan).unwrap();
    let headline = report.headline().unwrap();
    assert!(report.evaluation_failed);
    assert_eq!((headline.value, headline.reference_value), (None, Some(1.0)));
    let counts = headline.counts;
    assert_eq!((counts.total, counts.evaluated, counts.invalidated, counts.error), (3, 1, 2, 0));
    assert_eq!(headline.hierarchy["overall/s/s:y"].counts.invalidated, 1);
    let coverage = report.coverage().unwrap();
    assert_eq!((coverage.complete, coverage.missing, coverage.fatal, coverage.planned), (false, 2, 0, 3));

    let text = summary::markdown("m", "discoverybench", &report);
    assert!(
        text.ends_with("\n**Incomplete:** 2 of 3 tasks have no result; they are counted as invalidated.\n"),
        "{text}"
    );
    let shown = table::scores(&report);
    assert!(shown.contains("NOT AN OFFICIAL SCORE: 1 of 3 tasks count (2 without a result)."), "{shown}");
    assert!(shown.contains("scored 0 the mean is 0.3333, with every one scored 1 it is 1.0000"), "{shown}");
}

#[test]
fn one_survivor_among_439_is_no_score() {
    let mut tasks: Vec<_> = (0..438).map(|n| task(&format!("f{n}"), "s:x", &[(None, vec![fatal()])])).collect();
    tasks.push(task("ok", "s:x", &[(Some([1.0; 3]), Vec::new())]));
    let report = metrics::aggregate(&tasks, &plan(1)).unwrap();
    let headline = report.headline().unwrap();
    assert_eq!((headline.value, headline.reference_value), (None, Some(1.0)));
    let overall: Statistics = serde_json::from_value(headline.extra["statistics"]["overall"].clone()).unwrap();
    assert_eq!(overall.n, 1);
    assert!((overall.coverage.unwrap() - 1.0 / 439.0).abs() < 1e-15);
    let bounds = overall.bounds.unwrap();
    assert!((bounds.low - 0.002_277_9).abs() < 1e-6 && (bounds.high - 1.0).abs() < 1e-12);
    assert_eq!(overall.interval, None, "nothing can be said from one task");
}

#[test]
fn a_fatal_attempt_invalidates_its_task_only() {
    let right = || (Some([1.0; 3]), Vec::new());
    let tasks = [
        task("a", "s:x", &[right(), (None, vec![fatal()]), right()]),
        task("b", "s:x", &[right(), right(), (Some([0.0; 3]), Vec::new())]),
    ];
    let report = metrics::aggregate(&tasks, &plan(3)).unwrap();
    let headline = report.headline().unwrap();
    assert_eq!(headline.counts.evaluated, 1);
    assert_eq!(headline.reference_value, Some(1.0 / 3.0 + 1.0 / 3.0));
}

#[test]
fn missing_tasks_of_a_foreign_directory_count_without_a_name() {
    let tasks = [task("a", "s:x", &[(Some([1.0; 3]), Vec::new())])];
    let mut plan = plan(1);
    plan.unnamed_missing = 2;
    let report = metrics::aggregate(&tasks, &plan).unwrap();
    let headline = report.headline().unwrap();
    assert_eq!(headline.hierarchy["overall/__uncategorized__"].counts.invalidated, 2);
    assert_eq!(headline.hierarchy["overall"].counts.total, 3);
}

#[test]
fn tasks_that_share_a_question_widen_the_error() {
    let values = [1.0, 1.0, 0.0, 0.0, 1.0, 1.0];
    let tasks: Vec<_> = values
        .iter()
        .enumerate()
        .map(|(n, value)| task(&n.to_string(), "s:x", &[(Some([*value; 3]), Vec::new())]))
        .collect();
    let mut plan = plan(1);
    plan.tasks = (0..6).map(|n| planned(&n.to_string(), "s:x")).collect();
    let error = |plan: &argosy_coordinator::report::outcome::Plan| {
        let report = metrics::aggregate(&tasks, plan).unwrap();
        let overall = report.headline().unwrap().extra["statistics"]["overall"].clone();
        let overall: Statistics = serde_json::from_value(overall).unwrap();
        (overall.standard_error.unwrap(), overall.clustered.map(|clustered| clustered.standard_error))
    };
    let (independent, clustered) = error(&plan);
    assert_eq!(clustered, None);
    for (n, task) in plan.tasks.iter_mut().enumerate() {
        task.question_group = Some((n / 2).to_string());
    }
    let (same, clustered) = error(&plan);
    assert_eq!(same, independent);
    assert!(clustered.unwrap() > independent * 1.2);
}
