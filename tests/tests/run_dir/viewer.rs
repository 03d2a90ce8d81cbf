//! AgentCompass 1.0.1 itself on run directories we wrote: its viewer's HTTP API and its strict readers.
//!
//! Needs Python 3.12 and the package index; it runs where `CI` or `ARGOSY_TEST_INSTALL=1` is set and installs into a
//! virtual environment below the target directory.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use argosy_coordinator::{
    report::{load, metrics},
    store::RunStore,
};
use argosy_shared::{
    id::TaskId,
    run_dir::{
        RetryRecord, RunStatus, names,
        progress::{Event, Kind, Origin, TaskRef},
        retry::Scope,
    },
};
use argosy_tests::places;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Attempt, TASKS, at, new_run, publish};

/// What the viewer and the readers import; the other dependencies of the package (a gigabyte) are not needed.
const PACKAGES: [&str; 11] = [
    "aiohttp==3.14.5",
    "anthropic==2.14.0",
    "cyclopts==5.5.2",
    "filelock==4.3.1",
    "httpx==0.28.1",
    "msgspec==0.23.0",
    "openai==3.57.0",
    "pydantic==2.14.4",
    "PyYAML==6.0.4",
    "rich==15.0.0",
    "tabulate==0.10.0",
];

#[test]
fn agentcompass_reads_and_shows_our_runs() {
    let Some(agentcompass) = installed() else { return };
    let results = tempfile::tempdir().unwrap();
    let runs = Runs::write(&results);

    for (name, line) in runs.all.iter().zip(read_strictly(&agentcompass, &runs)) {
        for (task, states) in line["states"].as_object().unwrap() {
            assert_eq!(states[0], states[1], "{name}: {task}");
        }
        if matches!(*name, "clean" | "fatal" | "twice") {
            assert_eq!((&line["same_metrics"], &line["same_summary"]), (&json!(true), &json!(true)), "{name}: {line}");
        }
    }

    let viewer = Viewer::start(&agentcompass, results.path());
    let namespace = runs.path("clean").parent().unwrap().to_owned();
    let tree = viewer.get("tree", &namespace, "");
    let entries = tree["entries"].as_array().unwrap();
    assert_eq!(entries.len(), runs.all.len());
    assert!(entries.iter().all(|entry| entry["isRun"] == true), "{tree}");
    for name in runs.all {
        let dir = runs.path(name);
        let run = viewer.get("run", &dir, "");
        assert_eq!((&run["isRun"], &run["runInfoJson"]["run_id"]), (&json!(true), &json!(name)));
        let page = viewer.get("details-page", &dir, "&page=1&pageSize=50&filter=all");
        for card in page["details"].as_array().unwrap() {
            assert_ne!(card["status"], "parse_error", "{name}: {card}");
            open_card(&viewer, &dir, card);
        }
    }
    expected_numbers(&viewer, &runs);
}

/// What the pages must say about each run.
fn expected_numbers(viewer: &Viewer, runs: &Runs) {
    let counts = |name: &str| viewer.get("run-counts", &runs.path(name), "");
    let clean = counts("clean");
    assert_eq!(
        (&clean["total"], &clean["completed"], &clean["failed"], &clean["errors"], &clean["running"]),
        (&json!(4), &json!(4), &json!(0), &json!(1), &json!(0))
    );
    assert_eq!(clean["meanScore"], 0.375);
    assert_eq!(clean["categories"].as_array().unwrap().len(), 3);
    let report = viewer.get("run", &runs.path("clean"), "");
    assert_eq!(report["metricsJson"]["series"][0]["value"], 0.375);
    assert!(report["summaryMd"].as_str().unwrap().starts_with("# DISCOVERYBENCH Evaluation Results"));

    let fatal = counts("fatal");
    assert_eq!((&fatal["total"], &fatal["failed"]), (&json!(4), &json!(1)));
    let page = viewer.get("details-page", &runs.path("fatal"), "&filter=failed");
    assert_eq!(page["details"][0]["reductionState"], "invalidated");
    assert_eq!(page["details"][0]["retryCount"], 2);
    assert_eq!(viewer.get("run", &runs.path("fatal"), "")["retryDetailsTotal"], 1);

    let interrupted = viewer.get("details-page", &runs.path("interrupted"), "&filter=running");
    assert_eq!(interrupted["details"][0]["outcome"], "interrupted");
    assert_eq!(viewer.get("run", &runs.path("interrupted"), "")["metricsJson"], Value::Null);
    let running = viewer.get("details-page", &runs.path("running"), "&filter=running");
    let card = &running["details"][0];
    assert_eq!((&card["outcome"], &card["phase"]), (&json!("running"), &json!("run_harness")), "{card}");
    assert_eq!(card["category"], TASKS[1].1);
    let twice = viewer.get("details-page", &runs.path("twice"), "");
    assert_eq!((&twice["details"][0]["k"], &twice["details"][0]["metricValue"]), (&json!(2), &json!(0.25)));
}

