use proptest::prelude::*;
use serde_json::Map;

use super::*;
use crate::{
    issue::{Code, Severity},
    prompts::sample,
    pyrepr,
};

const SUB: &str = r#"{"sub_hypo": [{"text": "t", "context": "c"}]}"#;
const VAR: &str = r#"{"sizeA": 2, "sizeB": 2, "intersection": 1, "explanation": "e"}"#;
const REL: &str = r#"{"answer": "B)"}"#;

fn prompts() -> Arc<JudgePrompts> {
    let mut prompts = sample::pack().judge;
    prompts.context.attempts = 5;
    Arc::new(prompts)
}

fn judging(policy: JudgePolicy) -> Judging {
    let inputs = Inputs {
        query: "why?".to_owned(),
        gold: "the gold".to_owned(),
        answer: "the answer".to_owned(),
        datasets: "[]".to_owned(),
        ..Inputs::default()
    };
    Judging::new(prompts(), inputs, Settings { model: "j".to_owned(), policy, params: Map::new() })
}

fn says(content: &str) -> Result<ChatReply, model::Failure> {
    Ok(ChatReply { content: Some(content.to_owned()), finish_reason: Some("stop".to_owned()), ..ChatReply::default() })
}

fn refused() -> Result<ChatReply, model::Failure> {
    Err(model::Failure {
        code: Code::ModelFailed,
        severity: Severity::Fatal,
        status: Some(503),
        message: "host: 503".to_owned(),
        transient: true,
        retries: 2,
        raw: Some("busy".to_owned()),
    })
}

/// Plays the script to its end, or the judging to its own. What was asked, and how it ended.
fn play(
    policy: JudgePolicy,
    script: impl IntoIterator<Item = Result<ChatReply, model::Failure>>,
) -> (Vec<String>, Result<Judged, Failed>) {
    let mut judging = judging(policy);
    let (mut asked, mut script) = (Vec::new(), script.into_iter());
    loop {
        match judging.step() {
            Step::Ask(request) => {
                asked.push(format!("{} {} {}", request.kind, request.subject, request.attempt));
                judging.answer(script.next().unwrap_or_else(|| panic!("the script ends at {asked:?}")));
            }
            Step::Pause(time) => asked.push(format!("pause {}", time.as_secs())),
            Step::Done(judged) => return (asked, Ok(*judged)),
            Step::Failed(failed) => return (asked, Err(*failed)),
        }
    }
}

fn failure(policy: JudgePolicy, script: impl IntoIterator<Item = Result<ChatReply, model::Failure>>) -> Failed {
    play(policy, script).1.map(|judged| pyrepr::repr(&judged.eval_rec)).expect_err("a failure")
}

#[test]
fn both_policies_score_a_well_behaved_judge_alike() {
    let script = || [SUB, SUB, VAR, REL].map(says);
    let (asked, strict) = play(JudgePolicy::Strict, script());
    assert_eq!(asked, ["sub_hypotheses gold 1", "sub_hypotheses answer 1", "var P0||G0 1", "rel P0||G0 1"]);
    let strict = strict.unwrap();
    let upstream = play(JudgePolicy::Upstream, script()).1.unwrap();
    assert!(strict.eval_rec.is_identical(&upstream.eval_rec));
    assert_eq!((strict.recall_context, strict.mean_accuracy_score, strict.final_score), (1.0, 0.25, 0.25));
    assert!(strict.warnings.is_empty());
    assert_eq!(strict.calls.len(), 4);
    let PyValue::Dict(record) = &strict.eval_rec else { panic!("a record is an object") };
    assert_eq!(
        record.keys().collect::<Vec<_>>(),
        [
            "query",
            "HypoA",
            "WorkflowA",
            "HypoB",
            "WorkflowB",
            "gold_sub_hypo",
            "gen_sub_hypo",
            "gen_subh_to_gold_subh",
            "gold_subh_covered",
            "matched_gold_gen_subh_evals",
            "recall_context",
            "mean_accuracy_score",
            "final_score"
        ]
    );
}

