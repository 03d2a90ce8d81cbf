//! From task outcomes to the report (contract of AgentCompass 1.0.1, sections 3.2 to 3.5).
//!
//! One thing is decided differently on purpose: a planned task without a published result is counted as invalidated
//! (AgentCompass does not know it exists). Its reader then sees reference values only, so that an unfinished run never
//! looks complete; how many tasks are missing is under `extra.coverage`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use argosy_shared::issue::Severity;
use serde_json::{Map, Value, json};

use super::{
    fsum::{fsum, mean},
    hierarchy::{self, Error, Node},
    metric_report::{Breakdown, Counts, Coverage, Display, MetricReport, Series},
    outcome::{Aggregation, Plan, TaskOutcome, UNCATEGORISED},
    stats::{self, Observation},
};

/// Whether a task contributes to a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Evaluated,
    Unavailable,
    Invalidated,
}

/// One task within one series.
struct Reduced<'a> {
    category: &'a str,
    group: Option<&'a str>,
    state: State,
    has_error: bool,
    value: Option<f64>,
}

/// A planned or found task.
struct Row<'a> {
    category: &'a str,
    group: Option<&'a str>,
    outcome: Option<&'a TaskOutcome>,
}

/// Aggregates all series of the plan.
///
/// # Errors
/// The hierarchy cannot be applied: a weighted node has no positive weight among its children with a value.
pub fn aggregate(tasks: &[TaskOutcome], plan: &Plan) -> Result<MetricReport, Error> {
    let rows = rows(tasks, plan);
    let categories: BTreeSet<&str> = rows.iter().map(|row| row.category).collect();
    let (aggregation, tree) = match &plan.aggregation {
        Aggregation::MicroWeighted => ("micro_weighted", None),
        Aggregation::CategoryMean => ("category_mean", None),
        Aggregation::Hierarchy(root) => ("category_hierarchy", Some(root.clone())),
        Aggregation::ThreeLevels => ("category_hierarchy", Some(hierarchy::three_levels(categories.iter().copied()))),
    };
    let mut series = Vec::with_capacity(plan.metrics.len());
    for (position, metric) in plan.metrics.iter().enumerate() {
        let reduced: Vec<Reduced<'_>> = rows.iter().map(|row| reduce(row, metric, plan.k)).collect();
        let role = if position == 0 { "headline" } else { "auxiliary" };
        series.push(one_series(metric, role, plan, aggregation, tree.as_ref(), &reduced)?);
    }
    let invalidated = series.iter().any(|series| series.counts.invalidated > 0);
    if invalidated {
        series.iter_mut().for_each(to_reference);
    }
    let mut extra = Map::new();
    if let Some(headline) = series.first() {
        let coverage = coverage(&headline.counts, &rows);
        extra.insert("coverage".to_owned(), json!(coverage));
    }
    Ok(MetricReport {
        k: plan.k,
        strategy: "avg".to_owned(),
        aggregation: aggregation.to_owned(),
        evaluation_failed: invalidated,
        series,
        extra,
    })
}

/// Planned tasks in their order, then tasks nobody planned, then those known only by number.
fn rows<'a>(tasks: &'a [TaskOutcome], plan: &'a Plan) -> Vec<Row<'a>> {
    let mut found: HashMap<&str, &TaskOutcome> = tasks.iter().map(|task| (task.task.as_str(), task)).collect();
    let mut rows: Vec<Row<'a>> = plan
        .tasks
        .iter()
        .map(|planned| {
            let outcome = found.remove(planned.task_id.as_str());
            let category = outcome.and_then(|task| task.category.as_deref()).unwrap_or(&planned.category);
            Row { category: category_name(category), group: planned.question_group.as_deref(), outcome }
        })
        .collect();
    rows.extend(tasks.iter().filter(|task| found.contains_key(task.task.as_str())).map(|task| Row {
        category: category_name(task.category.as_deref().unwrap_or_default()),
        group: None,
        outcome: Some(task),
    }));
    rows.extend((0..plan.unnamed_missing).map(|_| Row { category: UNCATEGORISED, group: None, outcome: None }));
    rows
}

fn category_name(category: &str) -> &str {
    match category.trim() {
        "" => UNCATEGORISED,
        name => name,
    }
}

/// A task's value in one series: its own for k = 1, else the mean over all k attempts if all are there.
fn reduce<'a>(row: &Row<'a>, metric: &str, k: u32) -> Reduced<'a> {
    let (category, group) = (row.category, row.group);
    let Some(outcome) = row.outcome else {
        return Reduced { category, group, state: State::Invalidated, has_error: false, value: None };
    };
    let attempts: Vec<_> = (1..=k).filter_map(|attempt| outcome.attempts.get(&attempt)).collect();
    let missing = attempts.len() < k as usize;
    let values: Vec<f64> = attempts.iter().filter_map(|attempt| attempt.metrics.get(metric).copied()).collect();
    let invalidated = outcome.attempts.values().any(|attempt| attempt.worst() == Some(Severity::Fatal));
    let errored = attempts.iter().any(|attempt| attempt.worst() >= Some(Severity::Error));
    let value = (values.len() == k as usize)
        .then(|| if k == 1 { values[0] } else { fsum(values.iter().map(|value| value / f64::from(k))) });
    let (state, value) = match (invalidated, value) {
        (true, _) => (State::Invalidated, None),
        (false, Some(value)) => (State::Evaluated, Some(value)),
        (false, None) => (State::Unavailable, None),
    };
    Reduced { category, group, state, has_error: invalidated || errored || missing, value }
}

