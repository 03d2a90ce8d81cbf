//! `judge.jsonl`: under `upstream` everything equal to the last bit; under `strict` equal, or as written down in
//! [`strict`].

mod play;
mod strict;

use std::{collections::BTreeMap, path::Path, sync::Arc};

use argosy_coordinator::dataset::pack;
use argosy_shared::{
    hms::{Failure, JudgeRequest, prompt},
    prompts::{JudgePrompts, PromptPack},
    pyjson::{self, PyValue},
    pyrepr,
    spec::JudgePolicy,
    task::Kind,
};
use argosy_tests::{
    places,
    vectors::{Outcome, Tally},
};
use sha2::{Digest as _, Sha256};

use crate::rows;
use play::{Case, End, Script};

/// Checks every row.
pub(crate) fn check(folder: &Path) -> Tally {
    let mut tally = Tally::of("judge.jsonl");
    let inline = folder.join("judge_inline_metadata.json");
    let inline = std::fs::read_to_string(inline).ok().and_then(|text| pyjson::loads(&text).ok());
    let prompts = prompts();
    let mut strict_outcomes: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows::read(folder, "judge.jsonl") {
        let outcome = match (&prompts, datasets(&row, inline.as_ref())) {
            (Err(why), _) => Outcome::Skipped(why.clone()),
            (_, Err(why)) => Outcome::Skipped(why),
            (Ok(prompts), Ok(datasets)) => match both(&row, prompts, datasets) {
                Ok(outcome) => outcome,
                Err(difference) => Outcome::Failed(difference),
            },
        };
        let kind = match &outcome {
            Outcome::Equal => "equal",
            Outcome::Documented(reason) if reason.contains("FATAL") => "FATAL",
            Outcome::Documented(_) => "other score",
            Outcome::Skipped(_) | Outcome::Failed(_) => "not compared",
        };
        *strict_outcomes.entry(kind).or_default() += 1;
        tally.count(&rows::id(&row), outcome);
    }
    let counts: Vec<String> = strict_outcomes.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    tally.notes.push(format!("policy strict: {}", counts.join(", ")));
    tally
}

