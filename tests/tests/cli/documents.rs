//! Every example command of the documents this project implements runs, with `agentcompass` replaced by `argosy` and
//! the environment by one that is here.

use std::{fs, path::Path, process::Command};

use argosy_tests::{
    binary, places,
    run_files::RunFiles,
    server::Server,
    stage::{Ended, Stage, finish},
};
use serde_json::json;

/// The commands in a document: from `agentcompass run` to the first line that does not go on.
fn examples(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if !line.starts_with("agentcompass run") {
            continue;
        }
        let mut command = line.to_owned();
        while command.ends_with('\\') || command.matches('\'').count() % 2 == 1 {
            command.push('\n');
            command.push_str(lines.next().expect("the command goes on"));
        }
        found.push(command);
    }
    found
}

/// All examples of the documents beside the project.
fn all() -> Vec<(String, String)> {
    let folder = places::project().parent().map(|parent| parent.join("shared/reference"));
    let mut found = Vec::new();
    for entry in folder.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().extension().is_some_and(|ending| ending == "md") {
            let text = fs::read_to_string(entry.path()).expect("a document");
            found.extend(examples(&text).into_iter().map(|command| (name.clone(), command)));
        }
    }
    found
}

/// Runs an example in a shell, as a reader would.
fn run(stage: &Stage, server: &Server, example: &str, dataset: &Path, more: &str) -> Ended {
    let script = example
        .replacen("agentcompass", &binary::argosy().display().to_string(), 1)
        .replace("--env docker", "--env host_process")
        .replacen("\"judge_model\"", "\"isolate_network\": false, \"judge_model\"", 1);
    assert!(script.contains("host_process") && script.contains("isolate_network"), "{script}");
    let mut command: Command = stage.argosy();
    let environment: Vec<_> =
        command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
    command = Command::new("sh");
    command.env_clear().envs(environment).current_dir(stage.path("here"));
    command.env("MODEL_NAME", "m").env("JUDGE_MODEL_NAME", "j").env("MODEL_API_KEY", "a key");
    command.env("MODEL_BASE_URL", server.base_url()).env("ARGOSY_DATASET", dataset);
    finish(command.arg("-c").arg(format!("{script} {more}")))
}

#[test]
fn examples_are_found_whole() {
    let text = "Run:\n\n```bash\nagentcompass run \\\n  a \\\n  --x '{\n    \"b\": \"'\"$C\"'\"\n  }' \\\n  --last\n```\nmore\nagentcompass run b\n";
    let found = examples(text);
    assert_eq!(found.len(), 2);
    assert!(found[0].ends_with("--last") && found[0].lines().count() == 6, "{}", found[0]);
}

#[test]
fn every_example_runs_on_the_demo() {
    let examples = all();
    if examples.is_empty() {
        places::skipped("examples of the documents", "no documents beside the project");
        return;
    }
    assert!(examples.len() >= 4, "{examples:?}");
    for (document, example) in examples {
        let stage = Stage::new();
        let server = Server::with_key(&stage.script(), "a key");
        let ours = example
            .replace("real_test__nls_ses__0__0", "real_test__ferry_service__0__0")
            .replace("\"sociology\"", "\"transport\"");
        let more = format!(
            "--prompt-pack '{}' --allow-unpinned --results-dir '{}'",
            stage.demo.prompt_pack.display(),
            stage.results().display()
        );
        let ended = run(&stage, &server, &ours, &stage.demo.dataset, &more);
        assert_eq!(ended.code, Some(0), "{document}:\n{example}\n{}", ended.stderr);
        let run = RunFiles::newest(&stage.results());
        let tasks = run.single_results().len();
        let wanted = match (ours.contains("sample_ids"), ours.contains("category")) {
            (true, _) => 1,
            (_, true) => 2,
            _ => 16,
        };
        assert_eq!(tasks, wanted, "{document}:\n{example}");
        assert!(ended.stdout.contains("overall"), "{}", ended.stdout);
    }
}

#[test]
fn every_example_runs_on_the_real_dataset() {
    let (Some(checkout), examples) = (places::upstream_checkout(), all()) else {
        places::skipped("examples on the real dataset", "set DISCOVERYBENCH_ROOT to a checkout");
        return;
    };
    for (document, example) in examples {
        let stage = Stage::new();
        let server = Server::with_key(&json!({"latency": {"fixed": 0}}), "a key");
        // Those of many tasks are only listed, unless there is time for everything.
        let whole = example.contains("sample_ids") || std::env::var_os("ARGOSY_TEST_FULL").is_some();
        let more = format!("--results-dir '{}' {}", stage.results().display(), if whole { "" } else { "--dry-run" });
        let ended = run(&stage, &server, &example, &checkout, &more);
        assert_eq!(ended.code, Some(0), "{document}:\n{example}\n{}", ended.stderr);
        let wanted = if example.contains("sample_ids") { "real_test__nls_ses__0__0" } else { "tasks: " };
        if whole {
            assert!(ended.stdout.contains("overall"), "{}", ended.stdout);
        } else {
            assert!(ended.stdout.contains(wanted), "{document}:\n{example}\n{}", ended.stdout);
        }
    }
}
