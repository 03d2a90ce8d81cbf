//! The resolved execution plan of one attempt, as `run_info.json` and the progress log record it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::spec::EnvironmentSpec;

/// AgentCompass's members. What Argosy does not have (recipes, artifact collection) keeps its default there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResolvedPlan {
    /// Where the agent's code runs.
    pub environment: PlannedEnvironment,
    /// Never one of its own.
    pub evaluation_environment: Option<PlannedEnvironment>,
    /// `none`: judging happens in the coordinator.
    pub evaluation_environment_mode: String,
    /// What the agent may reach while it runs.
    pub run_network_policy: NetworkPolicy,
    /// What judging may reach.
    pub evaluation_network_policy: NetworkPolicy,
    /// Always empty.
    pub applied_recipes: Vec<String>,
    /// Bound of the agent loop in seconds.
    pub run_timeout_seconds: Option<f64>,
    /// Always unbounded.
    pub evaluation_timeout_seconds: Option<f64>,
    /// Of no consequence: nothing is collected.
    pub artifact_limits: ArtifactLimits,
    /// False.
    pub artifact_collection_supported: bool,
    /// False.
    pub collect_artifacts: bool,
    /// False.
    pub save_artifacts: bool,
    /// Seconds.
    pub runresult_collect_timeout_seconds: f64,
    /// Seconds.
    pub run_timer_compensation_seconds: f64,
    /// Seconds.
    pub artifact_collect_timeout_seconds: Option<f64>,
}

/// An environment as planned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedEnvironment {
    /// Its id.
    pub id: String,
    /// What is reachable while it starts.
    pub baseline_network_policy: NetworkPolicy,
    /// Limits.
    pub resources: Map<String, Value>,
    /// Image, working directory, commands; for us also the interpreter.
    pub setup: Map<String, Value>,
}

/// What may be reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkPolicy {
    /// `public`, `no-network`, `allowlist` or `denylist`.
    pub network_mode: String,
    /// With `allowlist`.
    pub allowed_hosts: Vec<String>,
    /// With `denylist`.
    pub denied_hosts: Vec<String>,
}

/// Bounds of an artifact collection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArtifactLimits {
    /// Megabytes.
    pub max_mb: u64,
    /// Files.
    pub max_files: u64,
    /// Seconds.
    pub timeout_seconds: f64,
}

impl NetworkPolicy {
    /// Everything.
    #[must_use]
    pub fn public() -> Self {
        Self { network_mode: "public".to_owned(), allowed_hosts: Vec::new(), denied_hosts: Vec::new() }
    }

    /// Nothing. The model is called from outside the sandbox, so its host need not be listed.
    #[must_use]
    pub fn none() -> Self {
        Self { network_mode: "no-network".to_owned(), ..Self::public() }
    }
}

impl ResolvedPlan {
    /// The plan of every attempt of a run.
    #[must_use]
    pub fn new(environment: &EnvironmentSpec, run: NetworkPolicy, run_timeout_seconds: Option<f64>) -> Self {
        let setup = Map::from_iter([("python".to_owned(), Value::from(environment.python.clone()))]);
        Self {
            environment: PlannedEnvironment {
                id: environment.id.as_str().to_owned(),
                baseline_network_policy: NetworkPolicy::public(),
                resources: Map::new(),
                setup,
            },
            evaluation_environment: None,
            evaluation_environment_mode: "none".to_owned(),
            run_network_policy: run,
            evaluation_network_policy: NetworkPolicy::public(),
            applied_recipes: Vec::new(),
            run_timeout_seconds,
            evaluation_timeout_seconds: None,
            artifact_limits: ArtifactLimits { max_mb: 16384, max_files: 100_000, timeout_seconds: 600.0 },
            artifact_collection_supported: false,
            collect_artifacts: false,
            save_artifacts: false,
            runresult_collect_timeout_seconds: 60.0,
            run_timer_compensation_seconds: 120.0,
            artifact_collect_timeout_seconds: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::EnvironmentId;

    #[test]
    fn a_plan_reads_back() {
        let spec = EnvironmentSpec::parse(EnvironmentId::HostProcess, Map::new()).unwrap();
        let plan = ResolvedPlan::new(&spec, NetworkPolicy::none(), Some(60.0));
        let value = serde_json::to_value(&plan).unwrap();
        assert_eq!(value["environment"]["id"], "host_process");
        assert_eq!(value["run_network_policy"]["network_mode"], "no-network");
        assert_eq!(value["evaluation_environment"], Value::Null);
        assert_eq!(serde_json::from_value::<ResolvedPlan>(value).unwrap(), plan);
    }
}
