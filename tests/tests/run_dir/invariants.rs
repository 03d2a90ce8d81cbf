//! Whatever is done in whatever order, a task lies in one place, and what was published last is what is read back.

use std::collections::BTreeMap;

use argosy_coordinator::{report::load, store::RunStore};
use argosy_shared::{
    id::TaskId,
    issue::Severity,
    redact::Redactor,
    run_dir::{State, json, names, status},
};
use proptest::prelude::*;

use crate::support::{Attempt, TASKS, at, publish, store};

#[derive(Clone, Copy, Debug)]
enum Step {
    Start(usize),
    Finish(usize, usize),
    Publish(usize, usize),
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let task = 0..2_usize;
    let kind = 0..4_usize;
    let step = prop_oneof![
        task.clone().prop_map(Step::Start),
        (task.clone(), kind.clone()).prop_map(|(task, kind)| Step::Finish(task, kind)),
        (task, kind).prop_map(|(task, kind)| Step::Publish(task, kind)),
        Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..10)
}

fn attempt(kind: usize) -> Attempt {
    [Attempt::right, Attempt::zero, Attempt::fatal, Attempt::lost][kind]()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_task_lies_in_one_place(steps in steps()) {
        let results = tempfile::tempdir().unwrap();
        let mut store = store(&results, 1);
        let mut published: BTreeMap<usize, Option<Severity>> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Start(task) => {
                    store.task_started(&TaskId::from(TASKS[task].0), 1).unwrap();
                    published.remove(&task);
                }
                Step::Finish(task, kind) => {
                    store.attempt_finished(&TaskId::from(TASKS[task].0), 1, &attempt(kind).record()).unwrap();
                    published.remove(&task);
                }
                Step::Publish(task, kind) => {
                    let attempt = attempt(kind);
                    publish(&store, task, &[&attempt]);
                    published.insert(task, attempt.record().worst());
                }
                Step::Reopen => {
                    let dir = store.dir().to_owned();
                    drop(store);
                    store = RunStore::open(&dir, Redactor::default(), at("2026-12-01T04:00:00Z")).unwrap();
                }
            }
            // The reader refuses a task in two states and a published one that lacks anything.
            let run = load::run(store.dir()).unwrap();
            prop_assert_eq!(run.tasks.len(), published.len());
            for (task, worst) in &published {
                let id = TaskId::from(TASKS[*task].0);
                prop_assert_eq!(store.published(&id).unwrap(), Some(status::state_of(*worst)));
                prop_assert!(!run.running.contains(&id));
            }
            for id in &run.running {
                prop_assert!(store.dir().join(names::task_path(State::Running, id)).is_dir());
            }
        }
    }
}

proptest! {
    #[test]
    fn models_never_share_a_directory(a in "[a-z/_ .:\u{e4}-]{0,12}", b in "[a-z/_ .:\u{e4}-]{0,12}") {
        let name = |model: &str| names::namespace(model, "discoverybench", "discovery_agent");
        prop_assert_eq!(a == b, name(&a) == name(&b));
        prop_assert_eq!(names::sanitise(&name(&a)), name(&a));
    }

    #[test]
    fn floats_read_back(bits in any::<u64>()) {
        let value = f64::from_bits(bits);
        if value.is_finite() {
            let text = json::float_repr(value);
            prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), bits);
            prop_assert_eq!(serde_json::from_str::<f64>(&text).unwrap().to_bits(), bits, "serde_json reads it exactly");
        }
    }
}
