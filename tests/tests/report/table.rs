//! The table for the terminal.

use argosy_coordinator::report::{metrics, outcome::Aggregation, table};

use crate::support::{error, plan, task};

#[test]
fn the_table_shows_every_level_with_its_uncertainty() {
    let score = |value: f64| (Some([value, 1.0, value]), Vec::new());
    let tasks = [
        task("a", "real_test:sociology", &[score(0.25)]),
        task("b", "real_test:sociology", &[score(0.75)]),
        task("c", "real_test:meta science", &[(Some([0.0; 3]), vec![error()])]),
        task("d", "synth_test:music", &[score(1.0)]),
    ];
    let report = metrics::aggregate(&tasks, &plan(1)).unwrap();
    insta::assert_snapshot!(table::scores(&report));
}

#[test]
fn a_weighted_value_is_not_described_by_the_plain_mean() {
    let tasks = [
        task("a", "x", &[(Some([1.0; 3]), Vec::new())]),
        task("b", "x", &[(Some([1.0; 3]), Vec::new())]),
        task("c", "y", &[(Some([0.0; 3]), Vec::new())]),
    ];
    let mut plan = plan(1);
    plan.aggregation = Aggregation::CategoryMean;
    let report = metrics::aggregate(&tasks, &plan).unwrap();
    assert_eq!(report.headline().unwrap().value, Some(0.5));
    assert!(table::scores(&report).contains("of the plain mean over tasks, not of the weighted overall value"));
}
