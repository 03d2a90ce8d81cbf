//! The repository checks itself: who may use which library, how large files grow, what must not be left behind.

use std::{
    fs,
    path::{Path, PathBuf},
};

use argosy_shared::{issue::Code, run_dir::State};
use argosy_tests::places;

/// A library and the only places that may name it.
const LIBRARIES: [(&str, &[&str]); 8] = [
    ("reqwest::", &["shared/src/model"]),
    ("axum::", &["coordinator/src/http"]),
    ("sqlx::", &["coordinator/src/journal"]),
    ("tonic::", &["coordinator/src/grpc", "worker/src/session", "shared/src/wire", "shared/src/tls", "proto/"]),
    ("bollard::", &["worker/src/sandbox/docker"]),
    ("clap::", &["coordinator/src/cli"]),
    ("anyhow::", &["coordinator/src/cli"]),
    ("argosy_worker::", &["coordinator/src/cli", "worker/", "tests/"]),
];

/// Modules that decide and compute only.
const PURE: [&str; 7] = [
    "coordinator/src/scheduler",
    "coordinator/src/report/metrics",
    "coordinator/src/report/stats",
    "shared/src/hms",
    "shared/src/prompts",
    "shared/src/run_dir",
    "worker/src/agent/parse",
];

/// What a pure module must not name.
const IMPURE: [&str; 7] =
    ["tokio::", "std::fs", "std::net", "std::process::", "Instant::now", "Timestamp::now", "SystemTime"];

/// Files above 600 lines, with the reason why each may be.
const LARGE: [(&str, &str); 0] = [];

