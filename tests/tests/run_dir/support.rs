//! Executions, records and run stores made by hand.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use argosy_coordinator::store::{NewRun, RunStore};
use argosy_shared::{
    id::TaskId,
    issue::{Code, Issue, Phase},
    model::secret::Secret,
    prompts::{AgentTemplate, Part, Template},
    redact::Redactor,
    result::{AnswerSource, ExecutionResult, Provenance, Telemetry, Termination},
    run_dir::{
        AttemptRecord, BenchmarkMeta, EvaluationProvenance, Metrics, PlannedRun, PlannedTask, TaskHeader, names,
    },
    spec::AttemptStrategy,
    time::Timestamp,
    trajectory::{Action, PYTHON_TOOL, StepMetric, StepRecord},
};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const KEY: &str = "sk-very-secret-0123456789";

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

/// `<input>` and then, for each step, the reply and its observation.
pub(crate) fn template() -> AgentTemplate {
    let text = |text: &str| Part::Text(text.to_owned());
    let field = |name: &str| Part::Field { field: name.to_owned() };
    AgentTemplate {
        template: Template::new(vec![field("input"), text("\n"), field("agent_scratchpad")]),
        observation: Template::new(vec![text("\nObservation: "), field("observation"), text("\n")]),
        stop: vec!["\nObservation:".to_owned()],
        max_iterations: 5,
        max_executions: None,
        refusal: None,
    }
}

/// Two steps: code that prints 6, then a final answer.
pub(crate) fn execution() -> ExecutionResult {
    let code = "print(sum([1,2,3]))";
    let steps = vec![
        StepRecord {
            step_id: 1,
            reply: format!("Thought: look at data\nAction: python_repl_ast\nAction Input: {code}"),
            reasoning: None,
            action: Some(Action { tool: PYTHON_TOOL.to_owned(), input: code.to_owned(), executed: true }),
            observation: Some("6\n".to_owned()),
            metric: StepMetric {
                prompt_tokens: Some(13),
                completion_tokens: Some(19),
                llm_infer_ms: 61.321,
                env_action_ms: Some(182.84),
                stop_reason: Some("stop".to_owned()),
                ..StepMetric::default()
            },
            started_at: at("2026-12-01T03:01:42.706778Z"),
            finished_at: at("2026-12-01T03:01:42.951158Z"),
        },
        StepRecord {
            step_id: 2,
            reply: "Thought: done\nFinal Answer: y rises linearly with x (slope 2).".to_owned(),
            reasoning: None,
            action: None,
            observation: None,
            metric: StepMetric {
                prompt_tokens: Some(37),
                completion_tokens: Some(15),
                llm_infer_ms: 4.16,
                env_action_ms: None,
                stop_reason: Some("stop".to_owned()),
                ..StepMetric::default()
            },
            started_at: at("2026-12-01T03:01:42.951173Z"),
            finished_at: at("2026-12-01T03:01:42.955353Z"),
        },
    ];
    ExecutionResult {
        system_prompt: String::new(),
        input: "task=real_test__alpha__0__0: how does y depend on x?".to_owned(),
        final_answer: Some("y rises linearly with x (slope 2).".to_owned()),
        answer_source: AnswerSource::FinalAnswer,
        steps,
        issues: Vec::new(),
        telemetry: Telemetry {
            iterations: 2,
            python_executions: 1,
            termination_reason: Termination::FinalAnswer,
            python_restarts: 0,
            replayed_turns: 0,
            setup_ms: 12.5,
            model_ms: 65.48,
            python_ms: 182.84,
        },
        provenance: Provenance::default(),
        started_at: at("2026-12-01T03:01:42.668241Z"),
        finished_at: at("2026-12-01T03:01:42.955744Z"),
        raw_replies: Vec::new(),
    }
}

pub(crate) fn benchmark_meta() -> BenchmarkMeta {
    BenchmarkMeta {
        answer_source: AnswerSource::FinalAnswer,
        judge_model: "mock-judge".to_owned(),
        eval_rec: Some(json!({"final_score": 0.5})),
        provenance: EvaluationProvenance::default(),
    }
}

/// All that an attempt's record borrows.
pub(crate) struct Attempt {
    pub(crate) template: AgentTemplate,
    pub(crate) execution: Option<ExecutionResult>,
    pub(crate) issues: Vec<Issue>,
    pub(crate) benchmark: Option<BenchmarkMeta>,
    pub(crate) metrics: Option<Metrics>,
    pub(crate) retry_count: u32,
}

impl Attempt {
    pub(crate) fn right() -> Self {
        Self {
            template: template(),
            execution: Some(execution()),
            issues: Vec::new(),
            benchmark: Some(benchmark_meta()),
            metrics: Some(Metrics { score: 0.5, recall_context: 1.0, mean_accuracy_score: 0.5 }),
            retry_count: 0,
        }
    }

