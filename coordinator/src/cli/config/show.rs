//! `argosy config show`: what is in force, and where each value came from.

use std::fmt::Write as _;

use argosy_shared::redact;
use figment::value::Value as Tagged;
use serde_json::{Map, Value, json};

use super::Config;

/// Valid YAML: each value on a line of its own, with its source behind it.
pub(super) fn yaml(config: &Config, wanted: impl Fn(&str) -> bool) -> anyhow::Result<String> {
    let mut text = String::new();
    write_yaml(&mut text, 0, &tree(config, wanted)?)?;
    Ok(text.trim_end().to_owned())
}

/// The values, and beside them each one's source by its dotted path.
pub(super) fn json(config: &Config, wanted: impl Fn(&str) -> bool) -> anyhow::Result<String> {
    let mut origins = Map::new();
    let values = split(&tree(config, wanted)?, "", &mut origins);
    Ok(serde_json::to_string_pretty(&json!({"values": values, "origins": origins}))?)
}

/// Values and sources together; credentials are masked.
enum Node {
    Branch(Vec<(String, Self)>),
    Leaf { value: Value, origin: String },
}

fn tree(config: &Config, wanted: impl Fn(&str) -> bool) -> anyhow::Result<Node> {
    let config = config.with_defaults();
    let mut masked = config.values()?;
    redact::mask(&mut masked);
    let mut sections = Vec::new();
    for name in ["benchmarks", "harnesses", "environments", "execution", "runtime"] {
        let Ok(found) = config.figment.find_value(name) else { continue };
        let mut node = node(&config, &found, &masked[name]);
        if let Node::Branch(below) = &mut node
            && !matches!(name, "execution" | "runtime")
        {
            below.retain(|(id, _)| wanted(&format!("{name}.{id}")));
        }
        let empty = matches!(&node, Node::Branch(below) if below.is_empty());
        if !empty && (!matches!(name, "execution" | "runtime") || wanted(name)) {
            sections.push((name.to_owned(), node));
        }
    }
    Ok(Node::Branch(sections))
}

fn node(config: &Config, tagged: &Tagged, masked: &Value) -> Node {
    match (tagged, masked) {
        (Tagged::Dict(_, members), Value::Object(values)) if !members.is_empty() => Node::Branch(
            members
                .iter()
                .map(|(name, below)| (name.clone(), node(config, below, values.get(name).unwrap_or(&Value::Null))))
                .collect(),
        ),
        _ => Node::Leaf {
            value: masked.clone(),
            origin: config.origin_of(tagged.tag()).unwrap_or_else(|| "default".to_owned()),
        },
    }
}

fn write_yaml(text: &mut String, depth: usize, node: &Node) -> anyhow::Result<()> {
    let Node::Branch(members) = node else { return Ok(()) };
    for (name, below) in members {
        let name = if name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')) {
            name.clone()
        } else {
            serde_json::to_string(name)?
        };
        let indent = "  ".repeat(depth);
        match below {
            Node::Branch(_) => {
                writeln!(text, "{indent}{name}:")?;
                write_yaml(text, depth + 1, below)?;
            }
            Node::Leaf { value, origin } => {
                writeln!(text, "{indent}{name}: {}  # {origin}", serde_json::to_string(value)?)?;
            }
        }
    }
    Ok(())
}

fn split(node: &Node, path: &str, origins: &mut Map<String, Value>) -> Value {
    match node {
        Node::Leaf { value, origin } => {
            origins.insert(path.to_owned(), Value::from(origin.clone()));
            value.clone()
        }
        Node::Branch(members) => members
            .iter()
            .map(|(name, below)| {
                let place = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                (name.clone(), split(below, &place, origins))
            })
            .collect::<Map<_, _>>()
            .into(),
    }
}
