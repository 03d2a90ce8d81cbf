//! The model request of a turn.

use argosy_shared::{
    lease::ModelTarget,
    model::{ChatRequest, Message, Role},
};
use serde_json::{Map, Value, json};

/// One user message with the whole prompt, sampled as upstream's runs were: its client library sends temperature 0.7
/// and one choice. `model.params` override a parameter or, with null, take it away.
#[must_use]
pub fn build(target: &ModelTarget, stop: &[String], prompt: String) -> ChatRequest {
    let mut params = Map::new();
    params.insert("n".to_owned(), json!(1));
    params.insert("stop".to_owned(), json!(stop));
    params.insert("stream".to_owned(), json!(false));
    params.insert("temperature".to_owned(), json!(0.7));
    for (name, value) in &target.params.request {
        if value.is_null() {
            params.shift_remove(name);
        } else {
            params.insert(name.clone(), value.clone());
        }
    }
    ChatRequest { model: target.id.clone(), messages: vec![Message { role: Role::User, content: prompt }], params }
}

/// A reply after its stop sequence has been seen to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled<'a> {
    /// The reply as the next prompt shows it.
    pub text: &'a str,
    /// The endpoint was sent the stop sequence and went on after it.
    pub stop_ignored: bool,
}

/// Sees to the stop sequence of a reply.
///
/// When the request went out without any (the endpoint refuses `stop`, or `model.params` took it away), the reply is
/// cut at the first one, which is where an endpoint that knows `stop` would have ended it. When `stop` was sent,
/// nothing is cut: upstream keeps what comes, also from an endpoint that ignores it.
#[must_use]
pub fn settle<'a>(reply: &'a str, stop: &[String], request: &ChatRequest, changed_params: &[String]) -> Settled<'a> {
    let Some(end) = stop.iter().filter(|text| !text.is_empty()).filter_map(|text| reply.find(text.as_str())).min()
    else {
        return Settled { text: reply, stop_ignored: false };
    };
    let dropped = changed_params.iter().any(|change| change == "dropped stop");
    let sent = request.params.get("stop").filter(|_| !dropped);
    match sent {
        None | Some(Value::Null) => Settled { text: &reply[..end], stop_ignored: false },
        Some(Value::Array(texts)) if texts.is_empty() => Settled { text: &reply[..end], stop_ignored: false },
        Some(own) => Settled { text: reply, stop_ignored: *own == json!(stop) },
    }
}

#[cfg(test)]
mod tests {
    use argosy_shared::spec::{ModelParams, Protocol};

    use super::*;

    fn target(params: Value) -> ModelTarget {
        let Value::Object(request) = params else { unreachable!("an object is given") };
        ModelTarget {
            id: "m".to_owned(),
            base_url: "http://127.0.0.1:1/v1".to_owned(),
            protocol: Protocol::OpenaiChat,
            params: ModelParams { request, ..ModelParams::default() },
        }
    }

    fn stop() -> Vec<String> {
        vec!["\nObservation:".to_owned()]
    }

    #[test]
    fn the_request_is_upstreams() {
        let request = build(&target(json!({})), &stop(), "P".to_owned());
        assert_eq!(request.messages, [Message { role: Role::User, content: "P".to_owned() }]);
        assert_eq!(
            serde_json::to_string(&request.params).unwrap(),
            r#"{"n":1,"stop":["\nObservation:"],"stream":false,"temperature":0.7}"#
        );
    }

    #[test]
    fn parameters_override_and_null_removes() {
        let request = build(&target(json!({"temperature": null, "top_p": 0.9, "n": 2})), &stop(), String::new());
        assert_eq!(
            Value::Object(request.params),
            json!({"n": 2, "stop": ["\nObservation:"], "stream": false, "top_p": 0.9})
        );
    }

    #[test]
    fn a_reply_is_cut_only_when_no_stop_was_sent() {
        let reply = "Action: t\nAction Input: x\nObservation: 1\nObservation: 2";
        let whole = |stop_ignored| Settled { text: reply, stop_ignored };
        let cut = Settled { text: "Action: t\nAction Input: x", stop_ignored: false };
        let sent = build(&target(json!({})), &stop(), String::new());
        assert_eq!(settle(reply, &stop(), &sent, &[]), whole(true));
        assert_eq!(settle(reply, &stop(), &sent, &["dropped temperature".to_owned()]), whole(true));
        assert_eq!(settle(reply, &stop(), &sent, &["dropped stop".to_owned()]), cut);
        for taken_away in [json!({"stop": null}), json!({"stop": []})] {
            let request = build(&target(taken_away), &stop(), String::new());
            assert_eq!(settle(reply, &stop(), &request, &[]), cut);
        }
        let own = build(&target(json!({"stop": "END"})), &stop(), String::new());
        assert_eq!(settle(reply, &stop(), &own, &[]), whole(false));
        let short = Settled { text: "no stop in it", stop_ignored: false };
        assert_eq!(settle("no stop in it", &stop(), &sent, &["dropped stop".to_owned()]), short);
    }
}