    pub(crate) fn zero() -> Self {
        let mut attempt = Self::right();
        attempt.metrics = Some(Metrics::ZERO);
        attempt.issues = vec![Issue::new(Phase::Run, Code::HarnessMaxIterations, "no final answer after 3 turns")];
        attempt
    }

    pub(crate) fn fatal() -> Self {
        let mut attempt = Self::right();
        attempt.metrics = None;
        attempt.benchmark = None;
        attempt.issues = vec![Issue::new(Phase::Run, Code::ModelFailed, "HTTP 503: mock upstream unavailable")];
        attempt.retry_count = 2;
        attempt
    }

    /// The attempt of a task whose worker was lost every time.
    pub(crate) fn lost() -> Self {
        let mut attempt = Self::fatal();
        attempt.execution = None;
        attempt.issues = vec![Issue::new(Phase::Run, Code::WorkerLost, "lost with worker-3")];
        attempt
    }

    pub(crate) fn record(&self) -> AttemptRecord<'_> {
        AttemptRecord {
            metrics: self.metrics,
            execution: self.execution.as_ref(),
            template: &self.template,
            issues: &self.issues,
            benchmark: self.benchmark.as_ref(),
            diagnostics: None,
            reused: None,
            retry_count: self.retry_count,
        }
    }
}

pub(crate) const TASKS: [(&str, &str); 4] = [
    ("real_test__alpha__0__0", "real_test:sociology"),
    ("real_test__alpha__0__1", "real_test:sociology"),
    ("real_test__beta__0__0", "real_test:meta science"),
    ("synth_test__gamma__0__189", "synth_test:music"),
];

pub(crate) fn request(k: u32) -> Value {
    json!({
        "benchmark": {"id": "discoverybench", "params": {"judge_model": {"id": "mock-judge", "api_key": KEY}}},
        "harness": {"id": "discovery_agent", "params": {}},
        "environment": {"id": "host_process"},
        "model": {"id": "org/model", "base_url": "http://127.0.0.1:1/v1", "api_key": KEY, "api_protocol": "openai-chat",
                  "params": {"temperature": 0.0}, "wrap_api_key": false},
        "execution": {"attempts": {"k": k, "strategy": "avg"}, "task_concurrency": 2},
        "runtime": {"reuse": false},
    })
}

pub(crate) fn new_run(results: &Path, run_id: Option<&str>, k: u32) -> NewRun {
    let tasks = TASKS
        .iter()
        .map(|(id, category)| PlannedTask {
            task_id: TaskId::from(*id),
            category: (*category).to_owned(),
            question_group: None,
        })
        .collect();
    NewRun {
        results_dir: results.to_owned(),
        run_name: String::new(),
        namespace: names::namespace("org/model", "discoverybench", "discovery_agent"),
        run_id: run_id.map(ToOwned::to_owned),
        request: request(k),
        reused_from: None,
        planned: PlannedRun::new(tasks, Value::Null),
        redactor: Redactor::new(&[Secret::new(KEY)]),
        started_at: at("2026-12-01T03:01:42Z"),
    }
}

pub(crate) fn store(results: &TempDir, k: u32) -> RunStore {
    RunStore::create(new_run(results.path(), Some("r"), k)).expect("a new run")
}

/// Publishes one of [`TASKS`] with these attempts.
pub(crate) fn publish(store: &RunStore, position: usize, attempts: &[&Attempt]) -> PathBuf {
    let (id, category) = TASKS[position];
    let task = TaskId::from(id);
    let gold = json!("y = 2x");
    let k = u32::try_from(attempts.len()).expect("few attempts");
    let header =
        TaskHeader { task: &task, category: Some(category), ground_truth: &gold, k, strategy: AttemptStrategy::Avg };
    let records: Vec<(u32, AttemptRecord<'_>)> = (1..).zip(attempts.iter().map(|attempt| attempt.record())).collect();
    store.publish(&header, &records).expect("published")
}

/// Every file below `dir` with its content, by relative path; the lock is left out.
pub(crate) fn tree(dir: &Path) -> BTreeMap<String, String> {
    fn walk(root: &Path, dir: &Path, files: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(dir).expect("a directory").flatten() {
            let path = entry.path();
            if path.is_dir() {
                walk(root, &path, files);
            } else if entry.file_name() != names::LOCK {
                let name = path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
                files.insert(name, String::from_utf8(fs::read(&path).expect("a file")).expect("UTF-8"));
            }
        }
    }
    let mut files = BTreeMap::new();
    walk(dir, dir, &mut files);
    files
}
