//! The model under test and `--model-params`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::fields::{Error, Fields, unknown};
use crate::model::secret::Secret;

/// A wire protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Protocol {
    /// OpenAI Chat Completions.
    #[default]
    #[serde(rename = "openai-chat")]
    OpenaiChat,
}

impl Protocol {
    /// Reads `--model-api-protocol`: a name, `auto` or "", or a list of which the first supported one counts.
    ///
    /// # Errors
    /// No supported protocol in it.
    pub fn parse(place: &str, value: &Value) -> Result<Self, Error> {
        let refuse = |name: &str| unknown(place, "protocol", name, &["openai-chat", "auto"]);
        let one = |name: &str| match name {
            "" | "auto" | "openai-chat" => Some(Self::OpenaiChat),
            _ => None,
        };
        match value {
            Value::String(text) if text.trim_start().starts_with('[') => {
                let list: Value = serde_json::from_str(text)
                    .map_err(|error| Error::new(place, format!("`{text}` is not a JSON list: {error}")))?;
                Self::parse(place, &list)
            }
            Value::String(name) => one(name).ok_or_else(|| refuse(name)),
            Value::Array(names) => names
                .iter()
                .find_map(|name| name.as_str().and_then(one))
                .ok_or_else(|| refuse(&Value::Array(names.clone()).to_string())),
            other => Err(refuse(&other.to_string())),
        }
    }
}

/// `model.params`: what goes to the API verbatim, and the client's own two settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelParams {
    /// Retries of one model request (408, 409, 429, 5xx, connection failures).
    pub max_retries: u32,
    /// Bound of one model request, seconds.
    pub timeout: f64,
    /// Sent with every request; a null removes a parameter Argosy would send.
    pub request: Map<String, Value>,
}

impl Default for ModelParams {
    fn default() -> Self {
        Self { max_retries: 3, timeout: 1000.0, request: Map::new() }
    }
}

impl ModelParams {
    /// Validates `--model-params` (or `judge_model.params`, under another `place`). `model`, `messages`, `tools`,
    /// `timeout`, `stream` and `stream_options` never reach the API from here, as in AgentCompass.
    ///
    /// # Errors
    /// A wrong value of one of the client's own settings.
    pub fn parse(place: &str, members: Map<String, Value>) -> Result<Self, Error> {
        let mut fields = Fields::new(place, members);
        let default = Self::default();
        let max_retries = fields.get("max_retries", "a non-negative integer", default.max_retries)?;
        let timeout: f64 = fields.get("timeout", "a number of seconds", default.timeout)?;
        if !(timeout.is_finite() && timeout > 0.0) {
            return Err(
                Error::new(fields.place("timeout"), "must be a positive number of seconds").hint("1000 is the default")
            );
        }
        let mut request = fields.rest();
        for own in ["model", "messages", "tools", "stream", "stream_options"] {
            request.shift_remove(own);
        }
        Ok(Self { max_retries, timeout, request })
    }
}

/// The model under test, complete.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSpec {
    /// Model id.
    pub id: String,
    /// Endpoint, for example `https://host/v1`.
    pub base_url: String,
    /// Credential; may be empty.
    pub api_key: Secret,
    /// Wire protocol.
    pub protocol: Protocol,
    /// Parameters.
    pub params: ModelParams,
}
