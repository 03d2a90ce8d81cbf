//! The life of one lease: set up, run the agent, collect the answer, clean up.

mod collect;
mod setup;

use std::{path::Path, sync::Arc, time::Duration};

use argosy_shared::{
    VERSION,
    issue::{Code, Issue, Phase, Severity},
    lease::Assignment,
    model::Model,
    result::{AnswerSource, ExecutionResult, Provenance, Telemetry, Termination},
    supervise::CancellationToken,
    time::{self, Clock, SystemClock},
};

use crate::{
    agent::{self, Outcome, Run, StepSink, tool::Tool},
    cache::Cache,
    sandbox::host_process::Sandbox,
};

/// Carries out an execution. There is always a result: what went wrong stands in its issues, and what had been done
/// until then in its steps.
///
/// * `sandboxes`: the folder below which a directory is made for this execution and removed again.
/// * `steps`: gets every step as soon as it is complete, replayed ones included.
/// * `cancel`: ends the execution promptly, with [`Termination::Cancelled`] and a FATAL issue; the sandbox is
///   destroyed all the same.
pub async fn carry_out(
    assignment: &Assignment,
    model: Arc<dyn Model>,
    cache: &Cache,
    sandboxes: &Path,
    worker_name: &str,
    steps: &StepSink<'_>,
    cancel: &CancellationToken,
) -> ExecutionResult {
    let clock = SystemClock::new();
    let mut result = blank(assignment, worker_name);
    let mut sandbox = None;
    let mut execution = Execution { assignment, model: &*model, steps, cancel, clock: &clock, result: &mut result };
    if let Err(stopped) = execution.run(cache, sandboxes, &mut sandbox).await {
        result.telemetry.setup_ms = milliseconds(clock.monotonic());
        result.telemetry.termination_reason = stopped.termination;
        result.issues.push(stopped.issue);
    }
    result.finished_at = time::wall();
    if let Some(sandbox) = sandbox
        && let Err(error) = sandbox.destroy().await
    {
        let issue = Issue::new(Phase::Cleanup, Code::EnvironmentFailed, format!("the sandbox is not gone: {error}"));
        result.issues.push(Issue { severity: Severity::Warning, ..issue });
    }
    result
}

struct Execution<'a> {
    assignment: &'a Assignment,
    model: &'a dyn Model,
    steps: &'a StepSink<'a>,
    cancel: &'a CancellationToken,
    clock: &'a dyn Clock,
    result: &'a mut ExecutionResult,
}

impl Execution<'_> {
    /// From setup to collect. The sandbox is left in its place, whether or not this succeeds.
    async fn run(
        &mut self,
        cache: &Cache,
        sandboxes: &Path,
        sandbox: &mut Option<Sandbox>,
    ) -> Result<(), setup::Stopped> {
        let files = setup::fetch(self.assignment, cache, self.cancel).await?;
        let sandbox = sandbox.insert(setup::sandbox(sandboxes).await?);
        setup::lay_out(&files, sandbox).await?;
        drop(files);
        let mut tool = setup::python(self.assignment, sandbox).await?;
        self.result.input = setup::input(self.assignment, sandbox);
        self.result.telemetry.setup_ms = milliseconds(self.clock.monotonic());
        tool.version().clone_into(&mut self.result.provenance.python_version);
        self.result.provenance.packages = tool.packages();

        let outcome = self.agent(&mut tool).await;
        // The harness's own copy, taken as the loop ends. Python still lives, and what it started in the background may
        // still change the workspace; once it is stopped, the file itself counts.
        let collected = collect::answer_file(sandbox, self.assignment).await;
        tool.stop().await;
        let file = collect::answer_file(sandbox, self.assignment).await;
        self.record(outcome, &tool, file, collected);
        Ok(())
    }

    async fn agent(&self, tool: &mut Tool<'_>) -> Outcome {
        let run = Run {
            assignment: self.assignment,
            input: &self.result.input,
            model: self.model,
            steps: self.steps,
            cancel: self.cancel,
            clock: self.clock,
        };
        agent::run(&run, tool).await
    }

    fn record(&mut self, outcome: Outcome, tool: &Tool<'_>, file: collect::Found, collected: collect::Found) {
        let result = &mut *self.result;
        result.telemetry.iterations = u32::try_from(outcome.steps.len()).unwrap_or(u32::MAX);
        result.telemetry.python_executions = tool.executions();
        result.telemetry.termination_reason = outcome.termination;
        result.telemetry.python_restarts = tool.restarts();
        result.telemetry.replayed_turns = outcome.replayed_turns;
        result.telemetry.model_ms = milliseconds(outcome.model_time);
        result.telemetry.python_ms = milliseconds(tool.busy());
        result.provenance.changed_params = outcome.changed_params;
        result.steps = outcome.steps;
        result.raw_replies = outcome.raw_replies;
        result.issues.extend(outcome.issues);
        if result.issues.iter().any(Issue::is_fatal) {
            return;
        }
        let answer = collect::choose(file, collected, outcome.answer);
        result.answer_source = answer.source;
        result.final_answer = answer.text;
        result.issues.extend(answer.issues);
    }
}

/// The result of an execution that has not begun.
fn blank(assignment: &Assignment, worker_name: &str) -> ExecutionResult {
    let now = time::wall();
    ExecutionResult {
        system_prompt: assignment.input.system_prompt.clone(),
        input: String::new(),
        final_answer: None,
        answer_source: AnswerSource::Missing,
        steps: Vec::new(),
        issues: Vec::new(),
        telemetry: Telemetry {
            iterations: 0,
            python_executions: 0,
            termination_reason: Termination::EnvironmentFailed,
            python_restarts: 0,
            replayed_turns: 0,
            setup_ms: 0.0,
            model_ms: 0.0,
            python_ms: 0.0,
        },
        provenance: Provenance {
            worker: worker_name.to_owned(),
            environment: assignment.environment.id.as_str().to_owned(),
            argosy_version: VERSION.to_owned(),
            ..Provenance::default()
        },
        started_at: now,
        finished_at: now,
        raw_replies: Vec::new(),
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