/// The judge's prompts, from a pack beside the project or from a checkout.
fn prompts() -> Result<Arc<JudgePrompts>, String> {
    if let Some(path) = places::prompt_pack() {
        let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let pack = PromptPack::from_json(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        return Ok(Arc::new(pack.judge));
    }
    let checkout =
        places::upstream_checkout().ok_or("no prompt pack: set DISCOVERYBENCH_ROOT to an upstream checkout")?;
    // A checkout that is there but cannot be read is a failure, not a reason to skip.
    let pack = pack::extract(&checkout).unwrap_or_else(|error| panic!("{}: {error}", checkout.display()));
    Ok(Arc::new(pack.judge))
}

/// The judge's text of the row's datasets.
fn datasets(row: &PyValue, inline: Option<&PyValue>) -> Result<String, String> {
    let kind = if rows::text(row, "dataset_type") == "real" { Kind::Real } else { Kind::Synth };
    let shown = |metadata: &PyValue| {
        prompt::datasets_text_of_metadata(metadata, kind).map_err(|exception| exception.to_string())
    };
    if let Some(name) = row.get("inline_metadata").and_then(PyValue::as_str) {
        let metadata = inline.and_then(|inline| inline.get(name));
        return shown(metadata.ok_or_else(|| format!("no `{name}` in judge_inline_metadata.json"))?);
    }
    let root = places::dataset().ok_or("no dataset")?;
    let metadata = argosy_coordinator::judge::metadata::read(&root.join(rows::text(row, "metadata")))
        .map_err(|error| error.to_string())?;
    shown(&metadata)
}

fn both(row: &PyValue, prompts: &Arc<JudgePrompts>, datasets: String) -> Result<Outcome, String> {
    let case = Case { row, prompts: prompts.clone(), datasets };
    let replies = rows::list(row, "replies");
    let played = case.play(JudgePolicy::Upstream, &mut Script::in_order(replies))?;
    let context = |difference: String| format!("policy upstream: {difference}");
    compare_upstream(row, &played).map_err(context)?;
    let mut script = Script::by_question(&played.requests, replies);
    let under_strict = case.play(JudgePolicy::Strict, &mut script)?;
    strict::outcome(row, &played, &under_strict).map_err(|difference| format!("policy strict: {difference}"))
}

fn compare_upstream(row: &PyValue, played: &play::Played) -> Result<(), String> {
    let calls: Vec<&str> = rows::list(row, "calls").iter().filter_map(PyValue::as_str).collect();
    let ours: Vec<&str> = played.requests.iter().map(|request| request.kind.as_str()).collect();
    equal("calls", &calls, &ours)?;
    let expected = rows::list(row, "requests");
    equal("requests", &expected.len(), &ours.len())?;
    for (n, (expected, ours)) in expected.iter().zip(&played.requests).enumerate() {
        compare_request(expected, ours).map_err(|difference| format!("request {n}: {difference}"))?;
    }
    let number = |key: &str| row.get(key).map(pyrepr::repr).unwrap_or_default();
    equal("sleeps", &number("sleeps"), &played.pauses.to_string())?;
    equal("unused replies", &number("unused_replies"), &played.unused.to_string())?;
    match (row.get("exception"), &played.end) {
        (Some(exception), End::Failed(failure)) => {
            let (type_name, message) = match failure {
                Failure::Raised { exception, .. } => (exception.type_name, exception.message.clone()),
                // What the scripted endpoint raised.
                Failure::Request { failure, .. } => ("ApiError", failure.message.clone()),
                other => return Err(format!("{other}: not a failure of upstream's")),
            };
            equal("exception", &rows::text(exception, "type"), &type_name)?;
            equal("exception", &rows::text(exception, "message"), &message.as_str())
        }
        (None, End::Done(judged)) => {
            let expected = rows::untagged(row.get("eval_rec").ok_or("the row has neither record nor exception")?);
            if expected.is_identical(&judged.eval_rec) {
                Ok(())
            } else {
                Err(format!(
                    "eval_rec:\n{}\nours:\n{}",
                    pyjson::dumps(&expected, Some(1)),
                    pyjson::dumps(&judged.eval_rec, Some(1))
                ))
            }
        }
        (Some(exception), End::Done(_)) => Err(format!("a score where {} is expected", pyrepr::repr(exception))),
        (None, End::Failed(failure)) => Err(format!("{failure} where a record is expected")),
    }
}

fn compare_request(expected: &PyValue, ours: &JudgeRequest) -> Result<(), String> {
    equal("kind", &rows::text(expected, "kind"), &ours.kind.as_str())?;
    for (message, key) in ours.chat.messages.iter().zip(["system_sha256", "user_sha256"]) {
        let hash = hex::encode(Sha256::digest(&message.content));
        if rows::text(expected, key) != hash {
            return Err(format!("{key} differs; ours is of:\n{}", message.content));
        }
    }
    if let Some(PyValue::List(messages)) = expected.get("messages") {
        let ours = serde_json::to_value(&ours.chat.messages).map_err(|error| error.to_string())?;
        let expected = pyjson::to_json(&PyValue::List(messages.clone()));
        equal("messages", &expected, &ours)?;
    }
    let mut params = vec![("model".to_owned(), PyValue::from(ours.chat.model.as_str()))];
    params.extend(ours.chat.params.iter().map(|(name, value)| (name.clone(), pyjson::from_json(value))));
    let Some(PyValue::Dict(expected)) = expected.get("params") else { return Err("no params in the row".to_owned()) };
    // Types and values; the order of keys in a request means nothing.
    let same = expected.len() == params.len()
        && params.iter().all(|(name, value)| expected.get(name).is_some_and(|expected| expected.is_identical(value)));
    if same { Ok(()) } else { Err(format!("params {expected:?}, ours {params:?}")) }
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, ours: &T) -> Result<(), String> {
    if expected == ours { Ok(()) } else { Err(format!("{what}: {expected:?}, ours {ours:?}")) }
}
