//! "Never approximate": whatever is changed in the Python source, extraction either refuses it or gives exactly the texts
//! that the changed Python makes.

use std::{env, fmt::Write as _, fs};

use argosy_coordinator::dataset::pack;
use argosy_shared::task::Task;
use argosy_tests::places;

use crate::{
    fixture,
    python::{self, Verdict},
};

/// Of so many mutants one is tried; `ARGOSY_MUTANTS=1` tries all of them, which takes minutes.
const STEP: usize = 61;

#[test]
fn a_changed_line_is_refused_or_followed() {
    let step = env::var("ARGOSY_MUTANTS").ok().and_then(|step| step.parse().ok()).unwrap_or(STEP);
    let dataset = fixture::open();
    let tasks: Vec<&Task> = dataset.data.tasks.iter().collect();
    let copy = fixture::Copy::new();
    let (mut refused, mut followed, mut raised) = (0, 0, 0);
    let mut wrong = String::new();
    for file in pack::FILES {
        let original = fs::read_to_string(copy.file(file)).unwrap();
        for mutant in mutants(&original).into_iter().step_by(step) {
            fs::write(copy.file(file), &mutant.text).unwrap();
            let Ok(pack) = pack::extract(&copy.root()) else {
                refused += 1;
                continue;
            };
            match python::compare(&copy.root(), &pack, &tasks) {
                None => {
                    places::skipped("a_changed_line_is_refused_or_followed", "there is no Python");
                    return;
                }
                Some(Verdict::Equal) => followed += 1,
                // Over a name that is gone, for example; it then makes no text that could differ.
                Some(Verdict::Raised(_)) => raised += 1,
                Some(Verdict::Different(difference)) => {
                    let _ = writeln!(wrong, "{file}: {}\n{difference}\n", mutant.what);
                }
            }
        }
        fs::write(copy.file(file), original).unwrap();
    }
    println!("{refused} refused, {followed} followed, {raised} that Python cannot run");
    assert!(wrong.is_empty(), "{wrong}");
    assert!(refused > 9 && followed > 0, "the mutants are of no use");
}

struct Mutant {
    what: String,
    text: String,
}

/// Each line removed, doubled, exchanged with the next; each word of a line spelt otherwise.
fn mutants(text: &str) -> Vec<Mutant> {
    let lines: Vec<&str> = text.lines().collect();
    let join = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let mut mutants = Vec::new();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let mut add = |what: &str, changed: Vec<&str>| {
            mutants.push(Mutant { what: format!("line {} {what}: {line}", index + 1), text: join(&changed) });
        };
        let (before, after) = (&lines[..index], &lines[index + 1..]);
        add("removed", [before, after].concat());
        add("doubled", [before, &[line, line], after].concat());
        if let Some((next, rest)) = after.split_first() {
            add("exchanged", [before, &[next, line], rest].concat());
        }
        for word in line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()) {
            let other = match word.parse::<u32>() {
                Ok(number) => (number + 1).to_string(),
                Err(_) => format!("{word}x"),
            };
            let changed = line.replacen(word, &other, 1);
            add("respelt", [before, &[changed.as_str()], after].concat());
        }
    }
    mutants
}
