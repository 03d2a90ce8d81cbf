//! Who sent a request, told by interface words alone: the name of the tool an agent is offered, the stop sequence,
//! and the JSON keys a judge prompt demands. No prompt's wording is used, so any prompt pack is understood.

use std::{fmt, ops::Range};

use serde::{Deserialize, Serialize};

use super::request::Request;
use argosy_shared::trajectory::PYTHON_TOOL;

/// The kind of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The agent's next turn.
    Agent,
    /// The judge segments a hypothesis; the reply has `sub_hypo`.
    SubHypotheses,
    /// The judge compares two contexts; the reply has `match`.
    Context,
    /// The judge counts variables; the reply has `sizeA`.
    Variables,
    /// The judge compares relations; the reply has `answer`.
    Relation,
    /// Anything else, for example a ping.
    Other,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agent => "agent",
            Self::SubHypotheses => "sub_hypotheses",
            Self::Context => "context",
            Self::Variables => "variables",
            Self::Relation => "relation",
            Self::Other => "other",
        })
    }
}

/// The keys that judge prompts demand of a reply.
const JUDGE_KEYS: [(&str, Kind); 4] = [
    ("\"sub_hypo\"", Kind::SubHypotheses),
    ("\"match\"", Kind::Context),
    ("\"sizeA\"", Kind::Variables),
    ("\"answer\"", Kind::Relation),
];

/// How an observation is introduced when the request has no `stop` (a client that learned to drop it).
const OBSERVATION: &str = "\nObservation:";

/// The kind of `request`.
pub(super) fn kind(request: &Request) -> Kind {
    let is_agent = request.text.contains(PYTHON_TOOL);
    if is_agent && !request.stop.is_empty() {
        return Kind::Agent;
    }
    // A judge prompt ends with the shape of the reply, so the key that comes last is the one demanded; hypotheses
    // inserted before it may quote anything.
    let demanded = JUDGE_KEYS
        .iter()
        .filter_map(|(key, kind)| Some((request.text.rfind(key)?, *kind)))
        .max_by_key(|(at, _)| *at)
        .map(|(_, kind)| kind);
    match demanded {
        Some(kind) if request.has_system || !is_agent => kind,
        _ if is_agent => Kind::Agent,
        _ => Kind::Other,
    }
}

/// An agent's prompt, taken apart.
#[derive(Debug)]
pub(super) struct AgentPrompt<'a> {
    /// Paths of the data files as Python literals, quotes included.
    pub(super) paths: Vec<&'a str>,
    /// The names of the data files and what follows up to the first step: the same in every turn of a task, wherever
    /// its files lie.
    pub(super) input: String,
    /// Past steps.
    pub(super) turn: usize,
    /// The last observation.
    pub(super) observation: Option<&'a str>,
    /// Whether the prompt asks for thoughts: react does, coder does not.
    pub(super) thinks: bool,
}

/// Takes an agent's prompt apart.
pub(super) fn agent_prompt(request: &Request) -> AgentPrompt<'_> {
    let text = request.text.as_str();
    let list = path_list(text);
    let start = list.as_ref().map_or(0, |(range, _)| range.start);
    let (before, after) = text.split_at(start);
    let after_paths = list.as_ref().map_or(0, |(range, _)| range.len());
    let marker = request.stop.first().map_or(OBSERVATION, String::as_str);
    let steps: Vec<usize> = after.match_indices(marker).map(|(at, _)| at + marker.len()).collect();
    let observation = steps.last().map(|at| {
        let observation = &after[*at..];
        observation.strip_suffix("\nThought: ").unwrap_or(observation).trim()
    });
    let after = &after[after_paths..];
    let end = ["\nAction:", "\nThought:", marker].iter().filter_map(|mark| after.find(mark)).min();
    let paths = list.map(|(_, paths)| paths).unwrap_or_default();
    let mut input: String = paths.iter().map(|path| format!("{}\n", file_name(path))).collect();
    input.push_str(after[..end.unwrap_or(after.len())].trim());
    AgentPrompt { paths, input, turn: steps.len(), observation, thinks: before.contains("Thought:") }
}

/// The file's name in a Python literal of its path.
pub(super) fn file_name(path: &str) -> &str {
    path.trim_matches(['\'', '"']).rsplit('/').next().unwrap_or(path)
}

