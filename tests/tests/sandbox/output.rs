//! More output than anybody wants.

use crate::support::{Place, until};

const MIB: usize = 1 << 20;

/// The observation is the two ends of `whole` around a marker that tells how much is missing.
fn is_cut(observation: &str, whole_bytes: usize, cap: usize, cut: u64) {
    let marker = format!("\n[... {cut} bytes of output cut out here ...]\n");
    let (head, tail) = observation.split_once(&marker).unwrap_or_else(|| panic!("no {marker:?}"));
    let kept = head.len() + tail.len();
    assert_eq!(kept as u64 + cut, whole_bytes as u64);
    assert!(kept <= cap && kept + 8 > cap, "{kept} of {cap}");
    assert!(head.len().abs_diff(tail.len()) <= 8, "{} and {}", head.len(), tail.len());
}

#[tokio::test]
async fn a_hundred_megabytes_are_cut() {
    for code in [
        "print('x' * 10**8)",
        "'x' * (10**8 + 1)",
        "for _ in range(10**5): print('x' * 999)",
        "[0] * 33333333 + [10000]",
    ] {
        let mut place = Place::new().await;
        let execution = place.execute(code).await;
        let whole = if code.starts_with('[') {
            33_333_333 * 3 + 7
        } else if code.starts_with("for") {
            10_usize.pow(8)
        } else {
            10_usize.pow(8) + 1
        };
        is_cut(&execution.observation, whole, MIB, execution.bytes_cut);
    }
}

#[tokio::test]
async fn endless_output_needs_little_memory() {
    let mut place = Place::new().await;
    let peak = "import resource\nresource.getrusage(resource.RUSAGE_SELF).ru_maxrss";
    let before: usize = place.run(peak).await.parse().unwrap();
    let execution = place.execute("for number in range(200000): print('0123456789' * 200)").await;
    is_cut(&execution.observation, 200_000 * 2001, MIB, execution.bytes_cut);
    let after: usize = place.run(peak).await.parse().unwrap();
    assert!(after < before + 100 * 1024, "{before} KiB before, {after} KiB after 400 MB of output");
}

#[tokio::test]
async fn output_that_goes_past_is_drained() {
    let mut place = Place::new().await;
    // Before the last statement, so it goes to the real stdout.
    assert_eq!(place.run("print('x' * 10**8)\n'done'").await, "done");
    assert_eq!(
        place.run("import sys\nfor _ in range(10**6): sys.stderr.write('warning: again\\n')\n'done'").await,
        "done"
    );
    assert_eq!(place.run("import os\nos.system('head -c 50000000 /dev/zero')\n'done'").await, "done");
    let expected = (10_u64.pow(8) + 1 + 50_000_000, 10_u64.pow(6) * 15);
    until("all output is drained", || {
        let output = place.python.output();
        (output.stdout_bytes, output.stderr_bytes) == expected
    })
    .await;
    let output = place.python.output();
    assert_eq!((output.stdout.len(), output.stderr.len()), (64 << 10, 64 << 10));
    assert!(output.stderr.ends_with(b"warning: again\n") && output.stdout.ends_with(&[0; 100]));
}

#[tokio::test]
async fn the_cap_counts_bytes_and_keeps_characters_whole() {
    for cap in [1, 2, 7, 100, 4096] {
        let mut place = Place::with_cap(cap).await;
        let cap = usize::try_from(cap).unwrap();
        for character in ["x", "\u{e9}", "\u{4e2d}", "\u{1f600}"] {
            let size = character.len();
            let fits = cap / size;
            assert_eq!(place.run(&format!("'{character}' * {fits}")).await, character.repeat(fits));
            for count in [fits + 1, fits + 2, 2 * fits + 3, 5000, 300_000] {
                for code in [format!("'{character}' * {count}"), format!("print('{character}' * {count}, end='')")] {
                    let execution = place.execute(&code).await;
                    if count * size <= cap {
                        assert_eq!(execution.observation, character.repeat(count));
                        continue;
                    }
                    let marker = format!("\n[... {} bytes of output cut out here ...]\n", execution.bytes_cut);
                    let (head, tail) = execution.observation.split_once(&marker).expect(&marker);
                    let kept = head.len() + tail.len();
                    assert_eq!(kept as u64 + execution.bytes_cut, (count * size) as u64, "{cap} {code}");
                    assert!(kept <= cap && kept + 2 * size > cap, "{cap} {code}: {kept}");
                    assert_eq!(format!("{head}{tail}"), character.repeat(kept / size));
                }
            }
        }
        assert!(place.execute("raise ValueError('x' * 9999)").await.bytes_cut > 0);
    }
}

#[tokio::test]
async fn no_cap_is_no_cap() {
    let mut place = Place::with_cap(0).await;
    let execution = place.execute("'ab' * 5_000_000").await;
    assert_eq!((execution.observation.len(), execution.bytes_cut), (10_000_000, 0));
    let execution = place.execute("for _ in range(1000): print('x' * 9999)").await;
    assert_eq!((execution.observation.len(), execution.bytes_cut), (10_000_000, 0));
}

#[tokio::test]
async fn what_is_printed_to_is_like_stringio() {
    let mut place = Place::with_cap(1000).await;
    let same = "import io, sys\n\
        def about(s):\n    \
            out = []\n    \
            for what in ('encoding', 'errors', 'newlines', 'line_buffering', 'closed', 'buffer', 'name', 'mode', '__dict__'):\n        \
                out.append(repr(getattr(s, what, None)))\n    \
            for call in ('isatty', 'readable', 'writable', 'seekable', 'fileno', 'tell', 'detach', 'flush', 'getvalue'):\n        \
                try: out.append(repr(getattr(s, call)()))\n        \
                except Exception as e: out.append(repr(e))\n    \
            for bad in (None, 3, b'x'):\n        \
                try: out.append(repr(s.write(bad)))\n        \
                except Exception as e: out.append(repr(e))\n    \
            return out + [repr(s).split(' at ')[0], str(type(s)), sorted((set(dir(s)) ^ set(dir(io.StringIO()))) - {'__module__'})]";
    place.run(&format!("{same}\nglobals().update(io=io, about=about)")).await;
    assert_eq!(place.run("about(sys.stdout) == about(io.StringIO()) or about(sys.stdout)").await, "True");
    assert_eq!(place.run("sys.stdout.write('abc')").await, "3");
    assert_eq!(place.run("sys.stdout.writelines(['a', 'b'])").await, "ab");
    assert_eq!(place.run("print('x', flush=True)").await, "x\n");
    assert_eq!(place.run("isinstance(sys.stdout, io.StringIO)").await, "True");
    assert_eq!(place.run("[sys.stdout.write('12345'), sys.stdout.seek(1), sys.stdout.truncate(), sys.stdout.write('x')][99:] or None").await, "1x");
    // As upstream's tool does it: what was printed cannot be read any more.
    assert_eq!(place.run("sys.stdout.close()").await, "ValueError: I/O operation on closed file");
}
