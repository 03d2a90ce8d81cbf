//! Creating, locking, publishing; crashes at every point of a publication.

use std::{fs, path::Path};

use argosy_coordinator::store::{Error, RunStore};
use argosy_shared::{
    id::TaskId,
    redact::Redactor,
    run_dir::{ResolvedPlan, RetryRecord, RunStatus, State, names, plan::NetworkPolicy, retry::Scope},
    spec::{EnvironmentId, EnvironmentSpec},
};
use serde_json::{Map, Value, json};

use crate::support::{Attempt, KEY, TASKS, at, new_run, publish, store, tree};

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_new_run_has_a_directory_of_its_own() {
    let results = tempfile::tempdir().unwrap();
    let store = store(&results, 1);
    let expected = results.path().join(names::namespace("org/model", "discoverybench", "discovery_agent")).join("r");
    assert_eq!(store.dir(), expected);
    let info = read(&expected.join("run_info.json"));
    assert_eq!(info["schema_version"], "agentcompass.run_info.v3");
    assert_eq!((&info["run_id"], &info["started_at"]), (&json!("r"), &json!("2026-12-01T03:01:42+00:00")));
    assert_eq!(info.get("status"), None, "a run without a status is alive");
    assert_eq!(info["request"]["model"]["api_key"], "********");
    assert_eq!(info["request"]["output"], json!({"run_id": "r", "run_name": ""}));
    assert_eq!(read(&expected.join("argosy.json"))["tasks"].as_array().unwrap().len(), TASKS.len());
    assert!(!expected.join("params.json").exists(), "written with the first result");
    publish(&store, 0, &[&Attempt::right()]);
    assert_eq!(read(&expected.join("params.json"))["model"]["id"], "org/model");
}

#[test]
fn taken_run_ids_are_errors_and_taken_time_stamps_move_on() {
    let results = tempfile::tempdir().unwrap();
    let first = store(&results, 1);
    let error = RunStore::create(new_run(results.path(), Some("r"), 1)).unwrap_err();
    assert!(matches!(error, Error::RunExists { .. }), "{error}");
    assert!(error.hint().unwrap().contains("--reuse r"));
    drop(first);
    let bad = RunStore::create(new_run(results.path(), Some("a/b"), 1)).unwrap_err();
    assert!(bad.hint().unwrap().contains("--run-id a_b"));

    let stamps: Vec<String> =
        (0..3).map(|_| RunStore::create(new_run(results.path(), None, 1)).unwrap().run_id().0.clone()).collect();
    let seconds: Vec<u32> = stamps.iter().map(|stamp| stamp[13..].parse().unwrap()).collect();
    assert_eq!(seconds, [42, 43, 44], "{stamps:?}");
    let mut named = new_run(results.path(), None, 1);
    named.run_name = "sweep one/../a".to_owned();
    let dir = RunStore::create(named).unwrap().dir().to_owned();
    assert!(dir.starts_with(results.path().join("sweep_one/a")), "{}", dir.display());
}

#[test]
fn a_second_writer_is_kept_out() {
    let results = tempfile::tempdir().unwrap();
    let store = store(&results, 1);
    let now = at("2026-12-01T04:00:00Z");
    let error = RunStore::open(store.dir(), Redactor::default(), now).unwrap_err();
    assert!(matches!(&error, Error::Locked { holder, .. } if holder.contains("process")), "{error}");
    let dir = store.dir().to_owned();
    let copy = store.clone();
    drop(store);
    assert!(RunStore::open(&dir, Redactor::default(), now).is_err(), "a clone still holds it");
    drop(copy);
    RunStore::open(&dir, Redactor::default(), now).unwrap();
    let nowhere = RunStore::open(results.path(), Redactor::default(), now).unwrap_err();
    assert!(nowhere.to_string().contains("not a run directory"));
}

