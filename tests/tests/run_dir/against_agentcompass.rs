//! `fixtures/run_dir/agentcompass.json`: what AgentCompass 1.0.1 makes of odd names and of values that look secret or
//! empty (`fixtures/run_dir/generate.py`).

use argosy_shared::{
    id::TaskId,
    redact,
    run_dir::{json, names, request},
};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Fixture {
    task_directories: Vec<(String, String)>,
    components: Vec<(String, String)>,
    run_names: Vec<(String, Vec<String>)>,
    sensitive: Vec<(String, bool)>,
    redacted: Vec<(Value, Value)>,
    sparse: Vec<(Value, Value)>,
    requests: Vec<(Value, Value)>,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("../../fixtures/run_dir/agentcompass.json")).unwrap()
}

#[test]
fn names_are_the_same() {
    let fixture = fixture();
    assert!(fixture.task_directories.len() > 30);
    for (id, expected) in fixture.task_directories {
        assert_eq!(names::task_dir(&TaskId(id.clone())), expected, "{id}");
    }
    for (text, expected) in fixture.components {
        assert_eq!(names::sanitise(&text), expected, "{text}");
    }
    for (text, expected) in fixture.run_names {
        assert_eq!(names::run_name_levels(&text), expected, "{text}");
    }
}

#[test]
fn the_same_values_are_masked() {
    let fixture = fixture();
    for (key, expected) in fixture.sensitive {
        assert_eq!(redact::is_sensitive_key(&key), expected, "{key}");
    }
    assert!(fixture.redacted.len() > 30);
    for (value, expected) in fixture.redacted {
        let mut masked = value.clone();
        redact::mask(&mut masked);
        assert_eq!(masked, expected, "{value}");
    }
}

#[test]
fn the_same_members_are_dropped() {
    let fixture = fixture();
    for (value, expected) in fixture.sparse {
        assert_eq!(json::without_empty(value.clone()), expected, "{value}");
    }
    for (value, expected) in fixture.requests {
        assert_eq!(request::sanitise(value.clone()), expected, "{value}");
    }
}