#[test]
fn asking_again_without_an_answer_gives_the_same_request() {
    let mut judging = judging(JudgePolicy::Strict);
    let (Step::Ask(first), Step::Ask(second)) = (judging.step(), judging.step()) else { panic!("two requests") };
    assert_eq!(first, second);
    judging.answer(says("?"));
    let Step::Ask(third) = judging.step() else { panic!("a request") };
    assert_eq!((third.attempt, third.chat), (2, first.chat));
}

#[test]
fn strict_asks_again_and_then_gives_up() {
    let (asked, judged) =
        play(JudgePolicy::Strict, ["?", "[]", SUB, SUB, "{}", VAR, "{\"answer\": \"D\"}", REL].map(says));
    assert_eq!(
        asked,
        [
            "sub_hypotheses gold 1",
            "sub_hypotheses gold 2",
            "sub_hypotheses gold 3",
            "sub_hypotheses answer 1",
            "var P0||G0 1",
            "var P0||G0 2",
            "rel P0||G0 1",
            "rel P0||G0 2"
        ]
    );
    let judged = judged.unwrap();
    assert_eq!(judged.final_score, 0.25);
    assert_eq!(judged.calls[1].problem.as_deref(), Some("the reply is a list, expected an object"));
    assert_eq!(judged.calls[1].raw.as_deref(), Some("[]"));
    assert_eq!((judged.calls[2].problem.as_deref(), judged.calls[2].raw.as_deref()), (None, None));

    let failed = failure(JudgePolicy::Strict, [SUB, SUB, "{}", "{}", "{}"].map(says));
    assert_eq!(failed.failure.code(), Code::JudgeInvalidOutput);
    assert_eq!(
        failed.failure.issue().message,
        "the judge's var reply (P0||G0) is unusable after 3 of 3 tries: the key `explanation` is missing"
    );
    assert_eq!(failed.calls.len(), 5);
    let contexts = [SUB, r#"{"sub_hypo": [{"text": "t", "context": "d"}]}"#];
    let failed = failure(JudgePolicy::Strict, contexts.into_iter().chain(["no"; 5]).map(says));
    assert!(matches!(failed.failure, Failure::Unusable { kind: CallKind::Context, attempts: 5, .. }));
}

#[test]
fn only_the_last_unusable_bodies_are_kept() {
    let other = r#"{"sub_hypo": [{"text": "t", "context": "d"}]}"#;
    let script = ["1", "2", SUB, "3", "4", other, "5", "6", "7", "8", "{\"match\": 1}", "9", "10", VAR, "11", REL];
    let judged = play(JudgePolicy::Strict, script.map(says)).1.unwrap();
    let kept: Vec<&str> = judged.calls.iter().filter_map(|call| call.raw.as_deref()).collect();
    assert_eq!(kept, ["4", "5", "6", "7", "8", "9", "10", "11"]);
    assert_eq!(judged.calls.iter().filter(|call| call.problem.is_some()).count(), 11);
}

#[test]
fn strict_never_goes_on_after_a_truncated_reply_or_a_failed_request() {
    let truncated = Ok(ChatReply {
        content: Some(SUB.to_owned()),
        finish_reason: Some("length".to_owned()),
        ..ChatReply::default()
    });
    let failed = failure(JudgePolicy::Strict, [truncated]);
    assert_eq!(failed.failure.code(), Code::JudgeInvalidOutput);
    let message = failed.failure.to_string();
    assert!(message.contains("finish_reason=length") && message.contains("max_tokens"), "{message}");

    let failed = failure(JudgePolicy::Strict, [says(SUB), says(SUB), refused()]);
    assert_eq!(failed.failure.code(), Code::JudgeFailed);
    assert_eq!(failed.failure.to_string(), "the judge's var request failed: host: 503");
    assert_eq!((failed.calls[2].request_retries, failed.calls[2].raw.as_deref()), (2, Some("busy")));
    let null = || Ok(ChatReply { finish_reason: Some("stop".to_owned()), ..ChatReply::default() });
    assert!(failure(JudgePolicy::Strict, [null(), null(), null()]).failure.to_string().contains("content is null"));
}

#[test]
fn strict_keeps_counts_within_bounds_and_says_so() {
    let scored =
        |counts: &str| play(JudgePolicy::Strict, [SUB, SUB, counts, "{\"answer\": \"A\"}"].map(says)).1.unwrap();
    let judged = scored(r#"{"sizeA": 4, "sizeB": 2, "intersection": 3, "explanation": ""}"#);
    assert_eq!(judged.final_score, 2.0 * 1.0 * 0.5 / 1.5);
    assert_eq!(judged.warnings, ["P0||G0: the judge counts 3 common variables of 4 and 2: cut to 2"]);
    let issue = &judged.issues()[0];
    assert_eq!((issue.severity, &issue.code), (Severity::Warning, &Code::JudgeCountAdjusted));
    let judged = scored(r#"{"sizeA": "2", "sizeB": 2, "intersection": " 1.0", "explanation": ""}"#);
    assert_eq!((judged.final_score, judged.warnings.len()), (0.5, 2));
    let judged = scored("```json\n{\"sizeA\": 1, \"sizeB\": 1, \"intersection\": 1, \"explanation\": \"\"}\n```");
    assert_eq!((judged.final_score, judged.warnings.len()), (1.0, 0));
    for bad in ["-1", "null", "true", "[]", "NaN", "1e999", "1e300", "\"\"", "\"two\"", "\"-1\"", "\"NaN\""] {
        let counts = format!(r#"{{"sizeA": 2, "sizeB": {bad}, "intersection": 1, "explanation": ""}}"#);
        let failed = failure(JudgePolicy::Strict, [SUB, SUB, &counts, &counts, &counts].map(says));
        assert_eq!(failed.failure.code(), Code::JudgeInvalidOutput, "{bad}");
    }
}

#[test]
fn an_empty_segmentation_is_replaced_by_the_whole_hypothesis() {
    for policy in [JudgePolicy::Strict, JudgePolicy::Upstream] {
        let (asked, judged) = play(policy, ["{\"sub_hypo\": []}", "{\"sub_hypo\": []}", VAR, REL].map(says));
        assert_eq!(asked.len(), 4, "\"None\" meets \"None\" without a question");
        let record = judged.unwrap().eval_rec;
        assert_eq!(
            pyrepr::repr(record.get("gen_sub_hypo").unwrap()),
            "{'sub_hypo': [{'text': 'the answer', 'context': 'None'}], 'full_hypo': 'the answer'}"
        );
    }
    // Upstream also where it cannot read the reply.
    assert_eq!(play(JudgePolicy::Upstream, ["?", "?", VAR, REL].map(says)).1.unwrap().final_score, 0.25);
}

#[test]
fn upstream_pauses_after_failed_requests_and_scores_on() {
    let script = [says(SUB), says(SUB), refused(), says(VAR), refused(), refused(), refused()];
    let (asked, judged) = play(JudgePolicy::Upstream, script);
    assert_eq!(
        asked[2..],
        [
            "var P0||G0 1",
            "pause 2",
            "var P0||G0 2",
            "rel P0||G0 1",
            "pause 2",
            "rel P0||G0 2",
            "pause 2",
            "rel P0||G0 3",
            "pause 2"
        ]
    );
    let judged = judged.unwrap();
    assert_eq!(judged.final_score, 0.0);
    assert_eq!(judged.calls.last().unwrap().problem.as_deref(), Some("host: 503"));
}

#[test]
fn upstream_ends_with_pythons_exception() {
    let failed = failure(JudgePolicy::Upstream, [SUB, SUB, VAR, "?"].map(says));
    let Failure::Raised { kind, exception } = &failed.failure else { panic!("{:?}", failed.failure) };
    assert_eq!((*kind, exception.type_name), (CallKind::Relation, "JSONDecodeError"));
    assert_eq!(failed.failure.code(), Code::JudgeInvalidOutput);
}

/// Something a judge may say: what was asked for, nearly that, or anything.
fn reply() -> impl Strategy<Value = Result<ChatReply, model::Failure>> {
    let number = prop_oneof![
        12 => (0..6_u8).prop_map(|n| n.to_string()),
        4 => (0.0..3.0_f64).prop_map(|x| format!("{x:e}")),
        1 => any::<f64>().prop_map(|x| format!("{x:e}")),
        1 => any::<i64>().prop_map(|n| n.to_string()),
        2 => prop::sample::select(vec!["\"2\"", "null", "true", "NaN", "0.1", "0.3", "1e308", "5e-324", "9007199254740993"])
            .prop_map(str::to_owned),
    ];
    let context = prop::sample::select(vec!["\"c\"", "\"c\"", "\"d\"", "\"e\"", "\"None\"", "null", "2", "2.0"]);
    let sub = prop::collection::vec(context, 0..4).prop_map(|contexts| {
        let each: Vec<String> = contexts.iter().map(|c| format!("{{\"text\": \"t\", \"context\": {c}}}")).collect();
        format!("{{\"sub_hypo\": [{}]}}", each.join(", "))
    });
    let var = (number.clone(), number.clone(), number).prop_map(|(a, b, i)| {
        format!("{{\"sizeA\": {a}, \"sizeB\": {b}, \"intersection\": {i}, \"explanation\": \"\"}}")
    });
    let text = prop_oneof![
        4 => sub,
        4 => var,
        3 => prop::sample::select(vec!["A", "B", "C", "Very", "x"]).prop_map(|o| format!("{{\"answer\": \"{o}\"}}")),
        2 => any::<bool>().prop_map(|matched| format!("{{\"match\": {matched}}}")),
        1 => Just("{\"sub_hypo\": [{\"text\": \"t\", \"context\": NaN}]}".to_owned()),
        1 => any::<String>(),
    ];
    let fenced = (text, 0..12_u8).prop_map(|(text, how)| match how {
        0 => format!("```json\n{text}\n```"),
        1 => format!("Sure: {text}"),
        _ => text,
    });
    prop_oneof![
        40 => fenced.prop_map(|text| says(&text)),
        1 => Just(refused()),
        1 => Just(Ok(ChatReply::default())),
    ]
}

/// Replies of the right kind for each question, so that many scripts reach a score.
fn scripted(policy: JudgePolicy, pool: &[Result<ChatReply, model::Failure>]) -> Result<Judged, Failed> {
    let mut judging = judging(policy);
    let mut next = 0;
    for _ in 0..10_000 {
        match judging.step() {
            Step::Ask(request) => {
                let wanted = match request.kind {
                    CallKind::SubHypotheses => "sub_hypo",
                    CallKind::Context => "match",
                    CallKind::Variables => "sizeA",
                    CallKind::Relation => "answer",
                };
                let fits = |reply: &Result<ChatReply, model::Failure>| {
                    reply.as_ref().is_ok_and(|r| r.content.as_deref().is_some_and(|text| text.contains(wanted)))
                };
                // Every eighth reply is whatever comes, the others fit the question where the pool has one.
                let start = next;
                next += 1;
                let rotated = || (0..pool.len()).map(|n| &pool[(start + n) % pool.len()]);
                let reply = if start % 8 == 7 {
                    rotated().next()
                } else {
                    rotated().find(|r| fits(r)).or_else(|| rotated().next())
                };
                judging.answer(reply.cloned().unwrap_or_else(refused));
            }
            Step::Pause(_) => {}
            Step::Done(judged) => return Ok(*judged),
            Step::Failed(failed) => return Err(*failed),
        }
    }
    panic!("no end after 10000 steps");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_strict_score_is_within_0_and_1(pool in prop::collection::vec(reply(), 10..40)) {
        match scripted(JudgePolicy::Strict, &pool) {
            Ok(judged) => {
                for score in [judged.recall_context, judged.mean_accuracy_score, judged.final_score] {
                    prop_assert!((0.0..=1.0).contains(&score), "{}", pyrepr::repr(&judged.eval_rec));
                }
                prop_assert!(!judged.eval_rec.has_non_finite());
                // What other readers of the record see is what was computed.
                let json = judged.eval_rec_json().to_string();
                prop_assert!(!json.contains("$float"), "{}", json);
            }
            Err(failed) => {
                let raised = matches!(failed.failure, Failure::Raised { .. });
                prop_assert!(!raised, "{}", failed.failure);
            }
        }
    }

    #[test]
    fn upstream_ends_whatever_the_judge_says(pool in prop::collection::vec(reply(), 10..40)) {
        let _ = scripted(JudgePolicy::Upstream, &pool);
    }
}