/// The first Python list of quoted file names in `text`.
fn path_list(text: &str) -> Option<(Range<usize>, Vec<&str>)> {
    text.match_indices(['[']).find_map(|(start, _)| {
        let mut rest = &text[start + 1..];
        let mut paths = Vec::new();
        loop {
            let quote = rest.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
            let length = rest[1..].find([quote, '\n'])?;
            let literal = rest.get(..length + 2).filter(|literal| literal.ends_with(quote))?;
            if !is_file_name(&literal[1..literal.len() - 1]) {
                return None;
            }
            paths.push(literal);
            rest = &rest[literal.len()..];
            match rest.strip_prefix(", ") {
                Some(more) => rest = more,
                None if rest.starts_with(']') => return Some((start..text.len() - rest.len() + 1, paths)),
                None => return None,
            }
        }
    })
}

fn is_file_name(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && (1..=8).contains(&extension.len()) && extension.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

/// The value that follows `"key":` in the JSON-like block of a judge prompt: up to the next line that opens another
/// key or closes the block, without quotes and comma.
pub(super) fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let start = text.find(&format!("\"{key}\":"))? + key.len() + 3;
    let rest = &text[start..];
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        let opens_another = end > 0 && (line.trim_start().starts_with('"') || line.trim_start().starts_with('}'));
        if opens_another {
            break;
        }
        end += line.len();
    }
    let value = rest[..end].trim().trim_end_matches(',').trim();
    Some(value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(body: &serde_json::Value) -> Request {
        Request::parse(body.to_string().as_bytes()).unwrap()
    }

    fn agent(text: &str, stop: Option<&str>) -> Request {
        let mut body = json!({"model": "m", "messages": [{"role": "user", "content": text}]});
        if let Some(stop) = stop {
            body["stop"] = json!([stop]);
        }
        request(&body)
    }

    fn judge(text: &str) -> Request {
        request(
            &json!({"model": "m", "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": text}]}),
        )
    }

    #[test]
    fn calls_are_told_apart_by_what_they_demand() {
        let tool = "one tool: python_repl_ast. Begin";
        assert_eq!(kind(&agent(tool, Some("\nObservation:"))), Kind::Agent);
        assert_eq!(kind(&agent(tool, None)), Kind::Agent);
        // Column descriptions may quote a judge's key.
        assert_eq!(kind(&agent(&format!("{tool} \"match\""), None)), Kind::Agent);
        assert_eq!(kind(&judge("reply {\"sub_hypo\": [..]}")), Kind::SubHypotheses);
        assert_eq!(kind(&judge("gold says \"sizeA\"; reply {\"match\": ..}")), Kind::Context);
        assert_eq!(kind(&judge("reply {\"sizeA\": ..}, found with python_repl_ast")), Kind::Variables);
        assert_eq!(kind(&judge("reply {\"answer\": ..}")), Kind::Relation);
        assert_eq!(kind(&judge("hello")), Kind::Other);
        assert_eq!(kind(&agent("hello", None)), Kind::Other);
    }

    #[test]
    fn an_agent_prompt_is_taken_apart() {
        let head = "python_repl_ast\nThought: t\nObservation: o\nx = df[['a']]\nQuestion: Paths: ['/w/a.csv', \"/w/b's.txt\"]. What?\n";
        let first = agent(head, Some("\nObservation:"));
        let parts = agent_prompt(&first);
        assert_eq!(parts.paths, ["'/w/a.csv'", "\"/w/b's.txt\""]);
        assert_eq!((parts.turn, parts.observation, parts.thinks), (0, None, true));
        let later = agent(
            &format!("{head}Thought: hm\nAction: python_repl_ast\nAction Input: 1\nObservation: 1\n\nThought: "),
            Some("\nObservation:"),
        );
        let later = agent_prompt(&later);
        assert_eq!(later.input, parts.input);
        assert_eq!((later.turn, later.observation), (1, Some("1")));
        // Another execution has its files elsewhere; the task is the same.
        let moved = agent(&head.replace("/w/", "/tmp/x/"), Some("\nObservation:"));
        assert_eq!(agent_prompt(&moved).input, parts.input);
        assert_eq!(parts.input, "a.csv\nb's.txt\n. What?");
        let without = agent("python_repl_ast, no paths", None);
        assert!(agent_prompt(&without).paths.is_empty());
    }

    #[test]
    fn fields_of_a_judge_prompt_are_found() {
        let text = "x\n{\n  \"hypothesis\": \"Two\nlines, \"quoted\" \",\n  \"workflow\": \"\"\n}";
        assert_eq!(field(text, "hypothesis"), Some("Two\nlines, \"quoted\" "));
        assert_eq!(field("\"query\": How?,\n\"HypoA\": a\n", "query"), Some("How?"));
        assert_eq!(field(text, "query"), None);
    }
}
