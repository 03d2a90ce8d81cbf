//! Clients of the models under test, one per endpoint, key and parameters, so that connections are reused and what
//! was learned of an endpoint is not forgotten between tasks.

use std::{collections::HashMap, sync::Arc};

use argosy_shared::{
    lease::ModelTarget,
    model::{
        ChatReply, ChatRequest, Failure, Model,
        openai_chat::{self, Endpoint},
        secret::Secret,
    },
};
use async_trait::async_trait;

/// The clients made so far, by endpoint, model and parameters; the keys beside them stay out of the map's key.
#[derive(Default)]
pub(super) struct Models(HashMap<String, Vec<Known>>);

/// A client and the credential it was made with.
struct Known {
    api_key: Secret,
    model: Arc<dyn Model>,
}

impl Models {
    /// The client of a target. A target no client can be made for becomes a model whose every call fails with the
    /// reason, so that the execution reports it like any other failure.
    pub(super) fn of(&mut self, target: &ModelTarget, api_key: &Secret) -> Arc<dyn Model> {
        let params = serde_json::to_string(&target.params).unwrap_or_default();
        let known = self.0.entry(format!("{} {} {params}", target.base_url, target.id)).or_default();
        if let Some(known) = known.iter().find(|known| known.api_key == *api_key) {
            return known.model.clone();
        }
        let endpoint =
            Endpoint { base_url: target.base_url.clone(), api_key: api_key.clone(), protocol: target.protocol };
        let model: Arc<dyn Model> = match openai_chat::Client::new(&endpoint, &target.params) {
            Ok(client) => Arc::new(client),
            Err(error) => Arc::new(Unusable(error.to_string())),
        };
        known.push(Known { api_key: api_key.clone(), model: model.clone() });
        model
    }
}

/// An endpoint no client can be made for.
struct Unusable(String);

#[async_trait]
impl Model for Unusable {
    async fn complete(&self, _request: &ChatRequest) -> Result<ChatReply, Failure> {
        Err(Failure {
            code: argosy_shared::issue::Code::ModelFailed,
            severity: argosy_shared::issue::Severity::Fatal,
            status: None,
            message: self.0.clone(),
            transient: false,
            retries: 0,
            raw: None,
        })
    }
}
