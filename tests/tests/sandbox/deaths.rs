//! Code that takes the process down, and code that only seems to.

use argosy_worker::python::Error;

use crate::support::{Place, until, until_gone};

fn died(error: Error) -> String {
    match error {
        Error::Died(why) => why,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_death_names_its_cause() {
    for (code, cause) in [
        ("import ctypes\nctypes.string_at(0)", "killed by SIGSEGV (signal 11)"),
        ("import os\nos._exit(3)", "exit code 3"),
        ("import os\nos._exit(0)", "exit code 0"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "killed by SIGKILL (signal 9)"),
        ("import os\nos.abort()", "killed by SIGABRT (signal 6)"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)", "killed by SIGTERM (signal 15)"),
        ("import os\nos.execvp('sh', ['sh', '-c', 'exit 5'])", "exit code 5"),
    ] {
        let mut place = Place::new().await;
        place.run("x = 1").await;
        let why = died(place.failure(code).await);
        assert!(why.starts_with(cause), "{code}: {why}");
        let why = died(place.failure("x").await);
        assert!(why.contains("its session is over"), "{why}");
    }
}

#[tokio::test]
async fn the_last_words_are_told() {
    let mut place = Place::new().await;
    let why = died(place.failure("import os\nos.write(2, b'no\\xffth\\ning' * 500 + b'the end')\nos._exit(1)").await);
    assert!(why.starts_with("exit code 1 while its code ran; its stderr ends with: "), "{why}");
    assert!(why.ends_with("the end") && why.contains("no\u{fffd}th ing") && why.chars().count() < 400, "{why}");
}

#[tokio::test]
async fn a_death_between_two_executions() {
    let mut place = Place::new().await;
    let pid = place.python.pid();
    let code = "import os, threading\nthreading.Timer(0.05, os._exit, args=(9,)).start()\n'later'";
    assert_eq!(place.run(code).await, "later");
    until_gone(&[pid]).await;
    let why = died(place.failure("1").await);
    assert!(why.starts_with("exit code 9"), "{why}");
}

#[tokio::test]
async fn a_death_is_seen_though_a_child_keeps_the_connection() {
    let mut place = Place::new().await;
    let code = "import os, time\nif not os.fork(): time.sleep(1000)\nos._exit(4)";
    let why = died(place.failure(code).await);
    assert!(why.starts_with("exit code 4"), "{why}");
}

#[tokio::test]
async fn want_of_memory_strikes_python_first() {
    let mut place = Place::new().await;
    assert_eq!(place.run("open('/proc/self/oom_score_adj').read()").await.trim(), "800");
}

#[tokio::test]
async fn what_only_seems_to_be_the_end() {
    let mut place = Place::new().await;
    for (code, observation) in [
        ("import sys\nsys.exit()", "SystemExit: "),
        ("exit(2)", "SystemExit: 2"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt: "),
        ("raise SystemExit('bye')", "SystemExit: bye"),
        ("import signal\nsignal.raise_signal(signal.SIGINT)", "KeyboardInterrupt: "),
        ("def f(n): return f.__call__(n)", ""),
        ("def deep(n, f): return f(n + 1, f)\ndeep(0, deep)", "RecursionError: maximum recursion depth exceeded"),
        ("'x' * 10**15", "MemoryError: "),
        ("10**5000", "ValueError: Exceeds the limit (4300"),
        ("class B:\n    def __str__(self): raise KeyError('no')\nB()", "KeyError: 'no'"),
        ("class B:\n    def __format__(self, spec): return 3\nB()", "TypeError: __format__ must return a str, not int"),
        ("class B:\n    def __repr__(self): raise SystemExit(7)\nB()", "SystemExit: 7"),
        ("class E(Exception):\n    def __str__(self): raise ValueError('in words')\nraise E", "ValueError: in words"),
        ("class E(Exception):\n    def __str__(self): raise self\nraise E", "E: "),
        ("class B(BaseException):\n    def __str__(self): raise self\nraise B", "B: "),
        ("'(' * 200 + ')' * 200\n", "("),
        ("still = 'here'\nstill", "here"),
    ] {
        // Python before 3.10.7 has no limit on digits.
        let observed = place.run(code).await;
        if code == "10**5000" && observed.len() == 5001 {
            continue;
        }
        assert!(observed.starts_with(observation), "{code}: {observed}");
    }
}

#[tokio::test]
async fn nesting_too_deep_to_parse() {
    let mut place = Place::new().await;
    let nested = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    match place.python.execute(&nested, crate::support::PATIENCE).await {
        Ok(execution) => {
            let kind = execution.observation.split(':').next().unwrap_or_default().to_owned();
            assert!(["SyntaxError", "MemoryError", "RecursionError"].contains(&kind.as_str()), "{kind}");
        }
        Err(error) => assert!(died(error).starts_with("killed by SIGSEGV")),
    }
}

#[tokio::test]
async fn a_crash_leaves_no_core_file() {
    let mut place = Place::new().await;
    place.failure("import ctypes\nctypes.string_at(0)").await;
    let left: Vec<_> = std::fs::read_dir(place.sandbox.workspace()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_new_process_starts_in_the_same_sandbox() {
    let mut place = Place::new().await;
    place.run("x = 1\nopen('kept', 'w').write('file')").await;
    place.failure("import os\nos._exit(1)").await;
    place.python = crate::support::start(&place.sandbox, 0).await;
    assert_eq!(place.run("open('kept').read()").await, "file");
    assert_eq!(place.run("x").await, "NameError: name 'x' is not defined");
}

#[tokio::test]
async fn background_children_that_the_server_leaves_are_killed_with_it() {
    let mut place = Place::new().await;
    let children = place.pids("import subprocess\nprint(subprocess.Popen(['sleep', '1000']).pid)").await;
    place.failure("import os\nos._exit(1)").await;
    until("the child is gone", || !crate::support::is_alive(children[0])).await;
}
