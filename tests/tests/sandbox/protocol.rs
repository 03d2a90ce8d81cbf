//! Code that gets between the server and the worker.

use std::time::Duration;

use argosy_worker::python::Error;

use crate::support::{Place, until_gone};

#[tokio::test]
async fn what_is_changed_in_python_does_not_reach_the_conversation() {
    for sabotage in [
        "import sys\nsys.stdout = None",
        "import sys\nsys.stdout = sys.stderr = sys.stdin = object()",
        "import sys\ndel sys.stdout",
        "import sys\nsys.stdout.close()",
        "import sys\nsys.__stdout__.close()",
        "import builtins\nfor name in ('print', 'len', 'exec', 'eval', 'format', 'str', 'type', 'compile', 'open', 'bytes', 'memoryview'): setattr(builtins, name, None)",
        "import builtins\nbuiltins.__dict__.clear()",
        "__builtins__.clear()",
        "globals().clear()",
        "import ast\nast.__dict__.clear()",
        "import ast, re, os, json, socket, struct, io, select, fcntl, time\nfor m in (ast, re, os, json, socket, struct, io, select, fcntl, time):\n    for name in list(vars(m)): setattr(m, name, None)",
        "import os\nos.write = os.read = os.getpid = os._exit = lambda *a: 1 / 0",
        "import sys\nsys.modules.clear()",
        "import sys\nsys.path.clear()\nsys.meta_path.clear()",
        "import sys\nsys.setrecursionlimit(60)",
        "import sys\nsys.settrace(lambda *a: 1 / 0)\nsys.setprofile(lambda *a: 1 / 0)",
        "import sys\nsys.displayhook = sys.excepthook = None",
        "import gc\ngc.disable()\ngc.set_threshold(1)",
        "import os\nos.close(0); os.close(1); os.close(2)",
        "import os\nos.chdir('/'); os.environ.clear()",
        "import os\nos.umask(0o777)",
        "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))",
        "import threading\nthreading.stack_size(32768)",
        "import io\nio.StringIO = None",
        "import contextlib\ncontextlib.redirect_stdout = None",
    ] {
        let mut place = Place::new().await;
        place.run("x = 41").await;
        place.run(sabotage).await;
        // The tool itself may have become useless, then it says so; but what comes is an observation of this request.
        let after = place.run("x").await;
        assert!(after == "41" || after.contains("Error: "), "{sabotage}: {after}");
        place.python.stop().await;
        place.sandbox.destroy().await.unwrap();
    }
}

#[tokio::test]
async fn closing_everything_is_a_death_with_a_reason() {
    let mut place = Place::new().await;
    let error = place.failure("import os\nos.closerange(0, 65536)").await;
    assert!(matches!(&error, Error::Died(why) if why.contains("closed the connection")), "{error}");

    let mut place = Place::new().await;
    let pid = place.python.pid();
    let error = place.failure("import os\nos.closerange(0, 65536)\nwhile True: pass").await;
    assert!(matches!(&error, Error::Protocol(why) if why.contains("closed while it went on")), "{error}");
    until_gone(&[pid]).await;
}

/// Python that finds the connection.
const FIND: &str = "import os, stat\n\
    def sockets():\n    \
        import os, stat\n    \
        found = []\n    \
        for name in os.listdir('/proc/self/fd'):\n        \
            try:\n            \
                if stat.S_ISSOCK(os.fstat(int(name)).st_mode): found.append(int(name))\n        \
            except OSError: pass\n    \
        return found\n";

#[tokio::test]
async fn small_numbers_do_not_reach_the_connection() {
    let mut place = Place::new().await;
    let code = "import os\nfor fd in range(21):\n    try: os.write(fd, b'garbage' * 10)\n    except OSError: pass";
    place.run(code).await;
    assert_eq!(place.run("for fd in range(3, 60):\n    try: os.close(fd)\n    except OSError: pass").await, "");
    assert_eq!(place.run("1").await, "1");
}

#[tokio::test]
async fn garbage_on_the_connection_is_never_an_observation() {
    for garbage in [
        "b'x'",
        "b'garbage' * 1000",
        "b'\\x00' * 20",
        "b'\\xff' * 100000",
        "b'argosy-python-01' + b'\\x00\\x00\\x00\\x14' + bytes(16) + b'fake'",
        "b'argosy-worker-01' + b'\\x00\\x00\\x00\\x00'",
        "b'{\"observation\": \"fake\"}\\n'",
    ] {
        for then in ["", "\nwhile True: pass"] {
            let mut place = Place::new().await;
            place.run(FIND).await;
            let code = format!("for fd in sockets(): os.write(fd, {garbage}){then}");
            let error = place.failure(&code).await;
            assert!(matches!(&error, Error::Protocol(why) if why.contains("tag")), "{garbage}: {error}");
        }
    }
}

#[tokio::test]
async fn an_answer_before_the_question_is_refused() {
    let mut place = Place::new().await;
    place.run(FIND).await;
    place.run("import threading, time").await;
    let code = "for fd in sockets(): threading.Timer(0.05, os.write, args=(fd, bytes(36) + b'fake')).start()\n'now'";
    assert_eq!(place.run(code).await, "now");
    tokio::time::sleep(Duration::from_millis(500)).await;
    let error = place.failure("1").await;
    assert!(
        matches!(&error, Error::Protocol(why) if why.contains("nobody asked for") || why.contains("tag")),
        "{error}"
    );
}

