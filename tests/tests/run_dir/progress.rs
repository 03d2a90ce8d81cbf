//! The progress files, against those of a real run and for their own sake.

use std::{fs, os::unix::fs::MetadataExt as _};

use argosy_shared::{
    id::TaskId,
    issue::Severity,
    run_dir::{
        RunStatus, json,
        names::{PROGRESS, PROGRESS_LOG},
        progress::{Event, Kind, Origin, TaskRef, Tracker, event::Line},
    },
    time::Timestamp,
};
use argosy_tests::places;
use serde_json::{Value, json};

use crate::support::{TASKS, at, store};

/// A line of a real log as an event.
fn event(line: &Value) -> Event {
    #[allow(clippy::cast_possible_truncation, reason = "microseconds of this century")]
    let at = Timestamp::from_microsecond((line["timestamp"].as_f64().unwrap() * 1e6).round() as i64).unwrap();
    let task = || TaskRef {
        id: TaskId::from(line["task_id"].as_str().unwrap()),
        category: line["category"].as_str().map(ToOwned::to_owned),
    };
    let payload = &line["payload"];
    let number = |name: &str| payload[name].as_u64().unwrap();
    let text = |name: &str| payload[name].as_str().unwrap_or_default().to_owned();
    let attempt = line["attempt"].as_u64().map(|attempt| u32::try_from(attempt).unwrap());
    let kind = match line["event"].as_str().unwrap() {
        "run_started" => Kind::RunStarted(Origin {
            benchmark: text("benchmark"),
            harness: text("harness"),
            environment: text("environment"),
            model: text("model"),
        }),
        "tasks_loaded" => Kind::TasksLoaded { total_tasks: number("total_tasks") },
        "reuse_loaded" => Kind::ReuseLoaded {
            reused_tasks: number("reused_tasks"),
            tasks_to_run: number("tasks_to_run"),
            severities: serde_json::from_value(payload["reused_severity_counts"].clone()).unwrap(),
        },
        "task_started" => Kind::TaskStarted { task: task(), index: number("index"), total: number("total") },
        "attempt_started" => Kind::AttemptStarted { task: task(), attempt: attempt.unwrap() },
        "phase_changed" => {
            Kind::PhaseChanged { task: task(), attempt, phase: line["phase"].as_str().unwrap().to_owned() }
        }
        "execution_plan_resolved" => {
            Kind::ExecutionPlanResolved { task: task(), attempt: attempt.unwrap(), plan: payload.clone() }
        }
        "attempt_finished" => {
            Kind::AttemptFinished { task: task(), attempt: attempt.unwrap(), failed: line["status"] == "failed" }
        }
        "partial_saved" => Kind::PartialSaved { task: task() },
        "task_finished" => Kind::TaskFinished {
            task: task(),
            index: number("index"),
            total: number("total"),
            severity: serde_json::from_value(payload["severity"].clone()).ok(),
        },
        "summary_started" => Kind::SummaryStarted,
        "run_finished" => Kind::RunFinished { status: RunStatus::Completed, error: None },
        other => panic!("unknown event {other}"),
    };
    Event { at, kind }
}

