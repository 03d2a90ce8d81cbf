//! One scoring as a state machine: [`Judging::step`] says what to do, [`Judging::answer`] takes what came of it.

use std::{sync::Arc, time::Duration};

use super::{
    CallKind, CallRecord, Failed, Failure, Inputs, JudgeRequest, Judged, Settings, Step,
    matching::Matching,
    prompt,
    record::{self, PairScore},
    score::{Totals, VariableScore},
    strict, upstream,
};
use crate::{
    model::{self, ChatReply},
    prompts::JudgePrompts,
    pyjson::{self, PyValue},
    spec::JudgePolicy,
};

/// Bodies of unusable replies that are kept, the last ones.
const MAX_RAW_REPLIES: usize = 8;

/// One answer being scored.
///
/// ```text
/// loop { match judging.step() { Ask(request) => judging.answer(send(request)), Pause(time) => wait(time), end => break } }
/// ```
#[derive(Debug)]
pub struct Judging {
    prompts: Arc<JudgePrompts>,
    inputs: Inputs,
    settings: Settings,
    state: State,
    /// Tries of the current question so far.
    tries: u32,
    /// To be waited for before the next step.
    pause: Option<Duration>,
    calls: Vec<CallRecord>,
    warnings: Vec<String>,
}

/// What is being asked, with all that the earlier answers came to.
#[derive(Debug)]
enum State {
    Gold,
    Answer {
        gold: Segmented,
    },
    /// The judge has to compare these contexts.
    Context {
        stage: Stage,
        texts: prompt::PairTexts,
    },
    /// Pair number `scores.len()`.
    Variables {
        stage: Stage,
    },
    Relation {
        stage: Stage,
        answer: String,
        score: VariableScore,
    },
    Done(Box<Judged>),
    Failed(Box<Failure>),
}

/// A segmented hypothesis: the object that is recorded, and its parts.
#[derive(Debug)]
struct Segmented {
    object: PyValue,
    elements: Vec<PyValue>,
}

/// Everything after both hypotheses were segmented.
#[derive(Debug)]
struct Stage {
    gold: PyValue,
    answer: PyValue,
    matching: Matching,
    scores: Vec<PairScore>,
}

/// What a usable reply says.
#[derive(Debug)]
pub(super) enum Heard {
    SubHypotheses {
        object: PyValue,
        elements: Vec<PyValue>,
    },
    /// The value of `match`.
    Context(PyValue),
    Variables {
        answer: String,
        score: VariableScore,
    },
    Relation {
        answer: String,
        score: f64,
    },
}

/// What a policy makes of an outcome.
#[derive(Debug)]
pub(super) struct Verdict {
    next: Next,
    problem: Option<String>,
    pause: Option<Duration>,
    warnings: Vec<String>,
}

#[derive(Debug)]
enum Next {
    Heard(Heard),
    Again,
    Failed(Failure),
}

impl Verdict {
    fn new(next: Next, problem: Option<String>) -> Self {
        Self { next, problem, pause: None, warnings: Vec::new() }
    }

    /// The reply is used.
    pub(super) fn heard(heard: Heard) -> Self {
        Self::new(Next::Heard(heard), None)
    }

    /// The same question is sent again.
    pub(super) fn again(problem: String) -> Self {
        Self::new(Next::Again, Some(problem))
    }

    /// There is no score.
    pub(super) fn failed(problem: String, failure: Failure) -> Self {
        Self::new(Next::Failed(failure), Some(problem))
    }

    /// After a pause.
    pub(super) fn after(self, pause: Duration) -> Self {
        Self { pause: Some(pause), ..self }
    }

    /// Although something went wrong.
    pub(super) fn but(self, problem: String) -> Self {
        Self { problem: Some(problem), ..self }
    }

    /// With warnings.
    pub(super) fn warning(self, warnings: Vec<String>) -> Self {
        Self { warnings, ..self }
    }
}

