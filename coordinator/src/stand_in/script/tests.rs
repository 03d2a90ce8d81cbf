//! Scripts read, refused and matched.

use super::*;

/// The example in the module's documentation, so that it cannot go stale.
fn example() -> String {
    let source = include_str!("../script.rs");
    let block = source.split("//! ```json\n").nth(1).unwrap().split("//! ```").next().unwrap();
    block.lines().map(|line| line.trim_start_matches("//!")).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_documented_example_is_a_script() {
    let script = Script::parse(&example()).unwrap();
    assert_eq!((script.seed, script.faults.len(), script.tasks.len()), (7, 3, 1));
    let task = &script.tasks[0];
    assert_eq!((task.agent.len(), task.agent[1].0.len(), task.judge.len()), (3, 2, 4));
    assert_eq!(task.fail_first.as_ref().map(|fail| fail.count), Some(2));
    assert_eq!(script.faults[1].say.retry_after.as_deref(), Some("2"));
}

#[test]
fn json_lines_hold_settings_and_tasks() {
    let text = "{\"seed\": 3}\n\n{\"task\": \"a\", \"question\": \"Why?\"}\n{\"task\": \"b\", \"match\": [\"x\"]}\n";
    let script = Script::parse(text).unwrap();
    assert_eq!((script.seed, script.tasks.len()), (3, 2));
    let error = Script::parse("{\"seed\": 3}\n{\"task\": \"a\", \"agents\": []}").unwrap_err().to_string();
    assert!(error.starts_with("line 2: ") && error.contains("agents"), "{error}");
}

#[test]
fn what_cannot_be_played_is_refused_with_its_place() {
    let cases = [
        ("{", "script"),
        (r#"{"sed": 1}"#, "sed"),
        (r#"{"latency": {"fixed": -1}}"#, "latency"),
        (r#"{"match_probability": 2}"#, "match_probability"),
        (r#"{"rate_limit": {"requests_per_minute": 0}}"#, "requests_per_minute"),
        (r#"{"faults": [{"probability": 0.1}]}"#, "faults[0]"),
        (r#"{"faults": [{"status": 500, "probability": 7}]}"#, "faults[0].probability"),
        (r#"{"tasks": [{"task": "a"}]}"#, "tasks[0]"),
        (r#"{"tasks": [{"task": "a", "question": ""}]}"#, "empty text"),
        (r#"{"tasks": [{"task": "a", "question": "x", "agent": [[]]}]}"#, "agent[0]"),
        (r#"{"judge": {"agent": ["x"]}}"#, "judge.agent"),
    ];
    for (text, place) in cases {
        let error = Script::parse(text).unwrap_err().to_string();
        assert!(error.contains(place), "{text}: {error}");
    }
}

#[test]
fn a_request_belongs_to_the_task_with_the_longest_texts() {
    let script = Script::parse(
        r#"{"tasks": [{"task": "a", "question": "Why?", "files": ["x.csv"]},
                      {"task": "b", "question": "Why?", "files": ["xx.csv"], "judge_match": ["gold b"]},
                      {"task": "c", "match": ["Why? or not?"]}]}"#,
    )
    .unwrap();
    let finder = Finder::new(&script.tasks);
    let of = |kind, text| finder.task_of(kind, text).map(|index| script.tasks[index].task.as_str());
    assert_eq!(of(Kind::Agent, "x.csv Why?"), Some("a"));
    assert_eq!(of(Kind::Agent, "xx.csv Why?"), Some("b"));
    assert_eq!(of(Kind::Agent, "y.csv Why?"), None);
    assert_eq!(of(Kind::Agent, "y.csv Why? or not?"), Some("c"));
    assert_eq!(of(Kind::SubHypotheses, "the gold b"), Some("b"));
    assert_eq!(of(Kind::SubHypotheses, "Why?"), None);
    assert_eq!(of(Kind::Relation, "Why?"), Some("a"));
}
