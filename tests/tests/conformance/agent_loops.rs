//! `agent_loops.jsonl`: scripted replies against the real loop and a real Python.

use std::{path::Path, process::Command};

use argosy_coordinator::dataset::pack;
use argosy_shared::{
    id::{AttemptKey, ExecutionKey, RunId, TaskId},
    issue::{Code, Severity},
    lease::{Assignment, ModelTarget},
    model::{ChatRequest, Message, Role},
    prompts::{AgentTemplate, PromptPack},
    result::Termination,
    spec::{AgentType, EnvironmentId, EnvironmentSpec, HarnessParams, ModelParams, Protocol},
    supervise::CancellationToken,
    task::render::InputParts,
    time::SystemClock,
};
use argosy_tests::{
    places,
    scripted::ScriptedModel,
    vectors::{self, Outcome, Tally},
};
use argosy_worker::{
    agent::{self, Run, tool::Tool},
    sandbox::host_process::Sandbox,
};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};

/// Given to loops that go on where upstream's ended.
const AFTERWARDS: &str = "Final Answer: afterwards";

/// Checks every row.
pub(crate) fn check(folder: &Path) -> Tally {
    let mut tally = Tally::of("agent_loops.jsonl");
    let pack = prompt_pack();
    if let Err(why) = &pack {
        tally.notes.push(format!("no prompt pack: {why}"));
    }
    let python = python();
    match &python {
        Some(python) => tally.notes.push(format!("run with {python}")),
        None => tally.notes.push("no Python from 3.11 on".to_owned()),
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for row in vectors::read(folder, "agent_loops.jsonl") {
        let row: Row = serde_json::from_value(row).expect("a row of agent_loops.jsonl");
        let outcome = match (&pack, &python) {
            (Ok(pack), Some(python)) => runtime.block_on(compare(&row, pack, python)).unwrap_or_else(Outcome::Failed),
            (Err(_), _) => Outcome::Skipped("no prompt pack".to_owned()),
            (_, None) => Outcome::Skipped("no Python from 3.11 on".to_owned()),
        };
        tally.count(&row.id, outcome);
    }
    tally
}

#[derive(Deserialize)]
struct Row {
    id: String,
    agent: AgentType,
    system_prompt: String,
    input: String,
    max_iterations: u32,
    replies: Vec<String>,
    llm_calls: usize,
    requests: Vec<Request>,
    steps: Vec<Step>,
    result: Ended,
}

#[derive(Deserialize)]
struct Request {
    prompt_sha256: String,
    prompt_chars: usize,
    #[serde(default)]
    prompt_from_begin: Option<String>,
}

#[derive(Deserialize)]
struct Step {
    tool: String,
    tool_input: String,
    /// Null where an exception left upstream's tool or the value could not be formatted.
    observation: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Ended {
    Output(String),
    Error {
        #[serde(rename = "type")]
        kind: String,
        message: String,
    },
}

/// The machine's default interpreter, or one beside it. The vectors were made with 3.11; older ones word some errors
/// differently.
fn python() -> Option<String> {
    let is_new_enough = |python: &String| {
        let check = "import sys; sys.exit(sys.version_info < (3, 11))";
        Command::new(python).args(["-c", check]).status().is_ok_and(|status| status.success())
    };
    let installed = ["3.11", "3.12", "3.13"].into_iter().filter_map(places::python);
    ["python3".to_owned()].into_iter().chain(installed.map(|path| path.display().to_string())).find(is_new_enough)
}

/// From the importer's output beside the project, else from a checkout.
fn prompt_pack() -> Result<PromptPack, String> {
    if let Some(root) = places::upstream_checkout() {
        return pack::extract(&root).map_err(|error| format!("{}: {error}", root.display()));
    }
    let path = places::prompt_pack().ok_or("set DISCOVERYBENCH_ROOT")?;
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

async fn compare(row: &Row, pack: &PromptPack, python: &str) -> Result<Outcome, String> {
    let template = match row.agent {
        AgentType::Coder => &pack.agent.coder,
        AgentType::React => &pack.agent.react,
    };
    let model = ScriptedModel::new(row.replies.iter().map(String::as_str).chain([AFTERWARDS]));
    let outcome = run(assignment(row, template, python), row, &model).await?;
    if let Some(module) = missing_module(row, &outcome) {
        return Ok(Outcome::Skipped(format!("{python} has no module {module}")));
    }

    let requests = model.requests();
    let is_upstreams = |index: usize| compare_request(&requests[index], &row.requests[index]);
    for index in 0..row.requests.len().min(requests.len()) {
        is_upstreams(index).map_err(|difference| format!("request {}: {difference}", index + 1))?;
    }
    equal("requests in the row", &row.requests.len(), &row.llm_calls)?;

    let actions: Vec<_> =
        outcome.steps.iter().filter_map(|step| step.action.as_ref().map(|action| (step, action))).collect();
    for (index, expected) in row.steps.iter().enumerate() {
        let (step, action) = actions.get(index).ok_or_else(|| format!("step {} is missing", index + 1))?;
        equal("tool", &action.tool, &expected.tool)?;
        equal("tool input", &action.input, &expected.tool_input)?;
        if expected.observation.is_some() {
            equal("observation", &step.observation, &expected.observation)?;
        }
    }
    for (step, reply) in outcome.steps.iter().zip(&row.replies) {
        equal("recorded reply", &step.reply, reply)?;
    }

    let same_length = || {
        equal("model calls", &requests.len(), &row.llm_calls)?;
        equal("actions", &actions.len(), &row.steps.len())
    };
    let fails_with = |termination: Termination, code: Code| {
        same_length()?;
        equal("answer", &outcome.answer, &None)?;
        equal("termination", &outcome.termination, &termination)?;
        let issues: Vec<_> = outcome.issues.iter().map(|issue| (issue.severity, issue.code.clone())).collect();
        equal("issues", &issues, &vec![(Severity::Error, code)])
    };
    match &row.result {
        // Every reply was an action: upstream's answer is a message about its limit.
        Ended::Output(_) if row.steps.len() == row.max_iterations as usize => {
            fails_with(Termination::MaxIterations, Code::HarnessMaxIterations)?;
            Ok(Outcome::Documented(
                "AgentCompass: harness_max_iterations and no answer, where upstream answers with its stop message"
                    .to_owned(),
            ))
        }
        Ended::Output(output) => {
            same_length()?;
            equal("answer", &outcome.answer.as_ref(), &Some(output))?;
            equal("termination", &outcome.termination, &Termination::FinalAnswer)?;
            if outcome.issues.iter().any(|issue| issue.severity != Severity::Warning) {
                return Err(format!("unexpected issues {:?}", outcome.issues));
            }
            Ok(Outcome::Equal)
        }
        Ended::Error { message, .. } if message.starts_with("Could not parse LLM output: ") => {
            fails_with(Termination::OutputInvalid, Code::ModelOutputInvalid)?;
            Ok(Outcome::Documented(
                "AgentCompass: model_output_invalid, where upstream prints the exception".to_owned(),
            ))
        }
        Ended::Error { kind, message } => {
            // An exception that left upstream's tool: an observation here, and the loop goes on.
            let last = row.steps.len().checked_sub(1).ok_or("an exception without a step")?;
            let expected = Some(format!("{kind}: {message}"));
            equal("observation", &actions[last].0.observation, &expected)?;
            equal("model calls", &requests.len(), &(row.llm_calls + 1))?;
            equal("termination", &outcome.termination, &Termination::FinalAnswer)?;
            Ok(Outcome::Documented(format!("{kind} is an observation, where upstream's process or run ends")))
        }
    }
}

/// A module that the code needs, upstream's Python had and this machine's does not have.
fn missing_module(row: &Row, outcome: &agent::Outcome) -> Option<String> {
    let complaint = |text: &str| Some(text.strip_prefix("ModuleNotFoundError: No module named ")?.to_owned());
    let here = outcome.steps.iter().find_map(|step| complaint(step.observation.as_deref()?))?;
    let there = row.steps.iter().any(|step| step.observation.as_deref().and_then(complaint).is_some());
    (!there).then_some(here)
}

async fn run(assignment: Assignment, row: &Row, model: &ScriptedModel) -> Result<agent::Outcome, String> {
    let root = tempfile::tempdir().map_err(|error| error.to_string())?;
    let sandbox = Sandbox::create(root.path()).await.map_err(|error| error.to_string())?;
    let mut tool = Tool::start(&sandbox, &assignment).await.map_err(|error| error.to_string())?;
    let run = Run {
        assignment: &assignment,
        input: &row.input,
        model,
        steps: &|_| {},
        cancel: &CancellationToken::new(),
        clock: &SystemClock::new(),
    };
    let outcome = agent::run(&run, &mut tool).await;
    tool.stop().await;
    sandbox.destroy().await.map_err(|error| error.to_string())?;
    Ok(outcome)
}

fn assignment(row: &Row, template: &AgentTemplate, python: &str) -> Assignment {
    let attempt = AttemptKey { run: RunId("vectors".to_owned()), task: TaskId(row.id.clone()), attempt: 1 };
    Assignment {
        key: ExecutionKey { attempt, execution: 1 },
        input: InputParts {
            system_prompt: row.system_prompt.clone(),
            before_paths: String::new(),
            after_paths: String::new(),
        },
        notice: None,
        template: template.clone(),
        files: Vec::new(),
        // The limit is upstream's own unless the row says otherwise: then it must not come from the parameters.
        harness: HarnessParams {
            agent_type: row.agent,
            max_iterations: Some(row.max_iterations).filter(|limit| *limit != template.max_iterations),
            ..HarnessParams::default()
        },
        environment: EnvironmentSpec { id: EnvironmentId::HostProcess, python: python.to_owned() },
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

/// The prompt, and what was asserted of every request when the vectors were made: one user message, these parameters.
fn compare_request(request: &ChatRequest, expected: &Request) -> Result<(), String> {
    let [Message { role: Role::User, content }] = request.messages.as_slice() else {
        return Err(format!("{} messages instead of one of the user", request.messages.len()));
    };
    if let Some(tail) = &expected.prompt_from_begin {
        let begin = content.find("Begin!").ok_or("the prompt has no `Begin!`")?;
        equal("prompt from `Begin!` on", &content[begin..], tail.as_str())?;
    }
    equal("prompt length", &content.chars().count(), &expected.prompt_chars)?;
    equal("prompt", &hex::encode(Sha256::digest(content)), &expected.prompt_sha256)?;
    let params = json!({"n": 1, "stop": ["\nObservation:"], "stream": false, "temperature": 0.7});
    equal("parameters", &json!(request.params), &params)
}

fn equal<T: PartialEq + std::fmt::Debug + ?Sized>(what: &str, got: &T, expected: &T) -> Result<(), String> {
    if got == expected { Ok(()) } else { Err(format!("{what}: expected {expected:?}, got {got:?}")) }
}
