//! `--env` and `--env-params`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::fields::{Error, Fields, unknown};

/// Where Python runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnvironmentId {
    /// A process of the worker's own user. No isolation: the agent's code can reach all the user can.
    HostProcess,
}

impl EnvironmentId {
    /// All there are.
    pub const ALL: [Self; 1] = [Self::HostProcess];

    /// The id as it is written in commands and results.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HostProcess => "host_process",
        }
    }

    /// The environment of that id.
    ///
    /// # Errors
    /// An unknown id, with the nearest valid one.
    pub fn parse(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|id| id.as_str() == name).ok_or_else(|| {
            let valid: Vec<&str> = Self::ALL.iter().map(|id| id.as_str()).collect();
            unknown("--env", "environment", name, &valid)
        })
    }

    /// Whether the environment can keep the agent from the network.
    #[must_use]
    pub fn isolates_network(self) -> bool {
        match self {
            Self::HostProcess => false,
        }
    }
}

/// An environment and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnvironmentSpec {
    /// Which.
    pub id: EnvironmentId,
    /// The Python interpreter, a path or a name to look up; 3.9 or newer.
    pub python: String,
}

impl EnvironmentSpec {
    /// Validates `--env-params`.
    ///
    /// # Errors
    /// The first parameter that is unknown or has a wrong value.
    pub fn parse(id: EnvironmentId, members: Map<String, Value>) -> Result<Self, Error> {
        let mut fields = Fields::new("env_params", members);
        let spec = Self { id, python: fields.get("python", "the path of an interpreter", "python3".to_owned())? };
        fields.finish()?;
        Ok(spec)
    }
}