#[test]
fn a_real_log_is_written_again_and_adds_up_to_its_snapshot() {
    let Some(folder) = places::agentcompass_samples() else {
        places::skipped("a_real_log", "no AgentCompass samples beside the project");
        return;
    };
    let log = fs::read_to_string(folder.join("clean.progress.jsonl")).unwrap();
    let mut tracker: Option<Tracker> = None;
    for text in log.lines() {
        let mut line: Value = serde_json::from_str(text).unwrap();
        let event = event(&line);
        let tracker = tracker.get_or_insert_with(|| {
            let Kind::RunStarted(origin) = &event.kind else { panic!("the log begins with the run") };
            Tracker::new("clean", origin, event.at)
        });
        tracker.apply(&event);
        let orchestration_id = line["orchestration_id"].as_str().unwrap().to_owned();
        let ours = Line { run_id: "clean", orchestration_id: &orchestration_id, event: &event };
        // Python's clock has digits below the microsecond.
        line["timestamp"] = json!((line["timestamp"].as_f64().unwrap() * 1e6).round() / 1e6);
        assert_eq!(json::line(&ours).unwrap(), json::line(&line).unwrap());
    }
    let mut ours = serde_json::to_value(tracker.unwrap().snapshot()).unwrap();
    let mut theirs: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("clean.progress.json")).unwrap()).unwrap();
    // AgentCompass starts its watch a moment before the first event.
    for snapshot in [&mut ours, &mut theirs] {
        snapshot["elapsed_seconds"] = json!(1.3);
        snapshot["updated_at"] = json!(0.0);
    }
    assert_eq!(json::pretty(&ours).unwrap(), json::pretty(&theirs).unwrap());
}

#[test]
fn tasks_are_counted_by_their_worst_issue() {
    let task =
        |position: usize| TaskRef { id: TaskId::from(TASKS[position].0), category: Some(TASKS[position].1.to_owned()) };
    let now = at("2026-12-01T00:00:00Z");
    let mut tracker = Tracker::new("r", &Origin::default(), now);
    let mut apply = |kind| tracker.apply(&Event { at: now, kind });
    apply(Kind::TasksLoaded { total_tasks: 4 });
    for position in (0..4).chain(0..2) {
        // The second time is a retry, or the same event after a disk that was full.
        apply(Kind::TaskStarted { task: task(position), index: position as u64, total: 4 });
        apply(Kind::AttemptStarted { task: task(position), attempt: 1 });
    }
    apply(Kind::PhaseChanged { task: task(3), attempt: Some(1), phase: "run_harness".to_owned() });
    for (position, severity) in
        [(0, None), (1, Some(Severity::Error)), (1, Some(Severity::Error)), (2, Some(Severity::Fatal))]
    {
        apply(Kind::TaskFinished { task: task(position), index: position as u64, total: 4, severity });
    }
    let state = tracker.snapshot();
    assert_eq!((state.pending_tasks, state.running_tasks, state.finished_tasks), (0, 1, 3));
    assert_eq!(state.attempts_started, 4);
    assert_eq!((state.completed_tasks, state.failed_tasks, state.error_tasks), (2, 1, 1));
    assert_eq!(state.current_phase_counts["run_harness"], 1);
    assert_eq!(state.active_tasks.len(), 1);
}

#[test]
fn snapshots_are_not_written_for_every_event() {
    let results = tempfile::tempdir().unwrap();
    let store = store(&results, 1);
    let path = store.dir().join(PROGRESS);
    let start = at("2026-12-01T00:00:00Z");
    let task = TaskRef { id: TaskId::from("t"), category: None };
    let mut inodes = std::collections::BTreeSet::new();
    // 2,000 events within four seconds.
    for step in 0..2000 {
        let at = start.checked_add(jiff_milliseconds(step * 2)).unwrap();
        let kind = Kind::PhaseChanged { task: task.clone(), attempt: Some(1), phase: format!("p{step}") };
        store.progress(&Event { at, kind }).unwrap();
        inodes.insert((fs::metadata(&path).unwrap().ino(), fs::read_to_string(&path).unwrap()));
    }
    assert!((3..=6).contains(&inodes.len()), "{} snapshots", inodes.len());
    assert_eq!(fs::read_to_string(store.dir().join(PROGRESS_LOG)).unwrap().lines().count(), 2000);
    // The end is always there.
    let end = Kind::RunFinished { status: RunStatus::Cancelled, error: Some("stopped".to_owned()) };
    store.progress(&Event { at: start, kind: end }).unwrap();
    let last: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!((&last["status"], &last["active_tasks"]), (&json!("cancelled"), &json!({})));
}

fn jiff_milliseconds(milliseconds: i64) -> std::time::Duration {
    std::time::Duration::from_millis(u64::try_from(milliseconds).unwrap())
}