#[test]
fn the_worst_issue_decides_the_state() {
    let results = tempfile::tempdir().unwrap();
    let store = store(&results, 1);
    let cases = [
        (Attempt::right(), State::Normal),
        (Attempt::zero(), State::Error),
        (Attempt::fatal(), State::Fatal),
        (Attempt::lost(), State::Fatal),
    ];
    for (position, (attempt, state)) in cases.iter().enumerate() {
        let task = TaskId::from(TASKS[position].0);
        store.task_started(&task, 1).unwrap();
        assert_eq!(store.published(&task).unwrap(), None);
        assert!(store.dir().join(names::task_path(State::Running, &task)).join("task.json").is_file());
        let path = publish(&store, position, &[attempt]);
        assert_eq!(path, store.dir().join(names::task_path(*state, &task)).join("task.json"));
        assert_eq!(store.published(&task).unwrap(), Some(*state));
        assert!(!store.dir().join(names::task_path(State::Running, &task)).exists());
    }
    let lost = store.dir().join(names::task_path(State::Fatal, &TaskId::from(TASKS[3].0)));
    assert_eq!(read(&lost.join("attempt-1/result.json"))["trajectory"], json!({}));
}

#[test]
fn several_attempts_are_published_together() {
    let results = tempfile::tempdir().unwrap();
    let store = store(&results, 2);
    let task = TaskId::from(TASKS[0].0);
    let (first, second) = (Attempt::right(), Attempt::zero());
    store.task_started(&task, 1).unwrap();
    store.attempt_finished(&task, 1, &first.record()).unwrap();
    store.task_started(&task, 2).unwrap();
    let running = store.dir().join(names::task_path(State::Running, &task));
    assert_eq!(read(&running.join("task.json"))["attempts"], json!({"1": "attempt-1", "2": "attempt-2"}));
    let waiting = read(&running.join("attempt-1/checkpoint.json"));
    assert_eq!(waiting["scheduler"]["status"], "completed");
    assert!(running.join("attempt-1/result.json").exists(), "starting one attempt leaves the other alone");
    let path = publish(&store, 0, &[&first, &second]);
    assert!(path.to_string_lossy().contains("/details/error/"));
    assert_eq!(read(&path)["attempt_plan"], json!({"k": 2, "strategy": "avg"}));
    let checkpoint = path.with_file_name("attempt-1/checkpoint.json");
    assert_eq!(read(&checkpoint), json!({"schema_version": "agentcompass.attempt_checkpoint.v1"}));
}

/// What a publication leaves behind when it dies after each of its steps; publishing again always ends the same.
#[test]
fn publishing_again_after_a_crash_converges() {
    let attempts = [Attempt::right(), Attempt::fatal()];
    let finished = {
        let results = tempfile::tempdir().unwrap();
        let store = store(&results, 2);
        publish(&store, 0, &[&attempts[0], &attempts[1]]);
        tree(&store.dir().join("details"))
    };
    assert!(finished.keys().all(|path| path.starts_with("fatal/")), "{finished:?}");

    let task = TaskId::from(TASKS[0].0);
    type Crash = (&'static str, fn(&Path));
    let crashes: [Crash; 6] = [
        ("before anything", |dir| fs::remove_dir_all(dir).unwrap()),
        ("in the first result", |dir| {
            fs::remove_dir_all(dir.join("attempt-2")).unwrap();
            fs::remove_file(dir.join("task.json")).unwrap();
            fs::rename(dir.join("attempt-1/result.json"), dir.join("attempt-1/.tmp.result.json.0")).unwrap();
        }),
        ("after the first result", |dir| {
            fs::remove_dir_all(dir.join("attempt-2")).unwrap();
            fs::remove_file(dir.join("task.json")).unwrap();
        }),
        ("before task.json", |dir| fs::remove_file(dir.join("task.json")).unwrap()),
        ("in task.json", |dir| {
            fs::rename(dir.join("task.json"), dir.join(".tmp.task.json.0")).unwrap();
            fs::write(dir.join(".tmp.task.json.0"), "{").unwrap();
        }),
        ("before the move", |_| {}),
    ];
    for (name, crash) in crashes {
        let results = tempfile::tempdir().unwrap();
        let store = store(&results, 2);
        let done = publish(&store, 0, &[&attempts[0], &attempts[1]]);
        let dir = store.dir().to_owned();
        drop(store);
        let running = dir.join(names::task_path(State::Running, &task));
        fs::create_dir_all(running.parent().unwrap()).unwrap();
        fs::rename(done.parent().unwrap(), &running).unwrap();
        crash(&running);
        let store = RunStore::open(&dir, Redactor::default(), at("2026-12-01T04:00:00Z")).unwrap();
        assert_eq!(store.published(&task).unwrap(), None, "{name}");
        publish(&store, 0, &[&attempts[0], &attempts[1]]);
        assert_eq!(tree(&dir.join("details")), finished, "{name}");
        // And once more, after it was published.
        publish(&store, 0, &[&attempts[0], &attempts[1]]);
        assert_eq!(tree(&dir.join("details")), finished, "{name}: again");
    }
}

#[test]
fn a_task_never_lies_in_two_states() {
    let results = tempfile::tempdir().unwrap();
    let store = store(&results, 1);
    let task = TaskId::from(TASKS[0].0);
    publish(&store, 0, &[&Attempt::fatal()]);
    // Requeued: back to running, the old evidence kept.
    store.task_started(&task, 1).unwrap();
    let running = store.dir().join(names::task_path(State::Running, &task));
    assert_eq!(store.published(&task).unwrap(), None);
    assert_eq!(read(&running.join("task.json")).get("ground_truth"), None);
    assert!(!running.join("attempt-1/result.json").exists());
    let kept: Vec<_> = fs::read_dir(running.join("attempt-1/retries")).unwrap().flatten().collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].file_name().len(), 32);
    assert!(kept[0].path().join("result.json").is_file());
    let path = publish(&store, 0, &[&Attempt::right()]);
    assert!(path.to_string_lossy().contains("/details/normal/"));
    let all = tree(&store.dir().join("details"));
    assert_eq!(all.keys().filter(|path| path.ends_with("/task.json")).count(), 1);
    // Somebody copied it.
    fs::create_dir_all(store.dir().join(names::task_path(State::Error, &task))).unwrap();
    assert!(matches!(store.published(&task).unwrap_err(), Error::TwoStates { .. }));
}

