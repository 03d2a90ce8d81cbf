//! `argosy export` as a process: what is written, what is said, and that what is missing is marked.

use std::fs;

use argosy_shared::run_dir::names::DETAILS;
use serde_json::Value;

use crate::runs::{self, Run, Said, argosy};

fn export(run: &Run, arguments: &[&str]) -> Said {
    argosy(["export", run.dir.to_str().expect("UTF-8"), "--to"].iter().chain(arguments))
}

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_clean_run_is_exported_whole_and_without_a_word() {
    let run = runs::clean();
    let said = export(&run, &["jsonl"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    let lines = rows(&said.out);
    assert_eq!(lines.len(), 16);
    assert!(lines.iter().all(|row| row["score"].is_f64() && row["judge_model"] == "demo-judge"));
    let mean = lines.iter().filter_map(|row| row["score"].as_f64()).sum::<f64>() / 16.0;
    let metrics: Value = serde_json::from_slice(&fs::read(run.dir.join("metrics.json")).expect("read")).expect("JSON");
    let headline = metrics["series"][0]["value"].as_f64().expect("a value");
    assert!((mean - headline).abs() < 1e-12, "{mean} {headline}");

    // Answers have several lines and commas: the CSV reads back as what the JSON says.
    let said = export(&run, &["csv"]);
    let mut reader = csv::Reader::from_reader(said.out.as_bytes());
    let header: Vec<String> = reader.headers().expect("a header").iter().map(ToOwned::to_owned).collect();
    let records: Vec<csv::StringRecord> = reader.records().map(|record| record.expect("a record")).collect();
    assert_eq!(records.len(), 16);
    assert!(lines.iter().any(|row| row["answer"].as_str().is_some_and(|answer| answer.contains('\n'))));
    for (record, row) in records.iter().zip(&lines) {
        assert_eq!(header, row.as_object().expect("an object").keys().cloned().collect::<Vec<_>>());
        for (name, cell) in header.iter().zip(record) {
            match &row[name] {
                Value::Null => assert_eq!(cell, ""),
                Value::String(text) => assert_eq!(cell.trim_start_matches('\''), text),
                Value::Number(number) => assert_eq!(cell.parse::<f64>().ok(), number.as_f64()),
                _ => {}
            }
        }
    }
}

#[test]
fn what_is_invalid_or_missing_has_no_score_and_is_named() {
    let run = runs::troubled();
    let fatal = fs::read_dir(run.dir.join(DETAILS).join("fatal")).expect("invalidated tasks").count();
    let lost = fs::read_dir(run.dir.join(DETAILS).join("normal")).expect("tasks").next().expect("one").expect("one");
    fs::remove_dir_all(lost.path()).expect("removed");

    let said = export(&run, &["jsonl"]);
    assert_eq!(said.code, Some(0));
    assert!(said.err.contains("the run is `failed`"), "{}", said.err);
    assert!(said.err.contains("2 of 12 attempts have no result"), "{}", said.err);
    assert!(said.err.contains(&format!("{} of 12 attempts are invalidated", 2 * fatal)), "{}", said.err);
    let lines = rows(&said.out);
    assert_eq!(lines.len(), 12, "one row per planned attempt");
    for row in &lines {
        let valid = ["normal", "error"].contains(&row["state"].as_str().expect("a state"));
        assert_eq!(row["score"].is_number(), valid, "{row}");
        assert_eq!(row["recall_context"].is_number(), valid, "{row}");
    }
    assert_eq!(lines.iter().filter(|row| row["state"] == "missing").count(), 2);

    let log = run.place.path().join("log.json");
    let said = export(&run, &["inspect", "--output", log.to_str().expect("UTF-8")]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let log: Value = serde_json::from_slice(&fs::read(&log).expect("written")).expect("JSON");
    assert_eq!(log["status"], "error");
    assert_eq!(log["eval"]["metadata"]["argosy"]["missing"]["without_result"].as_array().map(Vec::len), Some(2));
    assert!(log["results"]["scores"][0]["metrics"].get("mean").is_none(), "no official mean");
    let samples = log["samples"].as_array().expect("samples");
    assert_eq!(samples.len(), 10);
    for sample in samples {
        assert_eq!(sample.get("scores").is_none(), sample["metadata"]["state"] == "fatal");
        assert_eq!(sample.get("error").is_some(), sample["metadata"]["state"] == "fatal");
    }

    let folder = run.place.path().join("trajectories");
    let said = export(&run, &["atif", "--output", folder.to_str().expect("UTF-8")]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let index: Value = serde_json::from_slice(&fs::read(folder.join("index.json")).expect("read")).expect("JSON");
    assert_eq!(index["trajectories"].as_array().map(Vec::len), Some(10));
    assert_eq!(index["missing"]["without_result"].as_array().map(Vec::len), Some(2));
}

#[test]
fn bad_input_is_refused_with_the_next_step() {
    let nowhere = argosy(["export", "nowhere", "--to", "csv"]);
    assert_eq!(nowhere.code, Some(2));
    assert!(nowhere.err.contains("nowhere: not a run directory") && nowhere.err.contains("hint:"), "{}", nowhere.err);
    assert_eq!(argosy(["export", "nowhere", "--to", "parquet"]).code, Some(2));
    let run = runs::clean();
    let said = export(&run, &["atif"]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("--output DIR"), "{}", said.err);
    let said = export(&run, &["csv", "--output", "/no/such/folder/x.csv"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("/no/such/folder/x.csv"), "{}", said.err);
}
