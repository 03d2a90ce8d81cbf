use serde_json::json;

use super::*;
use crate::{prompts::sample, pyjson::loads, spec::JudgePolicy, task::Column};

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(members) = value else { panic!("not an object: {value}") };
    members
}

#[test]
fn datasets_are_shown_as_python_shows_them() {
    let blob = crate::task::Blob { sha256: String::new(), bytes: 0 };
    let column = |name: &str, description: &str| Column { name: name.to_owned(), description: description.to_owned() };
    let dataset = |description: &str, columns| Dataset {
        name: "ignored.csv".to_owned(),
        description: description.to_owned(),
        columns,
        blob: blob.clone(),
    };
    let datasets = [dataset("it's", vec![column("a", "x\ny"), column("", "\u{b5}")]), dataset("D", vec![])];
    let expected = r#"[{'dataset_description': "it's", 'columns': [{'name': 'a', 'description': 'x\ny'}, {'name': '', 'description': 'µ'}]}, {'dataset_description': 'D', 'columns': []}]"#;
    assert_eq!(datasets_text(&datasets), expected);
    assert_eq!(datasets_text(&[]), "[]");
    let columns = r#"[{"name": "a", "description": "x\ny", "depth": 0}, {"name": "", "description": "µ"}]"#;
    let real = format!(
        r#"{{"datasets": [{{"name": "n", "description": "it's", "columns": {{"raw": {columns}}}}},
            {{"description": "D", "columns": {{"raw": []}}}}]}}"#
    );
    let real = loads(&real).unwrap();
    assert_eq!(metadata_kind(&real), Some(Kind::Real));
    assert_eq!(datasets_text_of_metadata(&real, Kind::Real).unwrap(), expected);
    let synth = format!(
        r#"{{"datasets": [{{"description": "it's", "columns": {columns}}}, {{"description": "D", "columns": []}}]}}"#
    );
    let synth = loads(&synth).unwrap();
    assert_eq!(metadata_kind(&synth), Some(Kind::Synth));
    assert_eq!(datasets_text_of_metadata(&synth, Kind::Synth).unwrap(), expected);
    assert_eq!(
        datasets_text_of_metadata(&synth, Kind::Real).unwrap_err().to_string(),
        "TypeError: list indices must be integers or slices, not str"
    );
    assert_eq!(metadata_kind(&loads("{\"datasets\": []}").unwrap()), None);
}

#[test]
fn a_request_holds_system_and_user_message_and_the_packs_parameters() {
    let mut prompts = sample::pack().judge;
    prompts.context.params = object(json!({"temperature": 1.0, "max_tokens": 4096}));
    let settings = Settings { model: "j".to_owned(), policy: JudgePolicy::Strict, params: Map::new() };
    let request = request(&prompts, &settings, CallKind::Context, "ask".to_owned());
    assert_eq!(request.model, "j");
    assert_eq!(request.messages[0], Message { role: Role::System, content: prompts.context.system.clone() });
    assert_eq!(request.messages[1], Message { role: Role::User, content: "ask".to_owned() });
    assert_eq!(request.params, prompts.context.params);
}

#[test]
fn the_users_parameters_replace_the_packs() {
    let short = json!({"response_format": {"type": "json_object"}, "temperature": 0, "max_tokens": 250});
    let long = json!({"temperature": 1.0, "max_tokens": 4096, "top_p": 1.0});
    let with = |kind, own: &Value, user: Value| {
        Value::Object(overridden(kind, &object(own.clone()), &object(user))).to_string()
    };
    for (kind, own, user, expected) in [
        (CallKind::Variables, &short, json!({}), short.to_string()),
        (
            CallKind::Variables,
            &short,
            json!({"temperature": 0.5, "seed": 7}),
            r#"{"response_format":{"type":"json_object"},"temperature":0.5,"max_tokens":250,"seed":7}"#.to_owned(),
        ),
        (
            CallKind::Relation,
            &short,
            json!({"response_format": null, "temperature": null}),
            r#"{"max_tokens":250}"#.to_owned(),
        ),
        // A short limit is replaced, also by a shorter one; the long limit is only ever raised.
        (
            CallKind::Relation,
            &short,
            json!({"response_format": null, "max_tokens": 100}),
            r#"{"temperature":0,"max_tokens":100}"#.to_owned(),
        ),
        (CallKind::Context, &long, json!({"max_tokens": 1000}), long.to_string()),
        (
            CallKind::SubHypotheses,
            &long,
            json!({"max_tokens": 8000}),
            r#"{"temperature":1.0,"max_tokens":8000,"top_p":1.0}"#.to_owned(),
        ),
        (CallKind::SubHypotheses, &long, json!({"max_tokens": null}), r#"{"temperature":1.0,"top_p":1.0}"#.to_owned()),
        // Never both names of the limit.
        (
            CallKind::Context,
            &long,
            json!({"max_completion_tokens": 1000}),
            r#"{"temperature":1.0,"max_completion_tokens":4096,"top_p":1.0}"#.to_owned(),
        ),
        (
            CallKind::Variables,
            &short,
            json!({"max_completion_tokens": 3000, "response_format": null}),
            r#"{"temperature":0,"max_completion_tokens":3000}"#.to_owned(),
        ),
        (CallKind::Variables, &json!({}), json!({"max_tokens": 10}), r#"{"max_tokens":10}"#.to_owned()),
    ] {
        assert_eq!(with(kind, own, user.clone()), expected, "{kind} with {user}");
    }
}