#[test]
fn discarded_executions_are_kept() {
    let results = tempfile::tempdir().unwrap();
    let store = store(&results, 1);
    let task = TaskId::from(TASKS[0].0);
    let discarded = Attempt::fatal();
    let record = discarded.record();
    for retry in 1..=2 {
        store.task_started(&task, 1).unwrap();
        let path = store
            .retry_diagnostic(&RetryRecord {
                task: &task,
                category: Some(TASKS[0].1),
                attempt: 1,
                retry,
                max_retries: 2,
                delay_seconds: 5.0,
                scope: if retry == 1 { Scope::Attempt } else { Scope::Evaluate },
                matched_pattern: "fatal",
                discarded: &record,
            })
            .unwrap();
        assert_eq!(read(&path)["retry"], json!(retry));
    }
    let path = publish(&store, 0, &[&Attempt::fatal()]);
    let names: Vec<String> = tree(&path.with_file_name("attempt-1/retries")).into_keys().collect();
    let dir = names::task_dir(&task);
    assert_eq!(names, [format!("{dir}.attempt1.retry1.attempt.json"), format!("{dir}.attempt1.retry2.evaluate.json")]);
}

#[test]
fn leftovers_of_a_dead_writer_are_removed() {
    let results = tempfile::tempdir().unwrap();
    let store = store(&results, 1);
    let path = publish(&store, 0, &[&Attempt::right()]);
    let dir = store.dir().to_owned();
    drop(store);
    let before = tree(&dir);
    for leftover in [".tmp.run_info.0.json", ".run_info.json.0.tmp"] {
        fs::write(dir.join(leftover), "{").unwrap();
        fs::write(path.with_file_name(leftover), "{").unwrap();
        fs::write(path.with_file_name("attempt-1").join(leftover), "{").unwrap();
    }
    RunStore::open(&dir, Redactor::default(), at("2026-12-01T04:00:00Z")).unwrap();
    assert_eq!(tree(&dir), before);
}

#[test]
fn half_a_line_of_the_log_is_cut_off() {
    let results = tempfile::tempdir().unwrap();
    let store = store(&results, 1);
    let dir = store.dir().to_owned();
    drop(store);
    for (text, kept) in [("{\"a\": 1}\n{\"b\":", "{\"a\": 1}\n"), ("{\"b\"", ""), ("{}\n", "{}\n")] {
        fs::write(dir.join("progress.jsonl"), text).unwrap();
        drop(RunStore::open(&dir, Redactor::default(), at("2026-12-01T04:00:00Z")).unwrap());
        assert_eq!(fs::read_to_string(dir.join("progress.jsonl")).unwrap(), kept);
    }
}

