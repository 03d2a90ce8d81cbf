//! The benchmark goes through the importer like a data-only copy of the real one.

use std::collections::{BTreeMap, BTreeSet};

use argosy_coordinator::{
    dataset::{self, OpenOptions},
    demo,
};
use argosy_shared::task::{Split, Task};

use crate::{Agent, Demo};

#[test]
fn every_split_is_there_with_its_tasks() {
    let demo = Demo::new();
    let mut tasks: BTreeMap<Split, Vec<&Task>> = BTreeMap::new();
    for task in demo.tasks() {
        tasks.entry(task.split).or_default().push(task);
    }
    let counts: Vec<(Split, usize)> = tasks.iter().map(|(split, tasks)| (*split, tasks.len())).collect();
    let expected = [
        (Split::RealTest, 9),
        (Split::RealTrain, 1),
        (Split::SynthTest, 7),
        (Split::SynthDev, 1),
        (Split::SynthTrain, 1),
    ];
    assert_eq!(counts, expected);
    for split in Split::DEFAULT {
        let domains: BTreeSet<&str> = tasks[&split].iter().map(|task| task.domain.as_str()).collect();
        assert!(domains.len() >= 4, "{split}: {domains:?}");
        assert!(domains.iter().all(|domain| *domain == domain.to_lowercase()), "{split}: {domains:?}");
    }
    let ids: BTreeSet<String> = demo.tasks().iter().map(|task| task.id.0.clone()).collect();
    assert!(demo::expected().coder.keys().eq(ids.iter()), "expected.json holds exactly the benchmark's tasks");
}

#[test]
fn every_task_has_its_gold_and_small_data_files() {
    let demo = Demo::new();
    for task in demo.tasks() {
        let gold = demo.dataset.data.golds.get(&task.id).expect("a gold").hypothesis();
        assert!(gold.len() > 40 && gold.ends_with('.'), "{}: {gold}", task.id);
        assert!(!task.datasets.is_empty());
        for dataset in &task.datasets {
            let content = demo.dataset.data.read_blob(&dataset.blob.sha256).expect("the file");
            assert!(content.len() <= 15 << 10, "{}: {} bytes", dataset.name, content.len());
            let text = String::from_utf8(content).expect("data files are UTF-8");
            let rows = text.lines().count() - 1;
            assert!((20..=200).contains(&rows), "{}: {rows} rows", dataset.name);
            let header: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
            let described: Vec<&str> = dataset.columns.iter().map(|column| column.name.as_str()).collect();
            assert_eq!(header, described, "{}: {}", task.id, dataset.name);
        }
    }
}

#[test]
fn peculiarities_of_the_published_files_occur() {
    let demo = Demo::new();
    let find = |id: &str| demo.tasks().iter().find(|task| task.id.0 == id).unwrap_or_else(|| panic!("{id}"));

    let ferry = find("real_test__ferry_service__0__0");
    let names: Vec<&str> = ferry.datasets.iter().map(|dataset| dataset.name.as_str()).collect();
    assert_eq!(names, ["crossings.csv", "harbour_weather.csv"], "one question over two files");

    let nested: Vec<i64> = demo
        .tasks()
        .iter()
        .filter(|task| task.dataset_dir == "lighthouse_log" && task.metadata_id == 0)
        .map(|task| task.query_id)
        .collect();
    assert_eq!(nested, [0, 1], "two questions in one metadata file");

    for task in demo.tasks().iter().filter(|task| task.split == Split::SynthTest) {
        assert!(task.query_id > 2, "{}: synthetic splits number questions globally", task.id);
        assert_eq!((&task.domain_knowledge, &task.workflow_tags), (&None, &None));
    }
    for task in demo.tasks().iter().filter(|task| task.split == Split::RealTest) {
        assert!(task.workflow_tags.as_ref().is_some_and(|tags| !tags.is_empty()), "{}", task.id);
        let blank = task.domain_knowledge.as_deref() == Some("");
        assert_eq!(blank, task.dataset_dir == "hillside_hives" && task.metadata_id == 1, "{}", task.id);
    }
    find("synth_test__clock-making_0_0__10__310");
}

#[test]
fn one_metadata_file_and_one_answer_key_are_in_code_page_1252() {
    let demo = Demo::new();
    let task = demo.tasks().iter().find(|task| task.domain == "ceramics").expect("the pottery");
    let metadata = std::fs::read(demo.folder(task).join("metadata_0.json")).expect("the metadata");
    assert!(std::str::from_utf8(&metadata).is_err());
    assert!(metadata.contains(&0xb5) && metadata.contains(&0x92));
    assert!(task.question.contains("potter\u{2019}s"), "{}", task.question);
    assert!(task.datasets[0].columns[1].description.contains("\u{b5}m"));

    let key = std::fs::read(demo.files.dataset.join("eval/answer_key_synth.csv")).expect("the key");
    assert!(std::str::from_utf8(&key).is_err());
    let gold = demo.dataset.data.golds.get(&task.id).expect("a gold");
    assert!(gold.hypothesis().contains("400 \u{b5}m"), "{}", gold.hypothesis());
}

#[test]
fn nothing_is_taken_for_the_published_benchmark() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = demo::materialise(folder.path()).expect("the demo's files");
    let options = OpenOptions { prompt_pack: Some(files.prompt_pack), allow_unpinned: false };
    assert!(dataset::open(&files.dataset, &options).is_err());
    assert!(!Demo::new().dataset.identity.pinned);
}

#[test]
fn the_scores_are_worth_looking_at() {
    let demo = Demo::new();
    for agent in Agent::BOTH {
        let default = demo.tasks().iter().filter(|task| Split::DEFAULT.contains(&task.split));
        let outcomes: Vec<_> = default.map(|task| agent.expectation(task)).collect();
        let whole = outcomes.iter().filter(|outcome| outcome.score == 1.0).count();
        let partial = outcomes.iter().filter(|outcome| outcome.score > 0.0 && outcome.score < 1.0).count();
        let issues: BTreeSet<&str> = outcomes.iter().filter_map(|outcome| outcome.issue.as_deref()).collect();
        assert!(whole >= 5 && partial >= 3, "{agent:?}: {whole} whole, {partial} partial");
        assert_eq!(issues, BTreeSet::from(["harness_max_iterations", "model_output_invalid"]), "{agent:?}");
    }
    let wrong = demo.tasks().iter().find(|task| task.id.0 == "real_test__tide_pools__1__0").expect("the task");
    let outcome = Agent::Coder.expectation(wrong);
    assert_eq!((outcome.score, outcome.issue), (0.0, None), "an answer that is judged wrong");
}
