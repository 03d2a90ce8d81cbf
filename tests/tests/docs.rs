//! Documentation that follows from code. `ARGOSY_WRITE_DOCS=1 cargo test -p argosy-tests --test docs` writes it anew.

use std::{fmt::Write as _, fs};

use argosy_shared::issue::Code;
use argosy_tests::places;

/// `docs/errors.md`.
fn errors() -> String {
    let mut text = "\
# Issues

An issue is what went wrong with one attempt of one task. It stands in the attempt's `result.json` as
`{severity, phase, code, message}`, and the progress display shows it when it happens.

- **fatal**: infrastructure or a service failed. The task is invalidated, and the whole run gives reference values
  only; it is never counted as a zero. `execution.max_retries` (`--max-retries`) repeats it.
- **error**: the agent did not finish normally. The task is scored, as no answer or by the answer it left. Repeated
  only where `execution.retry_pattern_list` matches the code or the message.
- **warning**: noted; changes nothing.

A failed judging repeats the judging alone, unless `execution.judge_retry` is `attempt`.

| code | severity | retried | scored | what to do |
|---|---|---|---|---|
"
    .to_owned();
    let yes = |yes: bool| if yes { "yes" } else { "no" };
    for code in Code::ALL {
        let rule = code.rule();
        let severity = serde_json::to_value(rule.severity).expect("a name");
        let severity = severity.as_str().expect("a name");
        writeln!(text, "| `{code}` | {severity} | {} | {} | {} |", yes(rule.retried), yes(rule.scored), rule.hint)
            .expect("a string takes everything");
    }
    text.push_str("\nThis table is generated from `shared::issue::Code::rule`.\n");
    text
}

#[test]
fn the_table_of_issues_is_what_the_code_does() {
    let path = places::project().join("docs/errors.md");
    if std::env::var_os("ARGOSY_WRITE_DOCS").is_some() {
        fs::create_dir_all(path.parent().expect("docs")).expect("a folder");
        fs::write(&path, errors()).expect("a file");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    let hint = "ARGOSY_WRITE_DOCS=1 cargo test -p argosy-tests --test docs";
    assert!(found == errors(), "{} is not what `Code::rule` says; to write it anew: {hint}", path.display());
}