/// A card's detail and the first step of each of its attempts.
fn open_card(viewer: &Viewer, dir: &Path, card: &Value) {
    let file = encode(card["fileName"].as_str().unwrap());
    let detail = viewer.get("detail", dir, &format!("&file={file}"));
    assert_eq!(detail["detail"]["task_id"], card["taskId"]);
    for (number, attempt) in detail["detail"]["attempts"].as_object().unwrap() {
        let steps = attempt["trajectory"]["steps"].as_array().cloned().unwrap_or_default();
        for (index, summary) in steps.iter().enumerate() {
            let step = viewer.get("detail-step", dir, &format!("&file={file}&attempt={number}&step={index}"));
            assert_eq!(step["step"]["step_id"], summary["step_id"]);
            assert!(!step["step"]["user_content"].as_str().unwrap().is_empty());
        }
        if let Some(first) = steps.first() {
            assert_eq!(first["preview"], "python_repl_ast: print(sum([1,2,3]))");
        }
    }
}

/// One run of each kind.
struct Runs {
    namespace: PathBuf,
    all: [&'static str; 5],
    /// Keeps the running one's lock.
    _running: RunStore,
}

impl Runs {
    fn write(results: &TempDir) -> Self {
        let create = |name: &str, k| RunStore::create(new_run(results.path(), Some(name), k)).unwrap();
        let end = at("2026-12-01T04:00:00Z");
        let report = |store: &RunStore| {
            let loaded = load::run(store.dir()).unwrap();
            store.write_report(&metrics::aggregate(&loaded.tasks, &loaded.plan).unwrap(), None, end).unwrap();
        };

        let clean = create("clean", 1);
        for (position, attempt) in
            [Attempt::right(), Attempt::zero(), Attempt::right(), Attempt::right()].iter().enumerate()
        {
            clean.task_started(&TaskId::from(TASKS[position].0), 1).unwrap();
            publish(&clean, position, &[attempt]);
        }
        report(&clean);
        clean.finish(RunStatus::Completed, None, end).unwrap();

        let fatal = create("fatal", 1);
        let discarded = Attempt::fatal();
        fatal
            .retry_diagnostic(&RetryRecord {
                task: &TaskId::from(TASKS[2].0),
                category: Some(TASKS[2].1),
                attempt: 1,
                retry: 1,
                max_retries: 2,
                delay_seconds: 5.0,
                scope: Scope::Attempt,
                matched_pattern: "fatal",
                discarded: &discarded.record(),
            })
            .unwrap();
        for (position, attempt) in
            [Attempt::right(), Attempt::zero(), Attempt::fatal(), Attempt::right()].iter().enumerate()
        {
            publish(&fatal, position, &[attempt]);
        }
        report(&fatal);
        fatal.finish(RunStatus::Failed, Some("final FATAL issues"), end).unwrap();

        let twice = create("twice", 2);
        for position in 0..TASKS.len() {
            publish(&twice, position, &[&Attempt::right(), &Attempt::zero()]);
        }
        report(&twice);
        twice.finish(RunStatus::Completed, None, end).unwrap();

        let interrupted = create("interrupted", 1);
        publish(&interrupted, 0, &[&Attempt::lost()]);
        interrupted.task_started(&TaskId::from(TASKS[1].0), 1).unwrap();
        interrupted.finish(RunStatus::Cancelled, Some("stopped by the user"), end).unwrap();

        let running = create("running", 1);
        let task = || TaskRef { id: TaskId::from(TASKS[1].0), category: Some(TASKS[1].1.to_owned()) };
        running.task_started(&task().id, 1).unwrap();
        for kind in [
            Kind::TasksLoaded { total_tasks: 4 },
            Kind::TaskStarted { task: task(), index: 1, total: 4 },
            Kind::PhaseChanged { task: task(), attempt: Some(1), phase: "run_harness".to_owned() },
            Kind::RunStarted(Origin::default()),
        ] {
            running.progress(&Event { at: end, kind }).unwrap();
        }
        let namespace = results.path().join(names::namespace("org/model", "discoverybench", "discovery_agent"));
        Self { namespace, all: ["clean", "fatal", "twice", "interrupted", "running"], _running: running }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.namespace.join(name)
    }
}

fn read_strictly(agentcompass: &Path, runs: &Runs) -> Vec<Value> {
    let output = Command::new(agentcompass.join("bin/python"))
        .arg(places::project().join("tests/fixtures/run_dir/reader.py"))
        .args(runs.all.iter().map(|name| runs.path(name)))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// `agentcompass view` as a process.
struct Viewer {
    child: Child,
    address: String,
}

impl Viewer {
    fn start(agentcompass: &Path, results: &Path) -> Self {
        let mut child = Command::new(agentcompass.join("bin/agentcompass"))
            .args(["view", "--no-open", "--host", "127.0.0.1", "--port", "0"])
            .arg(results)
            .current_dir(results)
            .env("XDG_CONFIG_HOME", results)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // "AgentCompass result viewer: http://127.0.0.1:40123/#/?path=…"
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line =
            lines.find_map(|line| line.ok().filter(|line| line.contains("http://"))).expect("the viewer's address");
        let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        // It says so before it listens.
        for _ in 0..3000 {
            if TcpStream::connect(&address).is_ok() {
                return Self { child, address };
            }
            assert!(child.try_wait().unwrap().is_none(), "the viewer ended");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("the viewer does not listen at {address}");
    }

    /// `/api/<route>?path=<dir><more>`.
    fn get(&self, route: &str, dir: &Path, more: &str) -> Value {
        let path = encode(&dir.to_string_lossy());
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let request = format!(
            "GET /api/{route}?path={path}{more} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            self.address
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{route} {more}: {answer}");
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{route}: {error}: {head}"))
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn encode(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}

/// The virtual environment with AgentCompass, made on first use.
fn installed() -> Option<PathBuf> {
    let test = "agentcompass_reads_and_shows_our_runs";
    let wanted = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    if !wanted("CI") && !wanted("ARGOSY_TEST_INSTALL") {
        places::skipped(test, "set ARGOSY_TEST_INSTALL=1 to install AgentCompass 1.0.1 and try it");
        return None;
    }
    let Some(python) = places::python("3.12") else {
        places::skipped(test, "AgentCompass 1.0.1 needs Python 3.12, which is not here");
        return None;
    };
    let exe = std::env::current_exe().unwrap();
    let venv = exe.ancestors().nth(3).unwrap().join("agentcompass-1.0.1");
    let complete = venv.join("complete");
    if complete.exists() {
        return Some(venv);
    }
    let pip = |arguments: &[&str]| {
        Command::new(venv.join("bin/pip"))
            .args(["install", "--quiet", "--disable-pip-version-check"])
            .args(arguments)
            .output()
            .map_err(|error| error.to_string())
            .and_then(|output| {
                if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
            })
    };
    let made = Command::new(python)
        .args(["-m", "venv", "--clear"])
        .arg(&venv)
        .status()
        .map_err(|error| error.to_string())
        .and_then(|status| if status.success() { Ok(()) } else { Err("venv failed".to_owned()) })
        .and_then(|()| pip(&PACKAGES))
        .and_then(|()| pip(&["--no-deps", "agentcompass==1.0.1"]));
    if let Err(why) = made {
        places::skipped(test, &format!("AgentCompass cannot be installed: {}", why.trim()));
        return None;
    }
    fs::write(&complete, "").unwrap();
    Some(venv)
}
