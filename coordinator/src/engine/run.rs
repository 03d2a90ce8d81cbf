//! A run as the engine carries it: everything needed to hand out, judge and publish its attempts.

use std::sync::Arc;

use argosy_shared::{
    id::{ExecutionKey, RunId, TaskId},
    lease::{Assignment, DataFile, ModelTarget},
    prompts::AgentTemplate,
    run_dir::plan::NetworkPolicy,
    spec::{AgentType, BenchmarkParams, EnvironmentSpec, ExecutionParams, HarnessParams, ModelSpec},
    task::{
        Task,
        render::{BlankHints, input_parts},
    },
    trajectory::StepRecord,
};

use crate::{
    dataset::{Dataset, TaskIndex},
    judge::Judge,
    scheduler::{Policy, RunPlan},
    store::RunStore,
};

/// What the notice of `inject_network_restriction_notice` says. Our own wording; recorded with the task input.
const NOTICE: &str = "\n\nNote: this environment has no network access. Work with the files that are listed above.";

/// A run, ready to be submitted.
pub struct Run {
    /// Its name.
    pub id: RunId,
    /// The dataset it draws on.
    pub dataset: Arc<Dataset>,
    /// The chosen tasks, in the order of the dataset.
    pub selection: Vec<TaskIndex>,
    /// Benchmark parameters.
    pub benchmark: BenchmarkParams,
    /// Harness parameters.
    pub harness: HarnessParams,
    /// Environment.
    pub environment: EnvironmentSpec,
    /// The model under test, with its key.
    pub model: ModelSpec,
    /// Attempts, retries, timeouts.
    pub execution: ExecutionParams,
    /// Scores answers.
    pub judge: Judge,
    /// The run directory.
    pub store: RunStore,
}

impl Run {
    /// The chosen tasks, in the order of the dataset.
    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.selection.iter().map(|&index| &self.dataset.data[index])
    }

    /// The agent's template.
    #[must_use]
    pub fn template(&self) -> &AgentTemplate {
        let agent = &self.dataset.pack.agent;
        match self.harness.agent_type {
            AgentType::Coder => &agent.coder,
            AgentType::React => &agent.react,
        }
    }

    /// What a worker is told about an execution. Neither gold nor credentials are in it.
    #[must_use]
    pub fn assignment(&self, key: ExecutionKey, task: &Task, replay: Vec<StepRecord>) -> Assignment {
        Assignment {
            key,
            input: input_parts(&self.dataset.pack, task, self.benchmark.hints(), BlankHints::Unchanged),
            notice: self.harness.inject_network_restriction_notice.then(|| NOTICE.to_owned()),
            template: self.template().clone(),
            files: task
                .datasets
                .iter()
                .map(|dataset| DataFile { name: dataset.name.clone(), blob: dataset.blob.clone() })
                .collect(),
            harness: self.harness.clone(),
            environment: self.environment.clone(),
            model: ModelTarget {
                id: self.model.id.clone(),
                base_url: self.model.base_url.clone(),
                protocol: self.model.protocol,
                params: self.model.params.clone(),
            },
            run_timeout_seconds: self.execution.run_timeout_seconds,
            replay,
        }
    }

    /// A chosen task.
    #[must_use]
    pub fn task(&self, id: &TaskId) -> Option<&Task> {
        self.tasks().find(|task| task.id == *id)
    }

    /// The gold hypothesis of a task; empty for one that is not part of the dataset.
    pub(super) fn gold(&self, task: &TaskId) -> &str {
        self.dataset.data.golds.get(task).map_or("", |gold| gold.hypothesis())
    }

    /// What the agent's code may reach.
    pub(super) fn network_policy(&self) -> NetworkPolicy {
        if self.environment.id.isolates_network() { NetworkPolicy::none() } else { NetworkPolicy::public() }
    }

    /// The run as the scheduler knows it. Nothing in it is secret.
    #[must_use]
    pub fn plan(&self) -> RunPlan {
        RunPlan {
            id: self.id.clone(),
            k: self.execution.k,
            tasks: self.tasks().map(|task| task.id.clone()).collect(),
            environment: self.environment.id,
            endpoint: format!("{} {}", self.model.base_url, self.model.id),
            judge_endpoint: None,
            policy: Policy::of(&self.execution),
            order: crate::scheduler::Order::Dataset,
            expected_seconds: Vec::new(),
            adopted: Vec::new(),
            spec: serde_json::Value::Null,
        }
    }
}
