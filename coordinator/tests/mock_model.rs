//! `argosy mock-model` as a process: what it prints, and how it ends.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Command, Output, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

fn argosy(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_argosy"));
    command.arg("mock-model").args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn refused(arguments: &[&str]) -> String {
    let Output { status, stderr, .. } = argosy(arguments).output().unwrap();
    assert_eq!(status.code(), Some(2), "{arguments:?}");
    String::from_utf8(stderr).unwrap()
}

#[test]
fn it_prints_its_url_and_ends_in_good_order_on_either_signal() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut child = argosy(&["--listen", "127.0.0.1:0"]).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let port = url.trim().strip_prefix("http://127.0.0.1:").and_then(|rest| rest.strip_suffix("/v1"));
        assert!(port.is_some_and(|port| port.parse::<u16>().is_ok_and(|port| port > 0)), "{url}");
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        let mut talk = String::new();
        child.stderr.take().unwrap().read_to_string(&mut talk).unwrap();
        assert!(talk.contains("argosy run discoverybench discovery_agent"), "{talk}");
        assert!(talk.contains("0 calls") && talk.contains("errors: none"), "{talk}");
    }
}

#[test]
fn bad_input_is_refused_with_the_reason() {
    assert!(refused(&["--error-rate", "200=0.5"]).contains("400 to 599"));
    assert!(refused(&["--error-rate", "500=1.5"]).contains("0 to 1"));
    assert!(refused(&["--latency", "fast"]).contains("lognormal:MEDIAN,P95"));
    assert!(refused(&["--requests-per-minute", "0"]).contains("positive"));
    assert!(refused(&["--script", "/no/such/file"]).contains("/no/such/file"));
    let unset = refused(&["--api-key-env", "ARGOSY_TEST_UNSET_VARIABLE"]);
    assert!(unset.contains("ARGOSY_TEST_UNSET_VARIABLE") && unset.contains("hint:"), "{unset}");

    let script = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(script.path(), r#"{"faults": [{"probability": 0.5}]}"#).unwrap();
    let message = refused(&["--script", script.path().to_str().unwrap()]);
    assert!(message.contains("faults[0]") && message.contains("hint:"), "{message}");
}

#[test]
fn a_port_in_use_is_an_error_that_names_it() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let output = argosy(&["--listen", &address]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains(&address));
}

#[test]
fn the_long_help_describes_the_script() {
    let output = argosy(&["--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    for word in ["judge_match", "fail_first", "rate_limit", "truncated_json", "--error-rate", "127.0.0.1:8999"] {
        assert!(help.contains(word), "{word}");
    }
}