impl Judging {
    /// A scoring at its start.
    #[must_use]
    pub fn new(prompts: Arc<JudgePrompts>, inputs: Inputs, settings: Settings) -> Self {
        Self {
            prompts,
            inputs,
            settings,
            state: State::Gold,
            tries: 0,
            pause: None,
            calls: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// What has to happen next. Asking again without an answer in between gives the same request.
    pub fn step(&mut self) -> Step {
        if let Some(pause) = self.pause.take() {
            return Step::Pause(pause);
        }
        match &self.state {
            State::Done(judged) => {
                let (warnings, calls) = (self.warnings.clone(), self.calls.clone());
                Step::Done(Box::new(Judged { warnings, calls, ..(**judged).clone() }))
            }
            State::Failed(failure) => {
                Step::Failed(Box::new(Failed { failure: (**failure).clone(), calls: self.calls.clone() }))
            }
            _ => Step::Ask(Box::new(self.request())),
        }
    }

    /// What became of the request that [`Judging::step`] gave. After the end it is ignored.
    pub fn answer(&mut self, outcome: Result<ChatReply, model::Failure>) {
        let Some((kind, subject)) = self.question() else { return };
        self.tries += 1;
        let mut call = CallRecord::new(kind, &subject, self.tries, &outcome);
        let verdict = self.hear(kind, &subject, &outcome);
        if let Some(problem) = verdict.problem {
            call.blame(problem, &outcome);
        }
        self.calls.push(call);
        let kept = self.calls.iter_mut().rev().filter(|call| call.raw.is_some());
        kept.skip(MAX_RAW_REPLIES).for_each(|call| call.raw = None);
        self.pause = verdict.pause;
        self.warnings.extend(verdict.warnings.into_iter().map(|warning| format!("{subject}: {warning}")));
        match verdict.next {
            Next::Again => {}
            Next::Failed(failure) => self.state = State::Failed(Box::new(failure)),
            Next::Heard(heard) => {
                self.tries = 0;
                // The placeholder is overwritten at once; it only frees the state's values to be moved on.
                let state = std::mem::replace(&mut self.state, State::Gold);
                self.state = self.follow(kind, state, heard);
            }
        }
    }

    /// The kind and subject of the current question; `None` at the end.
    fn question(&self) -> Option<(CallKind, String)> {
        match &self.state {
            State::Gold => Some((CallKind::SubHypotheses, "gold".to_owned())),
            State::Answer { .. } => Some((CallKind::SubHypotheses, "answer".to_owned())),
            State::Context { stage, .. } => Some((CallKind::Context, stage.matching.current_key())),
            State::Variables { stage } => Some((CallKind::Variables, stage.pair_key())),
            State::Relation { stage, .. } => Some((CallKind::Relation, stage.pair_key())),
            State::Done(_) | State::Failed(_) => None,
        }
    }

    fn request(&self) -> JudgeRequest {
        let (prompts, inputs) = (&*self.prompts, &self.inputs);
        let (kind, subject) = self.question().unwrap_or((CallKind::SubHypotheses, String::new()));
        let user = match &self.state {
            State::Context { texts, .. } => prompt::context(prompts, texts),
            State::Variables { .. } => prompt::dimension(&prompts.variables, inputs),
            State::Relation { .. } => prompt::dimension(&prompts.relation, inputs),
            State::Answer { .. } => prompt::sub_hypotheses(prompts, inputs, &inputs.answer, &inputs.answer_workflow),
            State::Gold | State::Done(_) | State::Failed(_) => {
                prompt::sub_hypotheses(prompts, inputs, &inputs.gold, &inputs.gold_workflow)
            }
        };
        let chat = prompt::request(prompts, &self.settings, kind, user);
        JudgeRequest { kind, subject, attempt: self.tries + 1, chat }
    }

    fn hear(&self, kind: CallKind, subject: &str, outcome: &Result<ChatReply, model::Failure>) -> Verdict {
        let hypothesis = if matches!(self.state, State::Gold) { &self.inputs.gold } else { &self.inputs.answer };
        let fallback = || {
            let whole = |(key, value): (&String, _)| {
                let value = if key == "text" { hypothesis.as_str().into() } else { pyjson::from_json(value) };
                (key.clone(), value)
            };
            PyValue::dict(self.prompts.fallback.iter().map(whole))
        };
        let upstream_tries = prompt::call(&self.prompts, kind).attempts;
        match self.settings.policy {
            JudgePolicy::Upstream => upstream::hear(kind, self.tries, upstream_tries, hypothesis, fallback, outcome),
            JudgePolicy::Strict => {
                let tries = strict::tries(kind, upstream_tries);
                strict::hear(kind, subject, self.tries, tries, hypothesis, fallback, outcome)
            }
        }
    }

    /// The state after a usable reply.
    fn follow(&self, kind: CallKind, state: State, heard: Heard) -> State {
        let raised = |exception| State::Failed(Box::new(Failure::Raised { kind, exception }));
        match (state, heard) {
            (State::Gold, Heard::SubHypotheses { object, elements }) => {
                State::Answer { gold: Segmented { object, elements } }
            }
            (State::Answer { gold }, Heard::SubHypotheses { object, elements }) => {
                let matching = Matching::new(gold.elements, elements);
                let stage = Stage { gold: gold.object, answer: object, matching, scores: Vec::new() };
                self.match_on(kind, stage)
            }
            (State::Context { mut stage, .. }, Heard::Context(matched)) => match stage.matching.answer(matched) {
                Ok(()) => self.match_on(kind, stage),
                Err(exception) => raised(exception),
            },
            (State::Variables { stage }, Heard::Variables { answer, score }) => {
                State::Relation { stage, answer, score }
            }
            (
                State::Relation { mut stage, answer, score },
                Heard::Relation { answer: relation_answer, score: relation },
            ) => {
                let variables = score;
                stage.scores.push(PairScore { variables, variables_answer: answer, relation, relation_answer });
                self.score_on(stage)
            }
            // A policy answers the question that was asked.
            (state, _) => state,
        }
    }

    fn match_on(&self, kind: CallKind, mut stage: Stage) -> State {
        match stage.matching.advance() {
            Ok(Some(texts)) => State::Context { stage, texts },
            Ok(None) => self.score_on(stage),
            Err(exception) => State::Failed(Box::new(Failure::Raised { kind, exception })),
        }
    }

    fn score_on(&self, stage: Stage) -> State {
        if stage.scores.len() < stage.matching.pairs.len() {
            return State::Variables { stage };
        }
        let Stage { gold, answer, matching, scores } = stage;
        let (n_gold, n_answer) = matching.sizes();
        let totals = Totals::of(scores.iter().map(PairScore::accuracy), matching.covered.len(), n_gold, n_answer);
        State::Done(Box::new(Judged {
            eval_rec: record::eval_rec(&self.prompts, &self.inputs, gold, answer, &matching, &scores, &totals),
            recall_context: totals.recall_context,
            mean_accuracy_score: totals.mean_accuracy_score,
            final_score: totals.final_score,
            warnings: Vec::new(),
            calls: Vec::new(),
        }))
    }
}

impl Stage {
    /// The pair that is being scored.
    fn pair_key(&self) -> String {
        self.matching.pairs.get(self.scores.len()).map(super::matching::Pair::key).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