#[test]
fn libraries_stay_in_their_places() {
    let mut wrong = Vec::new();
    for (path, text) in rust_sources() {
        let in_tests = path.starts_with("tests/");
        for (library, places) in LIBRARIES {
            if in_tests || places.iter().any(|place| path.starts_with(place)) {
                continue;
            }
            wrong.extend(
                code_lines(&text).filter(|(_, line)| names(line, library)).map(|(number, line)| {
                    format!("{path}:{number}: {library} belongs into {places:?}: {}", line.trim())
                }),
            );
        }
        if path.starts_with("worker/") {
            wrong.extend(
                code_lines(&text)
                    .filter(|(_, line)| line.contains("argosy_coordinator"))
                    .map(|(number, _)| format!("{path}:{number}: the worker does not know the coordinator")),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pure_modules_do_no_io() {
    let mut wrong = Vec::new();
    for (path, text) in rust_sources() {
        if !PURE.iter().any(|place| path.starts_with(place)) {
            continue;
        }
        // Unit tests at the end of a file may do what they like.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in code_lines(code) {
            wrong.extend(
                IMPURE
                    .iter()
                    .filter(|name| line.contains(**name))
                    .map(|name| format!("{path}:{number}: {name} in a pure module")),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_shared_time_reads_a_clock() {
    let mut wrong = Vec::new();
    for (path, text) in rust_sources() {
        if path == "shared/src/time.rs" || path.starts_with("tests/") || path.contains("/tests/") {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in code_lines(code) {
            for clock in ["Instant::now(", "Timestamp::now(", "SystemTime::now(", "Zoned::now("] {
                if line.contains(clock) {
                    wrong.push(format!("{path}:{number}: {clock}) outside shared::time"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_file_grows_without_a_reason() {
    let large: Vec<String> = rust_sources()
        .into_iter()
        .filter(|(path, text)| text.lines().count() > 600 && !LARGE.iter().any(|(known, _)| known == path))
        .map(|(path, text)| format!("{path}: {} lines", text.lines().count()))
        .collect();
    assert!(large.is_empty(), "over 600 lines, does each decide *and* act?\n{}", large.join("\n"));
}

#[test]
fn nothing_unfinished_and_no_path_of_a_machine_is_left() {
    // Put together here so that this file does not find itself.
    let forbidden = [
        ["to", "do!("].concat(),
        ["unimple", "mented!("].concat(),
        ["#[ig", "nore]"].concat(),
        ["/ro", "ot/"].concat(),
        ["/wo", "rk/"].concat(),
        ["/ho", "me/"].concat(),
    ];
    let mut wrong = Vec::new();
    for (path, text) in sources(&["rs", "py", "toml", "md", "sh", "yaml", "yml", "proto"]) {
        for (number, line) in text.lines().enumerate() {
            for word in &forbidden {
                if line.contains(word.as_str()) {
                    wrong.push(format!("{path}:{}: {word}", number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn upstream_prompts_are_not_in_the_source() {
    // Fragments that occur in upstream's prompts and nowhere else. The tool's description is the one interface
    // constant that is allowed.
    let fragments = [
        ["You are a discovery", " agent who can"].concat(),
        ["not talk", "ative"].concat(),
        ["Boundary conditions that", " limit"].concat(),
        ["write down a scientific", " hypothesis in"].concat(),
        ["sandhill", " cranes"].concat(),
        ["You cannot run the", " code more than once"].concat(),
    ];
    let mut wrong = Vec::new();
    for (path, text) in sources(&["rs", "py", "json", "jsonl", "toml", "md", "sh", "yaml"]) {
        for fragment in &fragments {
            if text.contains(fragment.as_str()) {
                wrong.push(format!("{path}: {fragment}"));
            }
        }
    }
    assert!(wrong.is_empty(), "upstream's text is read from the user's checkout, never kept:\n{}", wrong.join("\n"));
}

#[test]
fn the_page_on_agentcompass_names_every_file_and_every_code() {
    let page = fs::read_to_string(places::project().join("docs/compat.md")).expect("the page");
    let mut names: Vec<String> = Code::ALL.iter().map(|code| code.as_str().to_owned()).collect();
    names.extend(State::ALL.iter().map(|state| state.as_str().to_owned()));
    // The constants themselves, so that a new one cannot be forgotten here.
    let source = fs::read_to_string(places::project().join("shared/src/run_dir/names.rs")).expect("the names");
    let constants = source.lines().filter(|line| line.starts_with("pub const ") && line.contains(": &str"));
    let constants: Vec<String> = constants.filter_map(|line| Some(line.split('"').nth(1)?.to_owned())).collect();
    assert!(constants.len() >= 14, "{constants:?}");
    names.extend(constants);
    let missing: Vec<&String> = names
        .iter()
        .filter(|name| {
            ![format!("`{name}`"), format!("`{name}/"), format!("/{name}"), format!("`{name}*`")]
                .iter()
                .any(|text| page.contains(text))
        })
        .collect();
    assert!(missing.is_empty(), "docs/compat.md lacks {missing:?}");
}

#[test]
fn tests_named_on_the_page_on_agentcompass_exist() {
    let page = fs::read_to_string(places::project().join("docs/compat.md")).expect("the page");
    let (_, table) = page.split_once("## Weak points of AgentCompass").expect("the table of weak points");
    let sources = rust_sources();
    let mut rows = 0;
    for row in table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| #")) {
        rows += 1;
        let shown = row.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        for name in shown.split('`').skip(1).step_by(2) {
            let found = if name.contains('/') {
                let (folder, files) = name.rsplit_once('/').expect("a path");
                let files = files.trim_start_matches('{').trim_end_matches(".rs").trim_end_matches('}');
                files.split(',').all(|file| places::project().join(format!("{folder}/{file}.rs")).is_file())
            } else {
                sources.iter().any(|(_, text)| text.contains(&format!("fn {name}(")))
            };
            assert!(found, "{name} is not there: {row}");
        }
    }
    assert_eq!(rows, 20, "one row per weak point");
}

#[test]
fn every_crate_takes_the_workspace_lints() {
    for member in ["shared", "worker", "coordinator", "tests"] {
        let path = places::project().join(member).join("Cargo.toml");
        let text = fs::read_to_string(&path).expect("a manifest");
        assert!(text.contains("[lints]\nworkspace = true"), "{} lacks the workspace lints", path.display());
    }
}

/// Whether a line of code names a library: `use library::…` or a path that starts with it.
fn names(line: &str, library: &str) -> bool {
    line.match_indices(library).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|character| character.is_alphanumeric() || character == '_' || character == ':')
    })
}

fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn rust_sources() -> Vec<(String, String)> {
    sources(&["rs"])
}

/// All files of the project with one of the endings, by path from the root.
fn sources(endings: &[&str]) -> Vec<(String, String)> {
    let root = places::project();
    let mut files = Vec::new();
    for folder in ["proto", "shared", "coordinator", "worker", "deploy", "tests", ".ci", "docs"] {
        walk(&root.join(folder), &mut files);
    }
    for entry in fs::read_dir(&root).expect("the project's root").flatten() {
        if entry.path().is_file() {
            files.push(entry.path());
        }
    }
    let mut found = Vec::new();
    for path in files {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if !endings.contains(&ending) {
            continue;
        }
        if let Ok(text) = fs::read_to_string(&path) {
            let name = path.strip_prefix(&root).expect("below the root").to_string_lossy().into_owned();
            found.push((name, text));
        }
    }
    assert!(!found.is_empty());
    found
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, files);
        } else {
            files.push(path);
        }
    }
}
