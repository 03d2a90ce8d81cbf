//! The client against the stand-in, and the stand-in against what real prompts look like.

use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

use argosy_coordinator::{
    http::mock_model::Running,
    stand_in::{Kind, Script, StandIn},
};
use argosy_shared::{
    issue::{Code, Severity},
    model::{ChatRequest, Message, Model as _, Role, secret::Secret},
};
use argosy_tests::{places, vectors};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{KEY, agent_request, client, content, request};

fn anywhere() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

async fn playing(script: &str) -> Running {
    StandIn::start(anywhere(), Script::parse(script).unwrap()).await.unwrap()
}

/// An agent's first prompt, in words of our own.
fn agent_prompt(question: &str, file: &str) -> String {
    format!("One tool: python_repl_ast.\nQuestion: files are ['/w/{file}']. {question}\n")
}

fn judge_request(text: &str) -> ChatRequest {
    let mut asked =
        request(text, json!({"temperature": 0, "max_tokens": 250, "response_format": {"type": "json_object"}}));
    asked.messages.insert(0, Message { role: Role::System, content: "Judge.".to_owned() });
    asked
}

/// One request over a connection of its own; the whole response as text.
async fn raw(running: &Running, method: &str, path: &str, body: &str) -> String {
    let mut stream = tokio::net::TcpStream::connect(running.addr()).await.unwrap();
    let head =
        format!("{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    response
}

#[tokio::test]
async fn agent_and_judge_are_played_and_counted() {
    let running = playing("{}").await;
    let client = client(&running.base_url(), 0, 10.0);
    assert_eq!(client.models().await.unwrap(), ["stand-in"]);
    let first = client.complete(&agent_request(&agent_prompt("Why?", "a.csv"))).await.unwrap();
    assert!(
        first.content.as_deref().is_some_and(|text| text.contains("open(path, 'rb')") && text.contains("'/w/a.csv'"))
    );
    assert_eq!(first.finish_reason.as_deref(), Some("stop"));
    assert!(first.usage.prompt > Some(0) && first.usage.completion > Some(0) && first.usage.cached == Some(0));
    let counts = content(client.complete(&judge_request("\"HypoA\": a,\n\"HypoB\": b,\n{\"sizeA\": ..}")).await);
    assert!(serde_json::from_str::<Value>(&counts).unwrap()["intersection"].is_u64(), "{counts}");

    let stats = running.stats();
    assert_eq!((stats.calls, stats.replies, stats.in_flight, stats.peak_in_flight), (2, 2, 0, 1));
    assert_eq!(stats.by_kind, BTreeMap::from([(Kind::Agent, 1), (Kind::Variables, 1)]));
    let shown = raw(&running, "GET", "/stats", "").await;
    assert_eq!(serde_json::from_str::<Value>(shown.split("\r\n\r\n").nth(1).unwrap()).unwrap(), json!(stats));
    assert!(raw(&running, "GET", "/v2", "").await.starts_with("HTTP/1.1 404 "));
    assert_eq!(running.stop().await.calls, 2);
}

#[tokio::test]
async fn the_fixture_plays_a_task_from_the_first_failure_to_the_score() {
    let path = places::project().join("tests/fixtures/stand-in-script.jsonl");
    let script = std::fs::read_to_string(path).unwrap();
    let running = playing(&script).await;
    let client = client(&running.base_url(), 3, 10.0);
    assert_eq!(client.models().await.unwrap(), ["agent-model", "judge-model"]);
    let prompt = agent_prompt("How does depth relate to yield?", "wells.csv");
    let first = client.complete(&agent_request(&prompt)).await.unwrap();
    assert!(first.retries >= 1 && first.content.as_deref().unwrap().starts_with("Action: python_repl_ast"));
    let second = format!("{prompt}{}\nObservation: 1\nThought: ", first.content.unwrap());
    let answer = content(client.complete(&agent_request(&second)).await);
    assert_eq!(answer, "Final Answer: [wells] Among all wells, yield rises with depth.");

    let pred =
        judge_request("\"hypothesis\": \"[wells] Among all wells, yield rises with depth.\",\n {\"sub_hypo\": ..}");
    let gold = judge_request("\"hypothesis\": \"Deeper wells yield more\",\n {\"sub_hypo\": ..}");
    let segments = content(client.complete(&pred).await);
    assert!(segments.contains("all wells"), "{segments}");
    assert!(content(client.complete(&gold).await).contains("\"context\":\"wells\""));
    let context = judge_request("Deeper wells yield more against [wells]: {\"match\": ..}");
    assert_eq!(content(client.complete(&context).await), "this is not JSON");
    assert_eq!(content(client.complete(&context).await), "{\"match\":true}");
    let counts = judge_request("\"query\": How does depth relate to yield?,\n {\"sizeA\": ..}");
    assert_eq!(client.complete(&counts).await.unwrap().retries, 1);

    let lost = client.complete(&agent_request(&agent_prompt("Do hens lay less in winter?", "hens.csv"))).await.unwrap();
    assert_eq!((lost.content, lost.reasoning.as_deref()), (None, Some("I think for ever")));
    let stats = running.stats();
    assert!(stats.by_task["wells"][&Kind::Agent] >= 3 && stats.by_task["hens"][&Kind::Agent] >= 1, "{stats:?}");
    assert_eq!((stats.errors.get(&503), stats.errors.get(&500)), (Some(&1), Some(&1)));
}

#[tokio::test]
async fn replies_do_not_depend_on_concurrency() {
    let script = r#"{"seed": 11, "latency": {"uniform": [0, 3]},
        "faults": [{"status": 500, "probability": 0.2}, {"malformed": "cut", "probability": 0.1}]}"#;
    let requests: Vec<ChatRequest> = (0..60)
        .map(|i| match i % 2 {
            0 => agent_request(&agent_prompt(&format!("Why {i}?"), "a.csv")),
            _ => judge_request(&format!("\"HypoA\": a{i},\n\"HypoB\": b,\n{{\"sizeA\": ..}}")),
        })
        .collect();
    let mut outcomes = Vec::new();
    for at_once in [1, 16] {
        let running = playing(script).await;
        let client = client(&running.base_url(), 8, 10.0);
        let mut replies = Vec::new();
        for group in requests.chunks(at_once) {
            let all = group.iter().map(|request| client.complete(request));
            for reply in futures::future::join_all(all).await {
                let reply = reply.unwrap_or_else(|failure| panic!("{failure}"));
                replies.push((reply.content, reply.retries));
            }
        }
        let stats = running.stop().await;
        assert!(stats.errors[&500] > 5 && stats.malformed > 0, "{stats:?}");
        outcomes.push((replies, stats.errors, stats.by_kind, stats.peak_in_flight > 1));
    }
    let (one, many) = (&outcomes[0], &outcomes[1]);
    assert!(one.0 == many.0, "replies or retries differ");
    assert_eq!((&one.1, &one.2), (&many.1, &many.2));
    assert_eq!((one.3, many.3), (false, true));
}

