//! The stand-in's answers, script by script, without a server.

use serde_json::{Value, json};

use super::*;
use crate::stand_in::Script;

fn playing(script: &str) -> StandIn {
    StandIn::new(Script::parse(script).unwrap(), None)
}

fn agent_prompt(turns: &[&str]) -> String {
    let mut text = "Tool: python_repl_ast\nQuestion: Paths: ['/w/a.csv']. Why?\n".to_owned();
    for reply in turns {
        text += &format!("{reply}\nObservation: seen\nThought: ");
    }
    text
}

fn agent(turns: &[&str]) -> Value {
    let text = agent_prompt(turns);
    json!({"model": "m", "messages": [{"role": "user", "content": text}], "n": 1, "stop": ["\nObservation:"]})
}

fn judge(text: &str) -> Value {
    json!({"model": "m", "max_tokens": 250,
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": text}]})
}

fn ask(stand_in: &StandIn, body: &Value) -> Plan {
    stand_in.answer(None, body.to_string().as_bytes(), Duration::ZERO, 0)
}

fn json_of(plan: &Plan) -> Value {
    match &plan.body {
        Body::Whole(_, text) => serde_json::from_str(text).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn content(plan: &Plan) -> String {
    json_of(plan)["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
}

#[test]
fn an_agents_replies_follow_its_turns_whatever_the_order_of_arrival() {
    let script = r#"{"tasks": [{"task": "t", "question": "Why?", "agent": ["one", "two", "Final Answer: three"]}]}"#;
    let stand_in = playing(script);
    assert_eq!(content(&ask(&stand_in, &agent(&["x", "y"]))), "Final Answer: three");
    assert_eq!(content(&ask(&stand_in, &agent(&[]))), "one");
    assert_eq!(content(&ask(&stand_in, &agent(&["x"]))), "two");
    // The same request again is the same turn; beyond the list its last entry is repeated.
    assert_eq!(content(&ask(&stand_in, &agent(&["x"]))), "two");
    assert_eq!(content(&ask(&stand_in, &agent(&["x", "y", "z"]))), "Final Answer: three");
    assert_eq!(ask(&stand_in, &agent(&[])).task.as_deref(), Some("t"));
}

#[test]
fn a_judges_replies_follow_how_often_the_same_request_was_answered() {
    let script = r#"{"tasks": [{"task": "t", "judge_match": ["gold"], "judge": {
        "context": ["garbage", {"content": {"match": true}}],
        "sub_hypotheses": [{"match": "pred", "content": "for pred"}, "for gold"]}}]}"#;
    let stand_in = playing(script);
    let first = judge("gold a, reply {\"match\": ..}");
    let second = judge("gold b, reply {\"match\": ..}");
    assert_eq!(content(&ask(&stand_in, &first)), "garbage");
    assert_eq!(content(&ask(&stand_in, &second)), "garbage");
    assert_eq!(content(&ask(&stand_in, &first)), "{\"match\":true}");
    assert_eq!(content(&ask(&stand_in, &first)), "{\"match\":true}");
    assert_eq!(content(&ask(&stand_in, &judge("gold and pred: \"sub_hypo\""))), "for pred");
    assert_eq!(content(&ask(&stand_in, &judge("gold alone: \"sub_hypo\""))), "for gold");
}

#[test]
fn without_a_script_agent_and_judge_are_played_and_repeat_themselves() {
    let stand_in = playing("{}");
    let first = ask(&stand_in, &agent(&[]));
    assert!(content(&first).starts_with("Action: python_repl_ast\nAction Input: "));
    assert!(first.task.as_deref().is_some_and(|name| name.starts_with("unscripted-")));
    assert!(content(&ask(&stand_in, &agent(&["x"]))).starts_with("Final Answer: "));
    let question = judge("\"HypoA\": a,\n\"HypoB\": b,\n {\"sizeA\": ..}");
    assert_eq!(content(&ask(&stand_in, &question)), content(&ask(&stand_in, &question)));
    let ping = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    assert_eq!(content(&ask(&stand_in, &ping)), "ok");
}

#[test]
fn where_the_files_lie_and_what_was_observed_changes_nothing() {
    let stand_in = playing(r#"{"faults": [{"status": 500, "first": 1, "kinds": ["agent"]}]}"#);
    let second_turn = agent(&["Action: python_repl_ast\nAction Input: 1"]).to_string();
    let turns = |folder: &str| {
        let failed = second_turn.replace("seen", &format!("FileNotFoundError: no such file: '{folder}/a.csv'"));
        [agent(&[]).to_string(), failed].map(|body| serde_json::from_str(&body.replace("/w/", folder)).unwrap())
    };
    let [first, second]: [Value; 2] = turns("/w/");
    let [first_moved, second_moved]: [Value; 2] = turns("/tmp/argosy/sandbox-x1/");
    // A second execution elsewhere is another occurrence of the same call.
    assert_eq!([ask(&stand_in, &first).status, ask(&stand_in, &second).status], [500, 500]);
    let plans = [ask(&stand_in, &first_moved), ask(&stand_in, &second_moved)];
    assert_eq!(plans[0].task, plans[1].task);
    assert_eq!(content(&plans[1]), content(&ask(&stand_in, &second)));
    assert!(content(&plans[1]).starts_with("Final Answer: ") && !content(&plans[1]).contains("sandbox"));
}

#[test]
fn stop_and_token_limit_cut_a_reply_as_an_endpoint_does() {
    let script = r#"{"tasks": [{"task": "t", "question": "Why?", "agent": ["Action: x\nObservation: made up"]}]}"#;
    assert_eq!(content(&ask(&playing(script), &agent(&[]))), "Action: x");
    let ignoring = playing(&script.replacen('{', r#"{"ignore_stop": true, "#, 1));
    assert_eq!(content(&ask(&ignoring, &agent(&[]))), "Action: x\nObservation: made up");
    let mut short = agent(&[]);
    short["max_completion_tokens"] = json!(1);
    let plan = ask(&playing(script), &short);
    assert_eq!(
        (content(&plan).as_str(), json_of(&plan)["choices"][0]["finish_reason"].as_str()),
        ("Acti", Some("length"))
    );
    assert_eq!((plan.completion_tokens, json_of(&plan)["usage"]["completion_tokens"].as_u64()), (1, Some(1)));
}

#[test]
fn faults_depend_on_content_and_occurrence_only() {
    let script = r#"{"seed": 5, "faults": [{"status": 500, "probability": 0.5}]}"#;
    let bodies: Vec<Value> = (0..20).map(|i| judge(&format!("{i} \"match\""))).collect();
    let statuses = |order: &[usize]| {
        let stand_in = playing(script);
        let mut statuses = vec![Vec::new(); bodies.len()];
        for _ in 0..3 {
            for index in order {
                statuses[*index].push(ask(&stand_in, &bodies[*index]).status);
            }
        }
        statuses
    };
    let forwards: Vec<usize> = (0..bodies.len()).collect();
    let backwards: Vec<usize> = forwards.iter().rev().copied().collect();
    let drawn = statuses(&forwards);
    assert_eq!(drawn, statuses(&backwards));
    let errors = drawn.iter().flatten().filter(|status| **status == 500).count();
    assert!((15..=45).contains(&errors), "{errors}");
}

#[test]
fn first_occurrences_fail_and_then_the_list_of_replies_begins() {
    let script = r#"{"faults": [{"status": 429, "retry_after": 2, "first": 1, "kinds": ["context"]}],
        "judge": {"context": ["one", "two"]}}"#;
    let stand_in = playing(script);
    let body = judge("\"match\"");
    let refused = ask(&stand_in, &body);
    assert_eq!((refused.status, refused.headers), (429, vec![("retry-after".to_owned(), "2".to_owned())]));
    assert_eq!(content(&ask(&stand_in, &body)), "one");
    assert_eq!(content(&ask(&stand_in, &body)), "two");
    assert_eq!(ask(&stand_in, &judge("\"answer\"")).status, 200);
}

#[test]
fn a_tasks_first_calls_fail() {
    let script = r#"{"tasks": [{"task": "t", "question": "Why?", "fail_first": {"count": 2, "status": 503}}]}"#;
    let stand_in = playing(script);
    let statuses: Vec<u16> = (0..4).map(|_| ask(&stand_in, &agent(&[])).status).collect();
    assert_eq!(statuses, [503, 503, 200, 200]);
}

#[test]
fn parameters_context_and_keys_are_refused_like_an_endpoint_does() {
    let stand_in = playing(r#"{"refuse": ["stop"], "context_tokens": 20}"#);
    let plan = ask(&stand_in, &agent(&[]));
    assert_eq!((plan.status, json_of(&plan)["error"]["param"].as_str()), (400, Some("stop")));
    let mut without = agent(&["a long reply, so that the context is exceeded by what is said here"]);
    without.as_object_mut().unwrap().remove("stop");
    let plan = ask(&stand_in, &without);
    assert_eq!(json_of(&plan)["error"]["code"], "context_length_exceeded");

    let locked = StandIn::new(Script::default(), Some(argosy_shared::model::secret::Secret::new("k")));
    let body = agent(&[]).to_string();
    let status = |authorization| locked.answer(authorization, body.as_bytes(), Duration::ZERO, 0).status;
    assert_eq!([status(None), status(Some("Bearer x")), status(Some("Bearer k"))], [401, 401, 200]);
    assert_eq!(locked.answer(Some("Bearer k"), b"{", Duration::ZERO, 0).status, 400);
}

#[test]
fn the_rate_limit_turns_away_without_using_up_an_occurrence() {
    let script = r#"{"rate_limit": {"requests_per_minute": 60}, "judge": {"context": ["one", "two"]}}"#;
    let stand_in = playing(script);
    let body = judge("\"match\"").to_string();
    let at = |seconds| stand_in.answer(None, body.as_bytes(), Duration::from_secs(seconds), 0);
    assert_eq!(content(&at(0)), "one");
    let refused = at(0);
    assert!(refused.rate_limited && refused.headers.contains(&("retry-after".to_owned(), "1".to_owned())));
    assert_eq!(content(&at(1)), "two");
}

#[test]
fn malformed_answers_are_malformed_in_the_way_asked_for() {
    let of = |how: &str| {
        let stand_in = playing(&format!(r#"{{"faults": [{{"malformed": "{how}"}}]}}"#));
        let plan = ask(&stand_in, &agent(&[]));
        assert_eq!((plan.status, plan.malformed), (200, true));
        plan
    };
    for how in ["truncated_json", "html", "not_json", "empty_body"] {
        let Body::Whole(_, text) = of(how).body else { panic!("{how}") };
        assert!(serde_json::from_str::<Value>(&text).is_err(), "{how}");
    }
    assert_eq!(json_of(&of("empty_choices"))["choices"], json!([]));
    assert!(json_of(&of("no_choices")).get("choices").is_none());
    assert_eq!(json_of(&of("null_content"))["choices"][0]["message"]["content"], Value::Null);
    assert_eq!(content(&of("empty_content")), "");
    let reasoning = json_of(&of("reasoning_only"));
    assert_eq!(reasoning["choices"][0]["finish_reason"], "length");
    assert!(reasoning["choices"][0]["message"]["reasoning_content"].is_string());
    assert!(json_of(&of("error_200"))["error"].is_object());
    assert!(matches!(of("cut").body, Body::Cut(..)));
}

#[test]
fn a_streamed_reply_says_the_same() {
    let script = r#"{"tasks": [{"task": "t", "question": "Why?", "agent": ["Final Answer: a rather long reply, in more than one piece"]}]}"#;
    let mut body = agent(&[]);
    body["stream"] = json!(true);
    body["stream_options"] = json!({"include_usage": true});
    let Body::Events(events) = ask(&playing(script), &body).body else { panic!("no events") };
    assert_eq!(events.last().map(String::as_str), Some("data: [DONE]\n\n"));
    let chunks: Vec<Value> = events[..events.len() - 1]
        .iter()
        .map(|event| serde_json::from_str(event.strip_prefix("data: ").unwrap().trim()).unwrap())
        .collect();
    let text: String = chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(text, "Final Answer: a rather long reply, in more than one piece");
    assert!(chunks.last().unwrap()["usage"]["completion_tokens"].as_u64() > Some(0));
}
