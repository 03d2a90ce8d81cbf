//! A scripted judge.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use argosy_shared::{
    hms::{CallKind, Failure, Inputs, JudgeRequest, Judged, Judging, Settings, Step},
    issue::{Code, Severity},
    model::{self, ChatReply},
    prompts::JudgePrompts,
    pyjson::PyValue,
    spec::JudgePolicy,
};

use crate::rows;

/// A row with what it needs to be played.
pub(super) struct Case<'a> {
    pub(super) row: &'a PyValue,
    pub(super) prompts: Arc<JudgePrompts>,
    pub(super) datasets: String,
}

/// What happened.
pub(super) struct Played {
    pub(super) requests: Vec<JudgeRequest>,
    pub(super) pauses: usize,
    /// Replies nobody asked for.
    pub(super) unused: usize,
    pub(super) end: End,
}

pub(super) enum End {
    Done(Box<Judged>),
    Failed(Failure),
}

/// Which reply comes next.
pub(super) enum Script<'a> {
    /// One after the other, whatever is asked.
    InOrder(VecDeque<&'a PyValue>),
    /// Each question has its own replies; the last one is repeated, as by a judge that does not change its mind.
    ByQuestion(HashMap<Question, VecDeque<&'a PyValue>>),
}

/// Kind and subject.
type Question = (&'static str, String);

impl<'a> Script<'a> {
    pub(super) fn in_order(replies: &'a [PyValue]) -> Self {
        Self::InOrder(replies.iter().collect())
    }

    /// The replies by the questions they answered when they were played in order.
    pub(super) fn by_question(requests: &[JudgeRequest], replies: &'a [PyValue]) -> Self {
        let mut questions: HashMap<_, VecDeque<_>> = HashMap::new();
        for (request, reply) in requests.iter().zip(replies) {
            questions.entry((request.kind.as_str(), request.subject.clone())).or_default().push_back(reply);
        }
        Self::ByQuestion(questions)
    }

    fn next(&mut self, kind: CallKind, subject: &str) -> Option<&'a PyValue> {
        match self {
            Self::InOrder(replies) => replies.pop_front(),
            Self::ByQuestion(questions) => {
                let replies = questions.get_mut(&(kind.as_str(), subject.to_owned()))?;
                if replies.len() > 1 { replies.pop_front() } else { replies.front().copied() }
            }
        }
    }
}

impl Case<'_> {
    pub(super) fn play(&self, policy: JudgePolicy, script: &mut Script<'_>) -> Result<Played, String> {
        let text = |key: &str| rows::text(self.row, key).to_owned();
        let inputs = Inputs {
            query: text("query"),
            gold: text("gold"),
            gold_workflow: text("gold_workflow"),
            answer: text("pred"),
            answer_workflow: text("pred_workflow"),
            datasets: self.datasets.clone(),
        };
        let settings = Settings { model: "judge-model".to_owned(), policy, params: serde_json::Map::new() };
        let mut judging = Judging::new(self.prompts.clone(), inputs, settings);
        let (mut requests, mut pauses) = (Vec::new(), 0);
        let end = loop {
            match judging.step() {
                Step::Ask(request) => {
                    let Some(reply) = script.next(request.kind, &request.subject) else {
                        return Err(format!(
                            "{policy:?} asks {} about {} beyond the script",
                            request.kind, request.subject
                        ));
                    };
                    requests.push(*request);
                    judging.answer(outcome(reply)?);
                }
                Step::Pause(time) => {
                    if time.as_secs_f64() != 2.0 {
                        return Err(format!("a pause of {time:?}"));
                    }
                    pauses += 1;
                }
                Step::Done(judged) => break End::Done(judged),
                Step::Failed(failed) => break End::Failed(failed.failure),
            }
        };
        let unused = match script {
            Script::InOrder(replies) => replies.len(),
            Script::ByQuestion(_) => 0,
        };
        Ok(Played { requests, pauses, unused, end })
    }
}

fn outcome(reply: &PyValue) -> Result<Result<ChatReply, model::Failure>, String> {
    let reply_of = |content| ChatReply { content, finish_reason: Some("stop".to_owned()), ..ChatReply::default() };
    match reply {
        PyValue::Str(content) => Ok(Ok(reply_of(Some(content.clone())))),
        PyValue::Dict(members) => match (members.get("raise"), members.get("content")) {
            (Some(PyValue::Str(message)), _) => Ok(Err(model::Failure {
                code: Code::ModelFailed,
                severity: Severity::Fatal,
                status: message.parse().ok(),
                message: message.clone(),
                transient: true,
                retries: 0,
                raw: None,
            })),
            (_, Some(PyValue::None)) => Ok(Ok(reply_of(None))),
            _ => Err(format!("an unknown reply {reply:?}")),
        },
        _ => Err(format!("an unknown reply {reply:?}")),
    }
}
