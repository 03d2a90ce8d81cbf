use argosy_shared::{
    id::{RunId, TaskId},
    issue::Phase,
    spec::ExecutionParams,
};

use super::*;
use crate::scheduler::state::{Stage, Wait};

fn policy(patterns: &[&str]) -> Policy {
    let retry_pattern_list = patterns.iter().map(ToString::to_string).collect();
    Policy::of(&ExecutionParams { retry_pattern_list, ..ExecutionParams::default() })
}

fn issue(code: Code, message: &str) -> Issue {
    Issue::new(Phase::Run, code, message)
}

#[test]
fn any_fatal_is_retried_whatever_else_there_is() {
    let issues = [issue(Code::HarnessTimeout, "slow"), issue(Code::ModelFailed, "HTTP 503")];
    assert_eq!(Patterns::of(&policy(&[])).matched(&issues).as_deref(), Some("fatal"));
    assert_eq!(Patterns::of(&policy(&["slow"])).matched(&issues).as_deref(), Some("fatal"));
}

#[test]
fn an_error_is_retried_when_a_pattern_is_found_in_message_or_code() {
    let issues = [issue(Code::ModelOutputInvalid, "neither answer nor action: Hm, 42")];
    let matched = |patterns: &[&str]| Patterns::of(&policy(patterns)).matched(&issues);
    assert_eq!(matched(&[]), None);
    assert_eq!(matched(&["^model_output_invalid$"]).as_deref(), Some("^model_output_invalid$"));
    assert_eq!(matched(&["no such", r"\d+"]).as_deref(), Some(r"\d+"), "a search, not a match of the whole");
    assert_eq!(matched(&["^42"]), None);
    assert_eq!(matched(&["(?i)HM", "Hm"]).as_deref(), Some("(?i)HM"), "the first pattern that hits is named");
}

#[test]
fn a_warning_is_never_retried() {
    let issues = [issue(Code::JudgeCountAdjusted, "counts")];
    assert_eq!(Patterns::of(&policy(&[".*"])).matched(&issues), None);
}

#[test]
fn a_pattern_that_never_ends_is_no_match() {
    let issues = [issue(Code::HarnessTimeout, &"a".repeat(3000))];
    assert_eq!(Patterns::of(&policy(&[r"^(a|a)*\1?(?=b)$"])).matched(&issues), None);
}

#[test]
fn delays_are_whole_milliseconds_within_the_bound_and_differ_between_attempts() {
    let policy = policy(&[]);
    let key = |task: &str| AttemptKey { run: RunId("r".to_owned()), task: TaskId::from(task), attempt: 1 };
    let first = policy.retry_delay(&key("a"), 1, 1);
    assert!(first >= Duration::from_millis(2500) && first <= Duration::from_secs(5), "{first:?}");
    assert_eq!(first.subsec_nanos() % 1_000_000, 0);
    assert_eq!(first, policy.retry_delay(&key("a"), 1, 1));
    assert_ne!(first, policy.retry_delay(&key("b"), 1, 1));
    // A judge's second failure is of the same execution and still not at the same distance.
    assert!(policy.retry_delay(&key("a"), 1, 2) >= Duration::from_secs(5));
    assert!(policy.retry_delay(&key("a"), 9, 9) >= Duration::from_secs(30));
}

#[test]
fn giving_back_is_free_a_few_times_and_then_slows_down() {
    let mut attempt = Attempt::new(Stage::Ready { wait: Wait::Over });
    let mut delays = Vec::new();
    for releases in 0..5 {
        attempt.releases = releases;
        delays.push(policy(&[]).release_delay(&attempt).as_secs());
    }
    assert_eq!(delays, [0, 0, 0, 5, 10]);
}

#[test]
fn what_is_journalled_of_issues_is_bounded_and_keeps_the_worst() {
    let mut issues = vec![issue(Code::JudgeCountAdjusted, "w"); 50];
    issues.push(issue(Code::Other("c".repeat(9000)), &"m".repeat(9000)));
    issues.push(issue(Code::ModelFailed, "HTTP 500"));
    let kept = bounded(&issues);
    assert_eq!(kept.len(), MAX_ISSUES);
    assert_eq!(kept[MAX_ISSUES - 1], issues[51]);
    let long = &kept[MAX_ISSUES - 2];
    assert!(long.message.len() < 2100 && long.code.as_str().len() < 2100, "{long:?}");
    assert_eq!(bounded_text("é".repeat(2000).as_str()), "é".repeat(2000), "characters, not bytes");
}
