//! A run directory is a projection of its journal: deleting and rebuilding it gives the same bytes, times apart.

use std::{collections::BTreeMap, fs};

use argosy_shared::run_dir::names::{DETAILS, JOURNAL, METRICS, PARAMS, RUN_INFO, SUMMARY};
use serde_json::Value;

use crate::runs::{self, Run, Said, argosy, files};

fn rebuild(run: &Run) -> Said {
    argosy([
        "rebuild".as_ref(),
        run.dir.as_os_str(),
        "--dataset".as_ref(),
        run.demo.dataset.as_os_str(),
        "--prompt-pack".as_ref(),
        run.demo.prompt_pack.as_os_str(),
    ])
}

/// The files that follow from the journal: all but those of locks, journal and progress; of `run_info.json` all but the
/// time of the metrics.
fn projection(run: &Run) -> BTreeMap<String, Vec<u8>> {
    let mut files = files(&run.dir);
    files.retain(|name, _| name.starts_with(DETAILS) || [METRICS, SUMMARY, PARAMS, RUN_INFO].contains(&name.as_str()));
    let info = files.get_mut(RUN_INFO).expect("run_info.json");
    let mut value: Value = serde_json::from_slice(info).expect("JSON");
    value["metric_artifacts"]["generated_at"] = Value::Null;
    *info = serde_json::to_vec(&value).expect("JSON");
    files
}

fn assert_same(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) {
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(before), names(after));
    for (name, bytes) in before {
        assert!(bytes == &after[name], "{name} differs");
    }
}

#[test]
fn a_clean_run_is_made_again_to_the_byte() {
    let run = runs::clean();
    assert_eq!(run.said.code, Some(0), "{}", run.said.err);
    let progress: Value = serde_json::from_slice(&files(&run.dir)["progress.json"]).expect("JSON");
    assert_eq!((&progress["total_tasks"], &progress["finished_tasks"]), (&16.into(), &16.into()));
    assert_eq!((&progress["pending_tasks"], &progress["status"]), (&0.into(), &"completed".into()));
    let before = projection(&run);
    assert!(before.len() > 40, "{}", before.len());
    fs::remove_dir_all(run.dir.join(DETAILS)).expect("removed");
    fs::remove_file(run.dir.join(METRICS)).expect("removed");
    fs::remove_file(run.dir.join(SUMMARY)).expect("removed");
    fs::remove_file(run.dir.join(PARAMS)).expect("removed");
    let said = rebuild(&run);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.err.contains("rebuilt: 16 of 16 tasks"), "{}", said.err);
    assert_same(&before, &projection(&run));
}

#[test]
fn discarded_executions_and_judgings_are_made_again_too() {
    let run = runs::troubled();
    assert_eq!(run.said.code, Some(1), "{}", run.said.err);
    let before = projection(&run);
    let with = |part: &str| before.keys().filter(|name| name.contains(part)).count();
    assert!(with(".attempt.json") > 0, "no execution was discarded: {:?}", before.keys());
    assert!(with(".evaluate.json") > 0, "no judging was discarded: {:?}", before.keys());
    assert!(with("details/fatal/") > 0, "no task was invalidated: {:?}", before.keys());

    // Damage instead of loss: a file cut off, one altered, one too many, a task in the wrong state.
    let result = before.keys().find(|name| name.ends_with("attempt-1/result.json")).expect("a result");
    fs::write(run.dir.join(result), "{\"status\":").expect("written");
    let index = before.keys().find(|name| name.ends_with("task.json")).expect("an index");
    fs::write(run.dir.join(index), "{}").expect("written");
    fs::write(run.dir.join(DETAILS).join("stray"), "x").expect("written");
    let said = rebuild(&run);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_same(&before, &projection(&run));
}

#[test]
fn nothing_is_touched_when_it_cannot_be_rebuilt() {
    let run = runs::clean();
    let before = files(&run.dir);
    let details = |files: &BTreeMap<String, Vec<u8>>| {
        files.iter().filter(|(name, _)| name.starts_with(DETAILS)).map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    // Another dataset: the gold of one task is changed.
    let key = run.demo.dataset.join("eval/answer_key_real.csv");
    let text = fs::read_to_string(&key).expect("the answer key");
    fs::write(&key, text.replacen(" the ", " a ", 1)).expect("written");
    let said = rebuild(&run);
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(said.err.contains("not the dataset the run was made with") && said.err.contains("hint:"), "{}", said.err);
    fs::write(&key, text).expect("written");

    // A journal that lacks a result.
    let journal = run.dir.join(JOURNAL);
    let whole = fs::read(&journal).expect("the journal");
    fs::write(&journal, &whole[..whole.len() / 2]).expect("written");
    let said = rebuild(&run);
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert_eq!(details(&files(&run.dir)), details(&before));
    assert!(!files(&run.dir).keys().any(|name| name.starts_with(".tmp.")));

    fs::remove_file(&journal).expect("removed");
    let said = rebuild(&run);
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(said.err.contains("there is no journal") && said.err.contains("argosy summary"), "{}", said.err);
}
