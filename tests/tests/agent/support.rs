//! An assignment of our own wording, and a worker that carries it out.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use argosy_shared::{
    id::{AttemptKey, ExecutionKey, RunId, TaskId},
    issue::{Code, Issue, Phase, Severity},
    lease::{Assignment, DataFile, ModelTarget},
    model::Model,
    prompts::{AgentTemplate, Part, Template},
    result::ExecutionResult,
    spec::{AgentType, EnvironmentId, EnvironmentSpec, HarnessParams, ModelParams, Protocol},
    supervise::CancellationToken,
    task::render::InputParts,
    trajectory::StepRecord,
};
use argosy_tests::{local_files::LocalFiles, scripted::ScriptedModel};
use argosy_worker::{cache::Cache, execution};
use tempfile::TempDir;

/// What a refused execution is told.
pub(crate) const REFUSAL: &str = "One run is all there is.";
/// Waiting that long means that it never happens.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// A worker's folders and the files its coordinator has.
pub(crate) struct Worker {
    folder: TempDir,
    pub(crate) files: Arc<LocalFiles>,
    pub(crate) cancel: CancellationToken,
    pub(crate) seen: Mutex<Vec<StepRecord>>,
}

impl Worker {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
            files: Arc::default(),
            cancel: CancellationToken::new(),
            seen: Mutex::default(),
        }
    }

    /// Where sandboxes are made.
    pub(crate) fn sandboxes(&self) -> PathBuf {
        self.folder.path().join("sandboxes")
    }

    pub(crate) fn cache_folder(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    /// A data file that the coordinator has.
    pub(crate) fn data_file(&self, name: &str, content: &[u8]) -> DataFile {
        DataFile { name: name.to_owned(), blob: self.files.add(content) }
    }

    /// Carries an assignment out. Afterwards no sandbox may be left.
    pub(crate) async fn carry_out(&self, assignment: &Assignment, model: Arc<dyn Model>) -> ExecutionResult {
        let result = self.carry_out_below(&self.sandboxes(), assignment, model).await;
        let mut left = names(&self.sandboxes());
        left.retain(|name| name.starts_with("sandbox-"));
        assert!(left.is_empty(), "a sandbox is left: {left:?}");
        result
    }

    pub(crate) async fn carry_out_below(
        &self,
        sandboxes: &Path,
        assignment: &Assignment,
        model: Arc<dyn Model>,
    ) -> ExecutionResult {
        let cache = Cache::open(&self.cache_folder(), 1 << 20, self.files.clone()).await.expect("a cache");
        let sink = |step: StepRecord| self.seen.lock().unwrap().push(step);
        let work = execution::carry_out(assignment, model, &cache, sandboxes, "w1", &sink, &self.cancel);
        let result = tokio::time::timeout(DEADLINE, work).await.expect("the execution ends");
        assert_eq!(*self.seen.lock().unwrap(), result.steps, "every step is handed on, in order, as it is recorded");
        assert!(result.started_at <= result.finished_at);
        result
    }
}

/// Plays a script on a fresh worker.
pub(crate) async fn play(assignment: &Assignment, script: &[&str]) -> ExecutionResult {
    Worker::new().carry_out(assignment, ScriptedModel::new(script.iter().copied())).await
}

/// One execution of code, five turns.
pub(crate) fn coder() -> Assignment {
    assignment(
        AgentType::Coder,
        AgentTemplate { max_executions: Some(1), refusal: Some(REFUSAL.to_owned()), max_iterations: 5, ..template() },
    )
}

/// Any number of executions, twenty-five turns.
pub(crate) fn react() -> Assignment {
    assignment(AgentType::React, template())
}

/// A reply that asks for an execution.
pub(crate) fn run(code: &str) -> String {
    format!("Thought: try it\nAction: python_repl_ast\nAction Input: {code}")
}

/// The one issue of a result.
pub(crate) fn only_issue(result: &ExecutionResult) -> (Severity, Phase, Code, &str) {
    let [Issue { severity, phase, code, message }] = result.issues.as_slice() else {
        panic!("one issue expected: {:?}", result.issues)
    };
    (*severity, *phase, code.clone(), message)
}

/// The observations, in order.
pub(crate) fn observations(result: &ExecutionResult) -> Vec<&str> {
    result.steps.iter().filter_map(|step| step.observation.as_deref()).collect()
}

/// The names in a folder, none where it does not exist.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn assignment(agent_type: AgentType, template: AgentTemplate) -> Assignment {
    let attempt = AttemptKey { run: RunId("r".to_owned()), task: TaskId::from("synth_dev__a__0__1"), attempt: 1 };
    Assignment {
        key: ExecutionKey { attempt, execution: 1 },
        input: InputParts {
            system_prompt: "SYSTEM".to_owned(),
            before_paths: "Files: ".to_owned(),
            after_paths: ". What holds?".to_owned(),
        },
        notice: None,
        template,
        files: Vec::new(),
        harness: HarnessParams { agent_type, ..HarnessParams::default() },
        environment: EnvironmentSpec { id: EnvironmentId::HostProcess, python: "python3".to_owned() },
        model: ModelTarget {
            id: "m".to_owned(),
            base_url: "http://127.0.0.1:9/v1".to_owned(),
            protocol: Protocol::OpenaiChat,
            params: ModelParams::default(),
        },
        run_timeout_seconds: None,
        replay: Vec::new(),
    }
}

fn template() -> AgentTemplate {
    AgentTemplate {
        template: Template::new([
            Part::field("system_prompt"),
            Part::text("\nTools: "),
            Part::field("tools"),
            Part::text(" named "),
            Part::field("tool_names"),
            Part::text("\nTask: "),
            Part::field("input"),
            Part::text("\n"),
            Part::field("agent_scratchpad"),
        ]),
        observation: Template::new([
            Part::text("\nObservation: "),
            Part::field("observation"),
            Part::text("\nThought: "),
        ]),
        stop: vec!["\nObservation:".to_owned()],
        max_iterations: 25,
        max_executions: None,
        refusal: None,
    }
}