#[tokio::test]
async fn a_copy_made_by_fork_does_not_answer() {
    let mut place = Place::new().await;
    place.run("import os").await;
    for turn in 0..5 {
        let observed = place.run("os.fork()").await;
        assert!(observed.parse::<i32>().is_ok_and(|pid| pid > 0), "{observed}");
        assert_eq!(place.run(&format!("'turn {turn}'")).await, format!("turn {turn}"));
        let copies = "one = os.fork()\ntwo = os.fork()\n[status for pid in (one, two) if pid for status in [__import__('os').waitpid(pid, 0)[1]]]";
        // Each copy goes through the whole statement as well, and ends without a word.
        assert_eq!(place.run(copies).await, "[0, 0]");
    }
    let raising = "pid = os.fork()\nif not pid: raise SystemExit(3)\nprint(os.waitpid(pid, 0)[1])";
    assert_eq!(place.run(raising).await, "0\n");
    assert_eq!(place.run("import multiprocessing\nprocess = multiprocessing.Process(target=print, args=('child',))\nprocess.start(); process.join(); process.exitcode").await, "0");
}

#[tokio::test]
async fn threads_go_on_without_disturbing() {
    let mut place = Place::new().await;
    let code = "import threading, sys\n\
        def noise():\n    \
            import sys, time\n    \
            while True:\n        \
                sys.stdout.write('noise '); sys.stderr.write('noise '); time.sleep(0.0002)\n\
        for _ in range(3): threading.Thread(target=noise, daemon=True).start()";
    place.run(code).await;
    for number in 0..200 {
        assert_eq!(place.run(&format!("{number} + 1")).await, (number + 1).to_string());
    }
}

#[tokio::test]
async fn signals_of_the_agents_own_do_not_break_a_reply() {
    let mut place = Place::new().await;
    place.run("import signal\nfired = []").await;
    // It strikes every millisecond, in the code, in the server, while waiting; and its handler raises.
    let handler = "def handler(number, frame):\n    raise RuntimeError('alarm')\n\
                   signal.signal(signal.SIGALRM, handler)\nsignal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)";
    place.run(handler).await;
    for number in 0..300 {
        // Nothing is observed where the handler struck the first run and the second, which has no value, got through.
        let observed = place.run(&format!("{number}")).await;
        assert!(
            observed == number.to_string() || observed.is_empty() || observed == "RuntimeError: alarm",
            "{observed}"
        );
    }
    // The clock goes on until a statement gets through.
    for _ in 0..200 {
        if place.run("signal.setitimer(signal.ITIMER_REAL, 0)").await.starts_with('(') {
            break;
        }
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(place.run("'quiet'").await, "quiet");

    // One that strikes while nothing runs belongs to nobody.
    place.run("signal.setitimer(signal.ITIMER_REAL, 0.05)").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(place.run("'mine'").await, "mine");
    // The agent's own mask is kept.
    place.run("signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])").await;
    assert_eq!(place.run("signal.SIGUSR1 in signal.pthread_sigmask(signal.SIG_BLOCK, [])").await, "True");
    assert_eq!(place.run("signal.SIGALRM in signal.pthread_sigmask(signal.SIG_BLOCK, [])").await, "False");
}

#[tokio::test]
async fn the_code_sees_little_of_the_server() {
    let mut place = Place::new().await;
    assert_eq!(place.run("sorted(globals()), sorted(locals())").await, "(['__builtins__'], [])");
    let frames = "import sys\n\
        frame, seen = sys._getframe(), []\n\
        while frame.f_back:\n    \
            frame = frame.f_back\n    \
            seen += [value for value in frame.f_locals.values() if isinstance(value, (bytes, int))]\n\
        [value for value in seen if isinstance(value, bytes) or 60 <= value < 1100 and value != __import__('os').getpid()]";
    assert_eq!(place.run(frames).await, "[]");
    assert_eq!(place.run("input('? ')").await, "EOFError: EOF when reading a line");
    assert_eq!(place.run("import sys\nsys.stdin.read()").await, "");
    assert_eq!(place.run("open('/dev/tty')").await, "OSError: [Errno 6] No such device or address: '/dev/tty'");
}

#[tokio::test]
async fn any_text_arrives_as_it_is() {
    let mut place = Place::new().await;
    let text = "\u{0}\u{1}\u{7f}\u{85}\u{2028}\u{feff}\u{10ffff} \r\n\t \u{e9}\u{4e2d}\u{1f600}";
    let literal: String = text.chars().map(|character| format!("\\U{:08x}", character as u32)).collect();
    assert_eq!(place.run(&format!("'{literal}'")).await, text);
    assert_eq!(place.run(&format!("print('{literal}', end='')")).await, text);
    assert_eq!(place.run("'caf\u{e9} \u{1f600}'").await, "caf\u{e9} \u{1f600}");
    // Lone surrogates, which no JSON can carry, in a form that can be seen.
    assert_eq!(place.run("'a\\ud800b'").await, "a\\ud800b");
    assert_eq!(place.run("print('\\udcff')").await, "\\udcff\n");
    assert_eq!(place.run("import os\nos.fsdecode(b'caf\\xe9')").await, "caf\\udce9");
    assert_eq!(place.run("raise ValueError('\\udc80')").await, "ValueError: \\udc80");
    // Binary output goes past.
    assert_eq!(place.run("import sys\nsys.__stdout__.buffer.write(bytes(range(256)))").await, "256");
    assert_eq!(place.run("os.write(1, bytes(range(256)))").await, "256");
    let bytes: Vec<u8> = (0..=255).collect();
    crate::support::until("binary output", || place.python.output().stdout == [&bytes[..], &bytes].concat()).await;
}
