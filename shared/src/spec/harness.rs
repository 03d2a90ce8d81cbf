//! `--harness-params` of `discovery_agent`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::fields::{Error, Fields};

/// Which of the paper's two baselines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentType {
    /// CodeGen: one Python execution, 5 turns.
    #[default]
    Coder,
    /// ReAct: unlimited executions, 25 turns.
    React,
}

/// What a dead Python process means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnPythonCrash {
    /// FATAL `environment_failed`. The default.
    #[default]
    Fatal,
    /// Tell the model and go on with a fresh process.
    Restart,
}

/// All parameters of the harness.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HarnessParams {
    /// Which agent.
    pub agent_type: AgentType,
    /// Turn limit; `None` takes upstream's (5 for coder, 25 for react).
    pub max_iterations: Option<u32>,
    /// Bound of one Python execution, seconds.
    pub command_timeout: f64,
    /// Append a notice of the network restriction to the task input.
    pub inject_network_restriction_notice: bool,
    /// What a dead Python process means.
    pub on_python_crash: OnPythonCrash,
    /// Cap of one observation in bytes; head and tail are kept. 0 = none, as upstream.
    pub max_observation_bytes: u64,
}

impl Default for HarnessParams {
    fn default() -> Self {
        Self {
            agent_type: AgentType::Coder,
            max_iterations: None,
            command_timeout: 2400.0,
            inject_network_restriction_notice: false,
            on_python_crash: OnPythonCrash::Fatal,
            max_observation_bytes: 1 << 20,
        }
    }
}

impl HarnessParams {
    /// Validates `--harness-params`.
    ///
    /// # Errors
    /// The first parameter that is unknown or has a wrong value.
    pub fn parse(members: Map<String, Value>) -> Result<Self, Error> {
        let mut fields = Fields::new("harness_params", members);
        let default = Self::default();
        let params = Self {
            agent_type: fields.choice(
                "agent_type",
                &[("coder", AgentType::Coder), ("react", AgentType::React)],
                default.agent_type,
            )?,
            max_iterations: fields.optional("max_iterations", "a positive integer or null")?,
            command_timeout: fields.get("command_timeout", "a number of seconds", default.command_timeout)?,
            inject_network_restriction_notice: fields.get(
                "inject_network_restriction_notice",
                "true or false",
                default.inject_network_restriction_notice,
            )?,
            on_python_crash: fields.choice(
                "on_python_crash",
                &[("fatal", OnPythonCrash::Fatal), ("restart", OnPythonCrash::Restart)],
                default.on_python_crash,
            )?,
            max_observation_bytes: fields.get(
                "max_observation_bytes",
                "a number of bytes, 0 for no cap",
                default.max_observation_bytes,
            )?,
        };
        if params.max_iterations == Some(0) {
            return Err(Error::new(fields.place("max_iterations"), "0 turns leave nothing to do")
                .hint("null takes upstream's limit"));
        }
        if !(params.command_timeout.is_finite() && params.command_timeout > 0.0) {
            return Err(Error::new(fields.place("command_timeout"), "must be a positive number of seconds")
                .hint("2400 is the default"));
        }
        fields.finish()?;
        Ok(params)
    }
}
