//! `summary.md`, byte for byte as AgentCompass 1.0.1 writes it (contract section 3.6), plus one paragraph of ours when
//! results are missing, which AgentCompass cannot know.

use std::collections::BTreeMap;

use super::metric_report::{Breakdown, MetricReport, Series};

/// The file's content.
#[must_use]
pub fn markdown(model: &str, benchmark: &str, report: &MetricReport) -> String {
    let Some(headline) = report.headline() else { return String::new() };
    let counts = &headline.counts;
    let mut lines = vec![
        format!("# {} Evaluation Results", escaped(&benchmark.to_uppercase())),
        String::new(),
        format!("**Model:** {}", inline_code(model)),
        String::new(),
        format!("**Total:** {}", counts.total),
        format!("**Evaluated:** {}/{}", counts.evaluated, counts.total),
        format!("**Invalidated:** {}", counts.invalidated),
        format!("**Error:** {}", counts.error),
    ];
    if report.k == 1 {
        one_attempt(&mut lines, report, headline);
    } else {
        several_attempts(&mut lines, report);
    }
    if report.evaluation_failed {
        lines.push(String::new());
        lines.push(
            "**Evaluation failed:** no official score. Values labelled reference exclude all tasks with final FATAL issues."
                .to_owned(),
        );
    }
    if let Some(coverage) = report.coverage().filter(|coverage| coverage.missing > 0) {
        lines.push(String::new());
        lines.push(format!(
            "**Incomplete:** {} of {} tasks have no result; they are counted as invalidated.",
            coverage.missing, coverage.planned
        ));
    }
    lines.join("\n") + "\n"
}

fn one_attempt(lines: &mut Vec<String>, report: &MetricReport, headline: &Series) {
    section(lines, "Metrics");
    let rows =
        report.series.iter().map(|series| vec![escaped(&series.metric_id), escaped(&series_value(series))]).collect();
    table(lines, &["Metric".to_owned(), "Value".to_owned()], rows);
    details(lines, "category", report, headline, |series| &series.categories);
    details(lines, "hierarchy", report, headline, |series| &series.hierarchy);
}

fn details(
    lines: &mut Vec<String>,
    name: &str,
    report: &MetricReport,
    headline: &Series,
    parts: fn(&Series) -> &BTreeMap<String, Breakdown>,
) {
    if parts(headline).is_empty() {
        return;
    }
    section(lines, &format!("Details: {name}"));
    let mut head = vec![name.to_owned()];
    head.extend(report.series.iter().map(|series| series.metric_id.clone()));
    head.extend(["total", "evaluated", "error"].map(ToOwned::to_owned));
    let rows = parts(headline)
        .iter()
        .map(|(key, part)| {
            let mut row = vec![escaped(key)];
            row.extend(report.series.iter().map(|series| {
                let part = parts(series).get(key);
                escaped(&part.map_or_else(|| "-".to_owned(), |part| labelled(part.value, part.reference_value, series)))
            }));
            row.extend([part.counts.total, part.counts.evaluated, part.counts.error].map(|count| count.to_string()));
            row
        })
        .collect();
    table(lines, &head, rows);
}

fn several_attempts(lines: &mut Vec<String>, report: &MetricReport) {
    lines.push(String::new());
    lines.push(format!(
        "**Attempt plan:** `k={}`, strategy `{}`, aggregation `{}`",
        report.k, report.strategy, report.aggregation
    ));
    section(lines, "Metrics");
    let head = ["Metric", "Role", "Reducer", "Formula", "Value", "Evaluated", "Error", "Unavailable", "Total"];
    let rows = report
        .series
        .iter()
        .map(|series| {
            let label = series.display.as_ref().map_or(&series.metric_id, |display| &display.label);
            let counts = &series.counts;
            vec![
                escaped(&format!("{label} ({}@{})", series.reducer, series.k)),
                series.role.clone(),
                series.reducer.clone(),
                series.aggregation.clone(),
                escaped(&series_value(series)),
                counts.evaluated.to_string(),
                counts.error.to_string(),
                counts.unavailable.to_string(),
                counts.total.to_string(),
            ]
        })
        .collect();
    table(lines, &head.map(ToOwned::to_owned), rows);
    lines.push(String::new());
    lines.push("Full metric data: [metrics.json](metrics.json)".to_owned());
}

fn section(lines: &mut Vec<String>, title: &str) {
    lines.extend([String::new(), format!("## {title}"), String::new()]);
}

/// A table as Python's `tabulate` writes its `github` format: a column is as wide as its widest cell, and at least two
/// wider than its heading.
fn table(lines: &mut Vec<String>, head: &[String], rows: Vec<Vec<String>>) {
    let length = |text: &str| text.trim().chars().count();
    let widths: Vec<usize> = head
        .iter()
        .enumerate()
        .map(|(column, title)| rows.iter().map(|row| length(&row[column])).fold(length(title) + 2, usize::max))
        .collect();
    let line = |cells: &[String]| {
        let cells: Vec<String> =
            cells.iter().zip(&widths).map(|(cell, width)| format!(" {:<width$} ", cell.trim())).collect();
        format!("|{}|", cells.join("|"))
    };
    lines.push(line(head));
    let rules: Vec<String> = widths.iter().map(|width| "-".repeat(width + 2)).collect();
    lines.push(format!("|{}|", rules.join("|")));
    lines.extend(rows.iter().map(|row| line(row)));
}

fn series_value(series: &Series) -> String {
    labelled(series.value, series.reference_value, series)
}

fn labelled(value: Option<f64>, reference: Option<f64>, series: &Series) -> String {
    match reference {
        Some(reference) => format!("{} (reference)", number(Some(reference), series)),
        None => number(value, series),
    }
}

fn number(value: Option<f64>, series: &Series) -> String {
    let Some(value) = value else { return "-".to_owned() };
    let display = series.display.as_ref();
    let precision = display.and_then(|display| display.precision).unwrap_or(4);
    match display.and_then(|display| display.unit.as_deref()) {
        Some(unit) => format!("{value:.precision$} {unit}"),
        None => format!("{value:.precision$}"),
    }
}

/// Text that cannot be taken for Markdown or HTML.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\r' | '\n' => escaped.push(' '),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\\' | '|' | '`' => escaped.extend(['\\', character]),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Text between more backticks than it holds in a row.
fn inline_code(text: &str) -> String {
    let text = text.replace(['\r', '\n'], " ");
    let mut fence = "`".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}{text}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_stays_text() {
        assert_eq!(escaped("a|b<c>&`d`\\e\nf"), "a\\|b&lt;c&gt;&amp;\\`d\\`\\\\e f");
        assert_eq!(inline_code("a``b`c\nd"), "```a``b`c d```");
    }

    #[test]
    fn columns_are_two_wider_than_their_headings() {
        let mut lines = Vec::new();
        table(&mut lines, &["ab".to_owned(), "c".to_owned()], vec![vec!["x".to_owned(), "\u{b5}12345".to_owned()]]);
        assert_eq!(lines, ["| ab   | c      |", "|------|--------|", "| x    | \u{b5}12345 |"]);
    }
}
