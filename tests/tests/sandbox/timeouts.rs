//! Code that does not come to an end.

use std::time::Duration;

use argosy_worker::python::Error;

use crate::support::{Place, is_alive, of_session, until_gone};

const SHORT: Duration = Duration::from_millis(300);

#[tokio::test]
async fn nothing_outlasts_its_time() {
    for endless in [
        "while True: pass",
        "import time\ntime.sleep(1e9)",
        // In C, without ever letting go of the interpreter.
        "sum(range(10**12))",
        "import re\nre.match(r'(a+)+$', 'a' * 64 + 'b')",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "import signal\nfor s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)\nwhile True: pass",
        "import threading\nthreading.Event().wait()",
        "while True: print('x' * 1000)",
    ] {
        let mut place = Place::new().await;
        let pid = place.python.pid();
        assert!(is_alive(pid));
        let error = place.python.execute(endless, SHORT).await.unwrap_err();
        assert!(matches!(error, Error::Timeout(bound) if bound == SHORT), "{endless}: {error}");
        until_gone(&[pid]).await;

        // The session is over, and says why.
        let error = place.failure("1").await;
        assert!(matches!(&error, Error::Died(why) if why.contains("took too long")), "{error}");
    }
}

#[tokio::test]
async fn a_timeout_takes_the_whole_family_along() {
    let mut place = Place::new().await;
    let session = place.python.pid();
    let family = place
        .pids(
            "import os, subprocess, sys, time\n\
             child = subprocess.Popen(['sleep', '1000']).pid\n\
             grandchild = int(subprocess.check_output(['sh', '-c', 'sleep 1000 >/dev/null & echo $!']))\n\
             group = subprocess.Popen(['sleep', '1000'], process_group=0).pid if sys.version_info >= (3, 11) else child\n\
             away = subprocess.Popen(['sleep', '1000'], start_new_session=True).pid\n\
             bare = subprocess.Popen(['sleep', '1000'], env={}).pid\n\
             fork = os.fork()\n\
             if not fork: time.sleep(1000)\n\
             print(child, grandchild, group, away, bare, fork)",
        )
        .await;
    assert!(family.iter().all(|pid| is_alive(*pid)), "{family:?}");
    place.python.execute("while True: pass", SHORT).await.unwrap_err();
    until_gone(&family).await;
    assert_eq!(of_session(session), [0; 0]);
}

#[tokio::test]
async fn a_daemon_is_found_when_the_session_ends() {
    let mut place = Place::new().await;
    let daemon = "import os, time\nos.setsid()\nif os.fork(): os._exit(0)\n\
                  open('daemon', 'w').write(str(os.getpid()))\ntime.sleep(1000)";
    let code = "import subprocess, sys, time\n\
                subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.DEVNULL).wait()\n\
                while not os.path.exists('daemon') or not open('daemon').read(): time.sleep(0.01)\n\
                open('daemon').read()";
    place.run(&format!("import os\ncode = {daemon:?}")).await;
    let pids = place.pids(code).await;
    assert!(is_alive(pids[0]));
    place.python.stop().await;
    until_gone(&pids).await;
}

#[tokio::test]
async fn many_processes_die_together() {
    let mut place = Place::new().await;
    let session = place.python.pid();
    let error = place
        .python
        .execute(
            "import os, time\n\
             for number in range(60):\n    \
                 if not os.fork(): time.sleep(1000)\n\
             open('forked', 'w').close()\n\
             while True: os.wait()",
            Duration::from_secs(5),
        )
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Timeout(_)), "{error}");
    assert!(place.sandbox.workspace().join("forked").exists());
    assert_eq!(of_session(session), [0; 0]);
}

#[tokio::test]
async fn an_execution_that_is_given_up_ends_the_session() {
    let mut place = Place::new().await;
    let pid = place.python.pid();
    let endless = place.python.execute("while True: pass", Duration::from_secs(3600));
    assert!(tokio::time::timeout(SHORT, endless).await.is_err());
    let error = place.failure("1").await;
    assert!(matches!(&error, Error::Died(why) if why.contains("given up")), "{error}");
    place.python.stop().await;
    until_gone(&[pid]).await;
}

#[tokio::test]
async fn a_session_that_is_dropped_takes_its_group_along() {
    let mut place = Place::new().await;
    let mut pids = place.pids("import subprocess\nprint(subprocess.Popen(['sleep', '1000']).pid)").await;
    pids.push(place.python.pid());
    drop(place.python);
    until_gone(&pids).await;
}

#[tokio::test]
async fn stopping_writes_out_what_the_code_left_open() {
    let mut place = Place::new().await;
    place.run("f = open('answer.txt', 'w')\nf.write('never closed')").await;
    assert_eq!(place.sandbox.read_answer().await.unwrap().as_deref(), Some(""));
    place.python.stop().await;
    assert_eq!(place.sandbox.read_answer().await.unwrap().as_deref(), Some("never closed"));
}

#[tokio::test]
async fn stopping_does_not_wait_for_ever() {
    let mut place = Place::new().await;
    let pid = place.python.pid();
    place.run("import threading, time\nthreading.Thread(target=time.sleep, args=(1e6,)).start()").await;
    place.python.stop().await;
    until_gone(&[pid]).await;
}
