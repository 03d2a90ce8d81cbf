//! A run as the engine carries it: everything needed to hand out, judge and publish its attempts.

use std::{collections::HashMap, sync::Arc};

use argosy_shared::{
    id::{ExecutionKey, RunId, TaskId},
    lease::{Assignment, DataFile, ModelTarget},
    prompts::AgentTemplate,
    spec::{AgentType, BenchmarkParams, EnvironmentSpec, ExecutionParams, HarnessParams, ModelSpec},
    task::{
        Task,
        render::{BlankHints, input_parts},
    },
    trajectory::StepRecord,
};

use crate::{dataset::Dataset, judge::Judge, store::RunStore};

/// What the notice of `inject_network_restriction_notice` says. Our own wording; recorded with the task input.
const NOTICE: &str = "\n\nNote: this environment has no network access. Work with the files that are listed above.";

/// A run, ready to be submitted.
pub struct Run {
    /// Its name.
    pub id: RunId,
    /// The dataset it draws on.
    pub dataset: Arc<Dataset>,
    /// Indices into the dataset's tasks, in the order of the dataset.
    pub selection: Vec<usize>,
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
    /// Judgements at once.
    pub judge_concurrency: usize,
    /// The run directory.
    pub store: RunStore,
}

impl Run {
    /// The chosen tasks, in the order of the dataset.
    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.selection.iter().map(|&index| &self.dataset.tasks[index])
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

    /// Tasks by id.
    #[must_use]
    pub fn index(&self) -> HashMap<TaskId, usize> {
        self.selection.iter().map(|&index| (self.dataset.tasks[index].id.clone(), index)).collect()
    }
}