fn one_series(
    metric: &str,
    role: &str,
    plan: &Plan,
    aggregation: &str,
    tree: Option<&Node>,
    tasks: &[Reduced<'_>],
) -> Result<Series, Error> {
    let mut by_category: BTreeMap<&str, Vec<&Reduced<'_>>> = BTreeMap::new();
    for task in tasks {
        by_category.entry(task.category).or_default().push(task);
    }
    let categories: BTreeMap<String, Breakdown> =
        by_category.iter().map(|(category, tasks)| ((*category).to_owned(), breakdown(tasks))).collect();
    let nodes = tree.map(|root| hierarchy::aggregate(root, &categories)).transpose()?.unwrap_or_default();
    let all: Vec<&Reduced<'_>> = tasks.iter().collect();
    let value = match &plan.aggregation {
        Aggregation::MicroWeighted => mean(&values(&all)),
        Aggregation::CategoryMean => {
            mean(&categories.values().filter_map(|category| category.value).collect::<Vec<_>>())
        }
        Aggregation::Hierarchy(_) | Aggregation::ThreeLevels => nodes.get("overall").and_then(|root| root.value),
    };
    let reducer = if plan.k == 1 { "native" } else { "avg" };
    Ok(Series {
        series_id: format!("{metric}.{reducer}@{}", plan.k),
        metric_id: metric.to_owned(),
        kind: "scalar".to_owned(),
        reducer: reducer.to_owned(),
        role: role.to_owned(),
        aggregation: aggregation.to_owned(),
        display: Some(Display { label: title(metric), description: None, unit: None, precision: None }),
        k: plan.k,
        value,
        reference_value: None,
        counts: counts(&all),
        extra: Map::from_iter([("statistics".to_owned(), statistics(tree, &by_category, &all))]),
        categories,
        hierarchy: nodes,
    })
}

fn breakdown(tasks: &[&Reduced<'_>]) -> Breakdown {
    let counts = counts(tasks);
    #[allow(clippy::cast_precision_loss, reason = "counts of tasks stay far below 2^52")]
    let aggregation_weight = counts.evaluated as f64;
    Breakdown { value: mean(&values(tasks)), reference_value: None, counts, aggregation_weight }
}

fn values(tasks: &[&Reduced<'_>]) -> Vec<f64> {
    tasks.iter().filter_map(|task| task.value).collect()
}

fn counts(tasks: &[&Reduced<'_>]) -> Counts {
    let count = |wanted: &dyn Fn(&Reduced<'_>) -> bool| tasks.iter().filter(|task| wanted(task)).count() as u64;
    Counts {
        total: tasks.len() as u64,
        evaluated: count(&|task| task.state == State::Evaluated),
        error: count(&|task| task.has_error),
        unavailable: count(&|task| task.state == State::Unavailable),
        invalidated: count(&|task| task.state == State::Invalidated),
    }
}

/// `{"overall": …, "hierarchy" or "categories": {…}}`, each about the mean over the evaluated tasks of that part.
fn statistics(tree: Option<&Node>, by_category: &BTreeMap<&str, Vec<&Reduced<'_>>>, all: &[&Reduced<'_>]) -> Value {
    let about = |tasks: &[&Reduced<'_>]| {
        let observations: Vec<Observation<'_>> =
            tasks.iter().filter_map(|task| Some(Observation { value: task.value?, group: task.group })).collect();
        json!(stats::describe(&observations, tasks.len()))
    };
    let mut parts = Map::new();
    let name = match tree {
        Some(root) => {
            for (path, leaves) in hierarchy::leaves(root) {
                let tasks: Vec<&Reduced<'_>> = leaves
                    .iter()
                    .filter_map(|leaf| by_category.get(leaf.as_str()))
                    .flat_map(|tasks| tasks.iter().copied())
                    .collect();
                parts.insert(path, about(&tasks));
            }
            "hierarchy"
        }
        None => {
            for (category, tasks) in by_category {
                parts.insert((*category).to_owned(), about(tasks));
            }
            "categories"
        }
    };
    json!({"overall": about(all), name: parts})
}

/// Moves every number of a series to its reference value.
fn to_reference(series: &mut Series) {
    series.reference_value = series.value.take();
    for part in series.categories.values_mut().chain(series.hierarchy.values_mut()) {
        part.reference_value = part.value.take();
    }
}

fn coverage(counts: &Counts, rows: &[Row<'_>]) -> Coverage {
    let missing = rows.iter().filter(|row| row.outcome.is_none()).count() as u64;
    Coverage {
        complete: counts.evaluated == counts.total && counts.total > 0,
        planned: counts.total,
        evaluated: counts.evaluated,
        fatal: counts.invalidated - missing,
        unavailable: counts.unavailable,
        missing,
    }
}

/// `recall_context` becomes `Recall Context`, as Python's `title` does it.
fn title(metric: &str) -> String {
    let mut title = String::with_capacity(metric.len());
    let mut inside = false;
    for character in metric.replace('_', " ").chars() {
        if inside {
            title.extend(character.to_lowercase());
        } else {
            title.extend(character.to_uppercase());
        }
        inside = character.is_alphabetic();
    }
    title
}
