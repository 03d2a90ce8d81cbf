//! The score table for the terminal: readable without colour, and plain about what is missing.

use comfy_table::{CellAlignment, ContentArrangement, ContentLineStyle, LineStyle, Table, TableStyle};

use super::{
    metric_report::{Breakdown, Coverage, MetricReport, Series},
    stats::{Bounds, Method, Statistics},
};

/// Rules only where they help: below the heading and between columns.
const STYLE: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none().junction('|'))
    .header_separator(LineStyle::none().fill('-').junction('+'))
    .content_lines(ContentLineStyle::none().junction('|'));

/// Overall, splits and domains (or categories) with their uncertainty, then what the numbers rest on.
#[must_use]
pub fn scores(report: &MetricReport) -> String {
    let Some(headline) = report.headline() else { return "no scores".to_owned() };
    let coverage = report.coverage();
    let official = coverage.as_ref().map_or(!report.evaluation_failed, |coverage| coverage.complete);
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Disabled);
    let head = head(report, headline, official);
    let columns = head.len();
    table.set_header(head);

    let overall = Breakdown {
        value: headline.value,
        reference_value: headline.reference_value,
        counts: headline.counts,
        aggregation_weight: 0.0,
    };
    let whole = |series: &Series| series.any_value();
    // The root of a hierarchy is the headline, unless the hierarchy covers only a part of the run.
    table.add_row(row(report, headline, "overall", &overall, statistics(headline, &["overall"]), whole));
    let by_path = !headline.hierarchy.is_empty();
    let (group, parts) =
        if by_path { ("hierarchy", &headline.hierarchy) } else { ("categories", &headline.categories) };
    for (path, part) in parts.iter().filter(|(path, _)| !(by_path && *path == "overall")) {
        let value = |series: &Series| {
            let parts = if by_path { &series.hierarchy } else { &series.categories };
            parts.get(path).and_then(Breakdown::any_value)
        };
        let name = if by_path { indented(path) } else { path.clone() };
        table.add_row(row(report, headline, &name, part, statistics(headline, &[group, path]), value));
    }
    for column in 1..columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text = table.trim_fmt();
    text.push('\n');
    text.push_str(&remarks(report, headline, coverage.as_ref()));
    text
}

fn head(report: &MetricReport, headline: &Series, official: bool) -> Vec<String> {
    let title = |series: &Series| {
        let title = series.metric_id.replace('_', "\n");
        if official { title } else { format!("{title}\n(reference)") }
    };
    let mut head = vec![String::new(), "tasks".to_owned(), title(headline)];
    head.extend(["standard\nerror", "95 % interval"].map(ToOwned::to_owned));
    head.extend(others(report, headline).map(title));
    head.extend(["error", "invalid"].map(ToOwned::to_owned));
    head
}

/// All series but the headline.
fn others<'a>(report: &'a MetricReport, headline: &'a Series) -> impl Iterator<Item = &'a Series> {
    report.series.iter().filter(|series| series.series_id != headline.series_id)
}

fn row(
    report: &MetricReport,
    headline: &Series,
    name: &str,
    part: &Breakdown,
    statistics: Option<Statistics>,
    value: impl Fn(&Series) -> Option<f64>,
) -> Vec<String> {
    let counts = part.counts;
    let mut row = vec![name.to_owned(), tasks(counts.evaluated, counts.total), number(value(headline))];
    row.push(number(statistics.as_ref().and_then(standard_error)));
    row.push(
        statistics
            .and_then(|statistics| statistics.interval)
            .map_or_else(|| "-".to_owned(), |interval| format!("{:.4} .. {:.4}", interval.low, interval.high)),
    );
    row.extend(others(report, headline).map(|series| number(value(series))));
    row.push(counts.error.to_string());
    row.push(counts.invalidated.to_string());
    row
}

/// `6`, or `5 of 6` where some have no value.
fn tasks(evaluated: u64, total: u64) -> String {
    if evaluated == total { total.to_string() } else { format!("{evaluated} of {total}") }
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"))
}

/// The clustered error where there is one.
fn standard_error(statistics: &Statistics) -> Option<f64> {
    statistics.clustered.map(|clustered| clustered.standard_error).or(statistics.standard_error)
}

fn statistics(series: &Series, path: &[&str]) -> Option<Statistics> {
    let found = path.iter().try_fold(series.extra.get("statistics")?, |value, key| value.get(key))?;
    serde_json::from_value(found.clone()).ok()
}

/// The last part of a path, indented by its depth; `split:domain` below `split` is just the domain.
fn indented(path: &str) -> String {
    let plain = |segment: &str| segment.replace("~1", "/").replace("~0", "~");
    let mut segments: Vec<String> = path.split('/').map(plain).collect();
    let depth = segments.len() - 1;
    let name = segments.pop().unwrap_or_default();
    let parent = segments.pop().unwrap_or_default();
    let short = name.strip_prefix(&parent).and_then(|rest| rest.strip_prefix(':')).unwrap_or(&name);
    format!("{}{short}", "  ".repeat(depth))
}

fn remarks(report: &MetricReport, headline: &Series, coverage: Option<&Coverage>) -> String {
    let mut lines = Vec::new();
    let overall = statistics(headline, &["overall"]);
    match coverage {
        Some(coverage) if !coverage.complete => {
            let mut lacking = Vec::new();
            for (count, what) in [
                (coverage.missing, "without a result"),
                (coverage.fatal, "invalidated by a FATAL issue"),
                (coverage.unavailable, "without a value"),
            ] {
                if count > 0 {
                    lacking.push(format!("{count} {what}"));
                }
            }
            lines.push(format!(
                "NOT AN OFFICIAL SCORE: {} of {} tasks count ({}).",
                coverage.evaluated,
                coverage.planned,
                lacking.join(", ")
            ));
            if let Some(Bounds { low, high }) = overall.as_ref().and_then(|overall| overall.bounds) {
                lines.push(format!(
                    "With every lacking task scored 0 the mean is {low:.4}, with every one scored 1 it is {high:.4}."
                ));
            }
        }
        None if report.evaluation_failed => {
            lines.push("NOT AN OFFICIAL SCORE: tasks were invalidated by FATAL issues.".to_owned());
        }
        Some(_) | None => {}
    }
    if report.k > 1 {
        lines.push(format!("Each task's value is the mean of its {} attempts.", report.k));
    }
    let describes_headline = report.aggregation == "micro_weighted" || is_plain_mean(headline, overall.as_ref());
    if let Some(interval) = overall.as_ref().and_then(|overall| overall.interval) {
        let of =
            if describes_headline { "" } else { " (of the plain mean over tasks, not of the weighted overall value)" };
        let how = match interval.method {
            Method::T => "Student's t",
            Method::TClustered => "Student's t, tasks that share a question taken together",
            Method::Bootstrap => "bootstrap",
            Method::BootstrapClustered => "bootstrap, tasks that share a question taken together",
        };
        let parts = match interval.method {
            Method::T | Method::TClustered => "; for parts below 60 tasks: bootstrap",
            Method::Bootstrap | Method::BootstrapClustered => "",
        };
        lines.push(format!("Error and interval of the {}{of}: {how}{parts}.", headline.metric_id));
    }
    lines.join("\n")
}

fn is_plain_mean(headline: &Series, overall: Option<&Statistics>) -> bool {
    match (headline.any_value(), overall.and_then(|overall| overall.mean)) {
        (Some(value), Some(mean)) => (value - mean).abs() < 1e-9,
        _ => true,
    }
}