#[tokio::test]
async fn every_way_not_to_answer_is_met_as_the_table_says() {
    let fatal = Some((Code::ModelFailed, Severity::Fatal));
    for (how, expected) in [
        ("truncated_json", fatal.clone()),
        ("html", fatal.clone()),
        ("not_json", fatal.clone()),
        ("empty_body", fatal.clone()),
        ("empty_choices", fatal.clone()),
        ("no_choices", fatal.clone()),
        ("error_200", fatal.clone()),
        ("cut", fatal),
        ("null_content", None),
        ("empty_content", None),
        ("reasoning_only", None),
    ] {
        let running = playing(&format!(r#"{{"faults": [{{"malformed": "{how}"}}]}}"#)).await;
        let answer = client(&running.base_url(), 0, 10.0).complete(&agent_request("python_repl_ast")).await;
        match expected {
            Some(expected) => {
                let failure = answer.expect_err(how);
                assert_eq!((failure.code, failure.severity), expected, "{how}");
            }
            None => assert_eq!(answer.expect(how).content.unwrap_or_default(), "", "{how}"),
        }
        assert_eq!(running.stop().await.malformed, 1, "{how}");
    }
}

#[tokio::test]
async fn a_model_that_refuses_everything_is_still_used() {
    let running = playing(r#"{"refuse": ["stop", "temperature", "max_tokens", "response_format", "n"]}"#).await;
    let client = client(&running.base_url(), 0, 10.0);
    let agent = client.complete(&agent_request(&agent_prompt("Why?", "a.csv"))).await.unwrap();
    assert_eq!(agent.changed_params, ["dropped temperature", "dropped n", "dropped stop"]);
    let judge = client.complete(&judge_request("{\"match\": ..}")).await.unwrap();
    let expected = ["dropped temperature", "renamed max_tokens to max_completion_tokens", "dropped response_format"];
    assert_eq!(judge.changed_params, expected);
    // From now on nothing is wasted.
    let calls = running.stats().calls;
    client.complete(&judge_request("another {\"match\": ..}")).await.unwrap();
    assert_eq!(running.stats().calls, calls + 1);
}

#[tokio::test]
async fn a_prompt_beyond_the_context_and_a_wrong_key_are_told_apart() {
    let running = playing(r#"{"context_tokens": 10}"#).await;
    let long = client(&running.base_url(), 3, 10.0).complete(&agent_request(&"word ".repeat(100))).await.unwrap_err();
    assert_eq!((long.code, long.severity), (Code::ModelContextExceeded, Severity::Error));

    let locked = StandIn::start_with_key(anywhere(), Script::default(), Secret::new("another key")).await.unwrap();
    let failure = client(&locked.base_url(), 3, 10.0).complete(&agent_request("x")).await.unwrap_err();
    assert_eq!((failure.status, failure.transient), (Some(401), false));
    let open = StandIn::start_with_key(anywhere(), Script::default(), Secret::new(KEY)).await.unwrap();
    assert_eq!(content(client(&open.base_url(), 0, 10.0).complete(&agent_request("x")).await), "ok");
}

#[tokio::test]
async fn a_rate_limit_delays_and_loses_nothing() {
    let running = playing(r#"{"rate_limit": {"requests_per_minute": 6000, "burst": 4}}"#).await;
    let client = client(&running.base_url(), 8, 30.0);
    let requests: Vec<ChatRequest> = (0..24).map(|i| agent_request(&format!("hello {i}"))).collect();
    for reply in futures::future::join_all(requests.iter().map(|request| client.complete(request))).await {
        assert_eq!(content(reply), "ok");
    }
    let stats = running.stop().await;
    assert_eq!(stats.replies, 24);
    assert!(stats.rate_limited > 0 && stats.rate_limited == stats.errors[&429], "{stats:?}");
}

#[tokio::test]
async fn a_stream_is_served_to_those_who_ask_for_it() {
    let running = playing("{}").await;
    let body = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "hi"}]}).to_string();
    let response = raw(&running, "POST", "/v1/chat/completions", &body).await;
    assert!(response.starts_with("HTTP/1.1 200 ") && response.contains("text/event-stream"), "{response}");
    assert!(response.contains("\"content\":\"ok\"") && response.contains("data: [DONE]"), "{response}");
}

#[tokio::test]
async fn stopping_lets_a_request_in_flight_finish() {
    let running = playing(r#"{"latency": {"fixed": 300}}"#).await;
    let client = client(&running.base_url(), 0, 10.0);
    let asked = tokio::spawn(async move { client.complete(&agent_request("hello")).await });
    while running.stats().in_flight == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let stats = running.stop().await;
    assert_eq!(content(asked.await.unwrap()), "ok");
    assert_eq!((stats.calls, stats.in_flight), (1, 0));
}

/// Runs what the built-in agent says in one Python, turn by turn, as the agent loop would.
#[test]
fn the_built_in_agents_code_runs_on_bare_python() {
    let Some(python) = places::python("3").or_else(|| places::python("3.11")) else {
        return places::skipped("the_built_in_agents_code_runs_on_bare_python", "no python3");
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.csv"), "name,depth,yield\nx,1,2\ny,2,4\nz,oops,5\n").unwrap();
    std::fs::write(folder.path().join("b.dta"), [0u8, 255, 10, 0, 65]).unwrap();
    for (file, columns) in [("a.csv", "'depth'"), ("b.dta", "[]")] {
        let stand_in = StandIn::new(Script::default(), None);
        let path = folder.path().join(file);
        let mut prompt = format!("Thought: t\npython_repl_ast\nPaths: ['{}']. Why?\n", path.display());
        // The tool's own semantics matter little here: one namespace for all turns, the last line's value shown.
        let mut program = String::from("import sys\n");
        let mut answer = String::new();
        for _ in 0..6 {
            let body =
                json!({"model": "m", "messages": [{"role": "user", "content": prompt}], "stop": ["\nObservation:"]});
            let plan = stand_in.answer(None, body.to_string().as_bytes(), Duration::ZERO, 0);
            let argosy_coordinator::stand_in::Body::Whole(_, text) = plan.body else { panic!("no body") };
            let text = serde_json::from_str::<Value>(&text).unwrap()["choices"][0]["message"]["content"].clone();
            answer = text.as_str().unwrap().to_owned();
            let Some((_, code)) = answer.split_once("Action Input: ") else { break };
            program.push_str(code);
            program.push('\n');
            let output = std::process::Command::new(&python).arg("-c").arg(&program).output().unwrap();
            let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
            let failed = String::from_utf8_lossy(&output.stderr).into_owned();
            // A file without numbers has nothing to correlate: the one error that is meant to happen.
            let expected = output.status.success() || (file == "b.dta" && failed.contains("IndexError"));
            assert!(expected, "{file}: {failed}\n{program}");
            let seen = stdout.lines().last().unwrap_or("IndexError: list index out of range");
            prompt.push_str(&format!("{answer}\nObservation: {seen}\nThought: "));
            if file == "b.dta" && !output.status.success() {
                program = program.rsplit_once("first = header").unwrap().0.to_owned();
            }
        }
        assert!(answer.contains("Final Answer:"), "{answer}");
        assert!(prompt.contains(columns), "{prompt}");
    }
}

/// The kinds that real prompts are taken for, and the turns that are counted in them.
#[test]
fn real_prompts_are_recognised() {
    let Some(folder) = places::conformance() else {
        return places::skipped("real_prompts_are_recognised", "no vectors");
    };
    let stand_in = StandIn::new(Script::default(), None);
    let kind_of = |body: &Value| stand_in.answer(None, body.to_string().as_bytes(), Duration::ZERO, 0);
    let prompts = vectors::read(&folder, "prompts_full.jsonl");
    assert!(!prompts.is_empty());
    for row in &prompts {
        let body = json!({"model": "m", "messages": [{"role": "user", "content": row["prompt"]}], "stop": ["\nObservation:"], "n": 1});
        let plan = kind_of(&body);
        assert_eq!(plan.kind, Kind::Agent, "{}", row["id"]);
        let argosy_coordinator::stand_in::Body::Whole(_, text) = plan.body else { panic!("no body") };
        // coder looks once, react at least twice: so the reply tells whether the turn was counted right.
        let finishes = text.contains("Final Answer:");
        let turns = row["scratchpad_turns"].as_u64().unwrap();
        match (row["agent"].as_str().unwrap(), turns) {
            (_, 0) | ("react", 1) => assert!(!finishes && text.contains("Action Input"), "{} {text}", row["id"]),
            ("coder", _) => assert!(finishes, "{} {text}", row["id"]),
            _ => {}
        }
        if turns == 0 {
            assert!(text.contains("path = '/workspace/"), "{} {text}", row["id"]);
        }
    }
    let mut seen = BTreeMap::<Kind, u32>::new();
    for row in vectors::read(&folder, "judge.jsonl") {
        for asked in row["requests"].as_array().into_iter().flatten() {
            let Some(messages) = asked.get("messages").filter(|messages| messages.is_array()) else { continue };
            let kind = kind_of(&json!({"model": "m", "messages": messages})).kind;
            let expected = match asked["kind"].as_str() {
                Some("sub_hypotheses") => Kind::SubHypotheses,
                Some("context") => Kind::Context,
                Some("var") => Kind::Variables,
                Some("rel") => Kind::Relation,
                other => panic!("{} {other:?}", row["id"]),
            };
            assert_eq!(kind, expected, "{}", row["id"]);
            *seen.entry(kind).or_default() += 1;
        }
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
}
