//! What a worker is told about an execution. It can be written down and sent anywhere: neither gold nor
//! credentials are in it.

use serde::{Deserialize, Serialize};

use crate::{
    id::ExecutionKey,
    prompts::AgentTemplate,
    spec::{EnvironmentSpec, HarnessParams, ModelParams},
    task::{Blob, render::InputParts},
    trajectory::StepRecord,
};

/// One execution, ready to be carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// The execution with its fencing token.
    pub key: ExecutionKey,
    /// Task input without the paths.
    pub input: InputParts,
    /// Text appended to the input when `inject_network_restriction_notice` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// The agent's prompt template.
    pub template: AgentTemplate,
    /// Files to lay into the workspace, in the order of the metadata.
    pub files: Vec<DataFile>,
    /// The harness.
    pub harness: HarnessParams,
    /// The environment.
    pub environment: EnvironmentSpec,
    /// The model under test, without its key.
    pub model: ModelTarget,
    /// Bound of the whole agent loop in seconds; `None` is unbounded.
    pub run_timeout_seconds: Option<f64>,
    /// Finished steps of an earlier execution that lost its worker, from the first on. Their model calls are paid: the
    /// replies are used again as long as a fresh Python brings the same observations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replay: Vec<StepRecord>,
}

/// A data file of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFile {
    /// File name in the workspace.
    pub name: String,
    /// Its content.
    pub blob: Blob,
}

/// Where and how to reach the model under test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelTarget {
    /// Model id sent to the endpoint.
    pub id: String,
    /// For example `https://host/v1`.
    pub base_url: String,
    /// Wire protocol.
    pub protocol: crate::spec::Protocol,
    /// `model.params`.
    pub params: ModelParams,
}
