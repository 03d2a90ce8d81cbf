//! One small request to the model and one to the judge before anything starts: a wrong key or a judge without JSON mode
//! shows here, once, instead of at every task.

use argosy_coordinator::dataset::Dataset;
use argosy_shared::{
    model::{
        Failure,
        openai_chat::{Client, Endpoint},
    },
    spec::ModelSpec,
};
use serde_json::{Map, Value};

use super::plan::Plan;
use crate::cli::output::{Usage, say};

/// Asks both.
///
/// # Errors
/// One of them refuses in a way that will not pass by itself.
pub(super) async fn check(plan: &Plan, dataset: &Dataset) -> anyhow::Result<()> {
    let (model, judge) = tokio::join!(
        ask("model", &plan.model, plan.model.params.request.clone()),
        ask("judge", &plan.judge, judge_params(plan, dataset)),
    );
    model?;
    judge
}

/// What the judge's strictest requests carry: JSON mode and the token limit.
fn judge_params(plan: &Plan, dataset: &Dataset) -> Map<String, Value> {
    let mut params = dataset.pack.judge.variables.params.clone();
    params.extend(plan.judge.params.request.clone());
    params
}

async fn ask(what: &str, spec: &ModelSpec, mut params: Map<String, Value>) -> anyhow::Result<()> {
    params.retain(|_, value| !value.is_null());
    let endpoint = Endpoint::from(spec);
    let client = Client::new(&endpoint, &spec.params)
        .map_err(|error| Usage::new(format!("the {what}'s endpoint `{}`: {error}", spec.base_url)))?;
    match client.ping(&spec.id, &params).await {
        Ok(_) => Ok(()),
        // Overload passes; the run has its own patience for it.
        Err(Failure { status: Some(status @ (429 | 500..)), message, .. }) if message_may_pass(status, &message) => {
            say(format!("warning: the {what} is busy: {message}"));
            Ok(())
        }
        Err(failure) => Err(Usage::new(format!("the {what} `{}` does not answer: {failure}", spec.id))
            .hint(hint(what, &failure))
            .into()),
    }
}

fn message_may_pass(status: u16, message: &str) -> bool {
    status != 429 || !message.contains("quota")
}

fn hint(what: &str, failure: &Failure) -> String {
    match (what, failure.status) {
        (_, None) => "is the endpoint running, and is its URL right? --no-preflight starts all the same".to_owned(),
        (_, Some(401 | 403)) => "check the key; '${VAR}' takes it from the environment".to_owned(),
        ("judge", Some(400)) => {
            "the judge must support JSON mode (`response_format`); use another judge, or change `judge_model.params`"
                .to_owned()
        }
        (_, Some(404)) => "check the model id and that the URL ends in the API's version, for example /v1".to_owned(),
        _ => "--no-preflight starts all the same".to_owned(),
    }
}
