//! The loop. One turn is one model call and what its reply asks for.

use argosy_shared::{
    model::ChatReply,
    prompts::agent::render_prompt,
    trajectory::{Action, StepMetric, StepRecord},
};

use super::{
    Run,
    ending::Ending,
    log::{Log, Reply, milliseconds},
    parse::{Parsed, parse},
    replay::Replay,
    request,
    tool::Tool,
};

/// Runs turns until one ends the loop. At the limit the last turn's code has still been executed, as upstream does.
pub(super) async fn run(run: &Run<'_>, tool: &mut Tool<'_>, log: &mut Log<'_>) -> Ending {
    let template = &run.assignment.template;
    let limit = run.assignment.harness.max_iterations.unwrap_or(template.max_iterations);
    let mut replay = Replay::new(&run.assignment.replay);

    for _ in 0..limit {
        let recorded = replay.next();
        let reply = match &recorded {
            Some(record) => {
                log.replayed();
                replayed(record)
            }
            None => match ask(run, log).await {
                Ok(reply) => reply,
                Err(ending) => return ending,
            },
        };
        log.changed(&reply.metric.changed_params);
        match parse(&reply.text) {
            Parsed::Finish(answer) => {
                log.open(reply, None);
                log.close();
                return Ending::answered(answer);
            }
            Parsed::Neither => {
                let ending =
                    Ending::unparseable(&reply.text, reply.reasoning.as_deref(), reply.metric.stop_reason.as_deref());
                log.open(reply, None);
                log.close();
                return ending;
            }
            Parsed::Action { tool: name, input } => {
                let executed = tool.will_execute(&name);
                log.open(reply, Some(Action { tool: name.clone(), input: input.clone(), executed }));
                match tool.call(&name, &input).await {
                    Ok(observed) => {
                        if let Some(record) = &recorded {
                            replay.compare(record.observation.as_deref(), &observed.text);
                        }
                        log.observe(observed);
                    }
                    Err(error) => return Ending::python(&error),
                }
            }
        }
    }
    Ending::max_iterations(limit)
}

/// Asks the model for the next reply.
async fn ask(run: &Run<'_>, log: &mut Log<'_>) -> Result<Reply, Ending> {
    let template = &run.assignment.template;
    let system_prompt = &run.assignment.input.system_prompt;
    let prompt = render_prompt(template, system_prompt, run.input, &log.scratchpad());
    let request = request::build(&run.assignment.model, &template.stop, prompt);
    let started_at = run.clock.wall();
    let started = run.clock.monotonic();
    let answer = run.model.complete(&request).await;
    log.asked(run.clock.monotonic().saturating_sub(started));
    let answer = answer.map_err(|failure| {
        log.unusable(failure.raw.as_deref().unwrap_or_default());
        Ending::model(&failure)
    })?;

    let content = answer.content.as_deref().unwrap_or_default();
    if content.trim().is_empty() {
        log.unusable(&answer.raw);
    }
    let settled = request::settle(content, &template.stop, &request, &answer.changed_params);
    if settled.stop_ignored {
        log.stop_ignored();
    }
    let text = settled.text.to_owned();
    let metric = metric(&answer);
    Ok(Reply { text, reasoning: answer.reasoning, metric, started_at })
}

fn metric(answer: &ChatReply) -> StepMetric {
    StepMetric {
        prompt_tokens: answer.usage.prompt,
        completion_tokens: answer.usage.completion,
        cached_tokens: answer.usage.cached,
        reasoning_tokens: answer.usage.reasoning,
        llm_infer_ms: milliseconds(answer.elapsed),
        stop_reason: answer.finish_reason.clone(),
        request_retries: answer.retries,
        changed_params: answer.changed_params.clone(),
        ..StepMetric::default()
    }
}

/// The reply of a recorded turn, with what it cost then. What Python did with it is measured anew.
fn replayed(record: &StepRecord) -> Reply {
    Reply {
        text: record.reply.clone(),
        reasoning: record.reasoning.clone(),
        metric: StepMetric { env_action_ms: None, observation_bytes_cut: 0, ..record.metric.clone() },
        started_at: record.started_at,
    }
}
