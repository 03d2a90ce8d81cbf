//! A look at an endpoint before a run depends on it.

use std::time::Duration;

use serde_json::{Map, Value};

use super::{Client, Received, judge};
use crate::{
    issue::Code,
    model::{
        ChatReply, ChatRequest, Failure, Message, Model as _, Role,
        classify::{self, Answer},
        portability::Change,
    },
    time,
};

/// A preflight does not wait as long as a run.
const BOUND: Duration = Duration::from_secs(120);

impl Client {
    /// Sends a tiny request with the parameters that the real ones will have, so that what the model refuses is
    /// learned before the run. Where `params` ask for JSON mode the model must take it: the judge relies on it.
    ///
    /// # Errors
    /// Why the endpoint cannot be used.
    pub async fn ping(&self, model: &str, params: &Map<String, Value>) -> Result<ChatReply, Failure> {
        let json_mode = params.get("response_format").is_some_and(|format| !format.is_null());
        // JSON mode demands that the word occurs.
        let text = if json_mode { "Reply with the JSON object {\"ok\": true}." } else { "Reply with the word ok." };
        let request = ChatRequest {
            model: model.to_owned(),
            messages: vec![Message { role: Role::User, content: text.to_owned() }],
            params: params.clone(),
        };
        let hasty = Self { timeout: self.timeout.min(BOUND), ..self.clone() };
        let reply = hasty.complete(&request).await?;
        let refused = Change::Drop("response_format".to_owned()).to_string();
        if json_mode && reply.changed_params.contains(&refused) {
            return Err(Failure {
                code: Code::ModelFailed,
                severity: Code::ModelFailed.rule().severity,
                status: Some(400),
                message: format!("{} at {} refuses `response_format`: it has no JSON mode", model, self.target.host),
                transient: false,
                retries: reply.retries,
                raw: None,
            });
        }
        Ok(reply)
    }

    /// The ids of the endpoint's models, in its order. Not every endpoint tells.
    ///
    /// # Errors
    /// Why it does not.
    pub async fn models(&self) -> Result<Vec<String>, Failure> {
        let bound = self.timeout.min(BOUND);
        let received = self.http.exchange(&self.target, &self.target.models, None, bound).await;
        let received =
            received.map_err(|failure| self.failure(classify::transport(&self.target.host, &failure), &[], 0))?;
        match ids(&received.body).filter(|_| received.status == 200) {
            Some(ids) => Ok(ids),
            None => Err(self.failure(self.verdict(&received), &received.body, 0)),
        }
    }

    fn verdict(&self, received: &Received) -> classify::Verdict {
        let now = time::wall();
        match judge(&self.target.host, received, &self.target.key, now) {
            Err(verdict) => verdict,
            Ok(_) => {
                let answer = Answer { status: received.status, headers: &received.headers, body: &received.body };
                classify::unusable(&self.target.host, &answer, &classify::Unusable::NoChoices, now)
            }
        }
    }
}

fn ids(body: &[u8]) -> Option<Vec<String>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let list = value.get("data").unwrap_or(&value).as_array()?;
    Some(list.iter().filter_map(|model| model.get("id").and_then(Value::as_str)).map(ToOwned::to_owned).collect())
}
