//! A disk that is really full: a tmpfs in a mount namespace that goes with the child.

use std::process::{Command, Stdio};

use argosy_tests::places;

use crate::child::command;

#[test]
fn a_full_disk_stops_the_journal_and_space_lets_it_go_on() {
    let namespace = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
        command
    };
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().display();
    let mount = format!("mount -t tmpfs -o size=3m none '{place}'");
    let possible = namespace(&mount).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !possible.is_ok_and(|status| status.success()) {
        return places::skipped("full_disk", "this user may not make mount namespaces");
    }
    let role = format!("fill {place}/journal.db {place}/filler");
    let child = command(&role);
    let words = child.get_args().map(|word| word.to_str().unwrap());
    let script = format!(
        "{mount} && head -c 1000000 /dev/zero > '{place}/filler' && exec '{}' {}",
        child.get_program().display(),
        words.collect::<Vec<_>>().join(" ")
    );
    let mut outer = namespace(&script);
    outer.envs(child.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = outer.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("@full true true"), "{said}");
    assert!(said.contains("@recovered "), "{said}");
}