#[test]
fn plans_are_not_written_one_by_one() {
    use std::os::unix::fs::MetadataExt as _;
    let results = tempfile::tempdir().unwrap();
    let store = store(&results, 1);
    let spec = EnvironmentSpec::parse(EnvironmentId::HostProcess, Map::new()).unwrap();
    let plan = ResolvedPlan::new(&spec, NetworkPolicy::none(), None);
    let path = store.dir().join("run_info.json");
    let mut written = 0;
    let mut last = fs::metadata(&path).unwrap().ino();
    for number in 0..1000 {
        store.record_plan(&TaskId(format!("t{number}")), 1, &plan).unwrap();
        let now = fs::metadata(&path).unwrap().ino();
        written += u32::from(now != last);
        last = now;
    }
    assert!((1..=10).contains(&written), "{written} times");
    store.finish(RunStatus::Completed, None, at("2026-12-01T04:00:00Z")).unwrap();
    let info = read(&path);
    assert_eq!(info["resolved_execution_plans"].as_object().unwrap().len(), 1000);
    assert_eq!(info["resolved_execution_plans"]["t999"]["attempts"]["1"]["environment"]["id"], "host_process");
}

#[test]
fn a_run_ends_and_is_taken_up_again() {
    let results = tempfile::tempdir().unwrap();
    let store = store(&results, 1);
    store.finish(RunStatus::Cancelled, Some(&format!("stopped, key {KEY}")), at("2026-12-01T04:00:00Z")).unwrap();
    let path = store.dir().join("run_info.json");
    let info = read(&path);
    assert_eq!((&info["status"], &info["finished_at"]), (&json!("cancelled"), &json!("2026-12-01T04:00:00+00:00")));
    assert_eq!(info["error"], "stopped, key ********");
    fs::write(store.dir().join("metrics.json"), "{}").unwrap();
    store.resumed().unwrap();
    let info = read(&path);
    assert_eq!((info.get("status"), info.get("error"), info.get("finished_at")), (None, None, None));
    assert!(!store.dir().join("metrics.json").exists(), "scores of an unfinished run");
}

#[test]
fn no_credential_reaches_the_disk() {
    let results = tempfile::tempdir().unwrap();
    let store = store(&results, 1);
    let mut attempt = Attempt::zero();
    let leak = format!("the key is {KEY}!");
    let execution = attempt.execution.as_mut().unwrap();
    execution.input.push_str(&leak);
    execution.final_answer = Some(leak.clone());
    execution.steps[0].observation = Some(leak.clone());
    execution.steps[0].reply.push_str(&leak);
    execution.steps[0].reasoning = Some(leak.clone());
    execution.steps[0].action.as_mut().unwrap().input.push_str(&leak);
    execution.raw_replies = vec![leak.clone()];
    execution.provenance.worker = leak.clone();
    attempt.issues[0].message.push_str(&leak);
    let benchmark = attempt.benchmark.as_mut().unwrap();
    benchmark.eval_rec = Some(json!({"HypoB": leak, "api_key": "other-secret-value", "list": [{"x": leak}]}));
    benchmark.provenance.judge_params = json!({"max_tokens": 250, "headers": {"X": "y"}}).as_object().unwrap().clone();
    let record = attempt.record();
    store
        .retry_diagnostic(&RetryRecord {
            task: &TaskId::from(TASKS[0].0),
            category: None,
            attempt: 1,
            retry: 1,
            max_retries: 1,
            delay_seconds: 1.0,
            scope: Scope::Attempt,
            matched_pattern: "fatal",
            discarded: &record,
        })
        .unwrap();
    let path = publish(&store, 0, &[&attempt]);
    for (name, text) in tree(store.dir()) {
        assert!(!text.contains(KEY) && !text.contains("other-secret"), "{name}:\n{text}");
    }
    let result = read(&path.with_file_name("attempt-1/result.json"));
    assert_eq!(result["final_answer"], "the key is ********!");
    let meta = &result["meta"]["benchmark"]["discoverybench"];
    assert_eq!(meta["judge_params"], json!({"max_tokens": 250, "headers": {"X": "********"}}));
    assert_eq!(meta["eval_rec"]["api_key"], "********");
}
