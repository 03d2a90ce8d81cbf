use std::sync::{Mutex, PoisonError};

use argosy_shared::{
    issue::{Code, Severity},
    model::{ChatReply, ChatRequest, Failure},
    prompts::{JudgeCall, Part, Template},
    spec::JudgePolicy,
    task::{Blob, Column, Dataset, Split},
    time::{Clock as _, SystemClock},
};
use async_trait::async_trait;
use serde_json::{Map, json};

use super::*;

/// Plays a script; what is beyond it fails.
struct Scripted {
    script: Mutex<Vec<Result<&'static str, &'static str>>>,
    asked: Mutex<Vec<ChatRequest>>,
}

#[async_trait]
impl Model for Scripted {
    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, Failure> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        let next = {
            let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
            if script.is_empty() { Err("the script is over") } else { script.remove(0) }
        };
        next.map(|content| ChatReply { content: Some(content.to_owned()), ..ChatReply::default() }).map_err(|message| {
            Failure {
                code: Code::ModelFailed,
                severity: Severity::Fatal,
                status: Some(500),
                message: message.to_owned(),
                transient: true,
                retries: 0,
                raw: None,
            }
        })
    }
}

fn call(fields: &[&str], question: Option<&str>) -> JudgeCall {
    JudgeCall {
        system: "be a judge".to_owned(),
        user: Template::new(fields.iter().flat_map(|name| [Part::text("|"), Part::field(*name)])),
        question: question.map(ToOwned::to_owned),
        params: Map::new(),
        attempts: 1,
    }
}

fn prompts() -> JudgePrompts {
    let pair =
        ["datasets_json", "query", "gold_hypo", "gold_workflow", "gen_hypo", "gen_workflow", "dimension_question"];
    JudgePrompts {
        sub_hypotheses: call(&["datasets", "hypothesis", "workflow"], None),
        context: call(&["gold_hyp", "gold_context", "pred_hyp", "pred_context"], None),
        variables: call(&pair, Some("how many?")),
        relation: call(&pair, Some("how alike?")),
        pair_question: Template::new([Part::field("gold_text"), Part::text(" / "), Part::field("gen_text")]),
        fallback: [("text".to_owned(), Value::Null), ("context".to_owned(), json!("None"))].into_iter().collect(),
    }
}

fn judge(policy: JudgePolicy, script: &[Result<&'static str, &'static str>]) -> (Judge, Arc<Scripted>) {
    let model = Arc::new(Scripted { script: Mutex::new(script.to_vec()), asked: Mutex::default() });
    let settings = Settings { model: "j".to_owned(), policy, params: Map::new() };
    (Judge::new(model.clone(), Arc::new(prompts()), settings), model)
}

fn task() -> Task {
    let blob = Blob { sha256: String::new(), bytes: 0 };
    let columns = vec![Column { name: "x".to_owned(), description: "it's".to_owned() }];
    Task {
        id: Task::make_id(Split::SynthTest, "demo", 0, 7),
        split: Split::SynthTest,
        dataset_dir: "demo".to_owned(),
        metadata_id: 0,
        query_id: 7,
        domain: "demo".to_owned(),
        question: "why?".to_owned(),
        question_type: "general".to_owned(),
        datasets: vec![Dataset { name: "d.csv".to_owned(), description: "D".to_owned(), columns, blob }],
        intermediate: Vec::new(),
        domain_knowledge: None,
        workflow_tags: None,
    }
}

const SUB: &str = r#"{"sub_hypo": [{"text": "t", "context": "c"}]}"#;
const VAR: &str = r#"{"sizeA": 2, "sizeB": 2, "intersection": 3, "explanation": ""}"#;
const REL: &str = r#"{"answer": "B"}"#;

#[tokio::test]
async fn an_answer_is_scored_with_its_evidence() {
    let (judge, model) = judge(JudgePolicy::Strict, &[Ok(SUB), Ok(SUB), Ok(VAR), Ok(REL)]);
    let judgement = judge.judge(&task(), "gold", "answer").await.unwrap();
    assert_eq!((judgement.score, judgement.recall_context, judgement.mean_accuracy_score), (0.5, 1.0, 0.5));
    assert_eq!(judgement.issues.len(), 1, "the intersection was cut");
    assert_eq!(judgement.calls.len(), 4);
    let record = judgement.eval_rec.as_ref().unwrap();
    assert_eq!(record["matched_gold_gen_subh_evals"]["P0||G0"]["rel"]["score"], 0.5);
    let asked = model.asked.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let datasets = r#"[{'dataset_description': 'D', 'columns': [{'name': 'x', 'description': "it's"}]}]"#;
    assert_eq!(asked[0].messages[1].content, format!("|{datasets}|gold|"));
    assert_eq!(asked[1].messages[1].content, format!("|{datasets}|answer|"));
    assert_eq!(asked[3].messages[1].content, format!("|{datasets}|why?|gold||answer||how alike?"));
    // It can be written down and read back.
    let text = serde_json::to_string(&judgement).unwrap();
    assert_eq!(serde_json::from_str::<Judgement>(&text).unwrap(), judgement);
}

#[tokio::test]
async fn a_failed_request_and_an_unusable_reply_are_fatal() {
    let (failing, _) = judge(JudgePolicy::Strict, &[Ok(SUB), Err("host: 500")]);
    let failure = failing.judge(&task(), "gold", "answer").await.unwrap_err();
    assert_eq!((&failure.issue.code, failure.issue.severity), (&Code::JudgeFailed, Severity::Fatal));
    assert!(failure.to_string().contains("host: 500"));
    let (babbling, _) = judge(JudgePolicy::Strict, &[Ok("?"), Ok("??"), Ok("???")]);
    let failure = babbling.judge(&task(), "gold", "answer").await.unwrap_err();
    assert_eq!(failure.issue.code, Code::JudgeInvalidOutput);
    let raw: Vec<&str> = failure.calls.iter().filter_map(|call| call.raw.as_deref()).collect();
    assert_eq!(raw, ["?", "??", "???"]);
}

#[tokio::test(start_paused = true)]
async fn upstream_waits_two_seconds_after_each_failed_request() {
    let script = [Ok(SUB), Ok(SUB), Err("a"), Err("b"), Err("c"), Err("d"), Ok(REL)];
    let (judge, model) = judge(JudgePolicy::Upstream, &script);
    let clock = SystemClock::new();
    let judgement = judge.judge(&task(), "gold", "answer").await.unwrap();
    assert_eq!(clock.monotonic().as_secs(), 8);
    assert_eq!(judgement.score, -0.5, "upstream multiplies its sentinel");
    assert_eq!(model.asked.lock().unwrap_or_else(PoisonError::into_inner).len(), 7);
}

#[test]
fn no_answer_is_zero_without_a_judge() {
    let judgement = Judgement::no_answer();
    assert_eq!((judgement.score, judgement.recall_context, judgement.mean_accuracy_score), (0.0, 0.0, 0.0));
    assert!(judgement.eval_rec.is_none() && judgement.calls.is_empty() && judgement.issues.is_empty());
}
