//! What an undamaged dataset gives.

use std::fs;

use argosy_coordinator::dataset::{self, OpenOptions};
use argosy_shared::{id::TaskId, task::Split};

use crate::fixture;

#[test]
fn order_is_split_then_directory_then_number_then_position() {
    let ids: Vec<String> = fixture::open().data.tasks.iter().map(|task| task.id.to_string()).collect();
    assert_eq!(
        ids,
        [
            "real_test__herring_markets__0__0",
            "real_test__lighthouse_keepers__0__0",
            "real_test__lighthouse_keepers__0__1",
            "real_test__lighthouse_keepers__2__0",
            "real_test__lighthouse_keepers__10__0",
            "real_train__tidal_mills__1__0",
            "real_train__tidal_mills__1__1",
            "synth_test__tea-tasting_0_0__0__17",
            "synth_test__tea-tasting_0_0__1__4",
            "synth_dev__kite-festivals_0_1__0__88",
            "synth_train__cloud-naming_2_0__3__901",
        ]
    );
}

#[test]
fn gold_comes_from_keys_and_metadata_and_survives_its_encoding() {
    let data = fixture::open().data;
    let gold = |id: &str| data.golds.get(&TaskId::from(id)).unwrap().hypothesis().to_owned();
    assert_eq!(gold("real_test__lighthouse_keepers__0__0"), "Older keepers light the lamp longer, by 17 hours a year.");
    assert_eq!(gold("real_test__lighthouse_keepers__10__0"), "Age and lamp hours are positively related.");
    assert_eq!(gold("real_train__tidal_mills__1__0"), "Parishes with more mills have older keepers. ");
    assert_eq!(gold("synth_test__tea-tasting_0_0__0__17"), "The taster\u{2019}s score does not depend on leaf size.");
    assert_eq!(gold("synth_dev__kite-festivals_0_1__0__88"), "A kite\u{2019}s lift grows with the square of the wind.");
    assert_eq!(data.golds.len(), data.tasks.len());
}

#[test]
fn texts_are_kept_as_they_are() {
    let data = fixture::open().data;
    let task = |id: &str| data.task(&TaskId::from(id)).unwrap();
    let first = task("real_test__lighthouse_keepers__0__1");
    assert_eq!(first.category(), "real_test:sociology");
    assert_eq!(first.datasets[0].description, " One row per keeper and year. ");
    assert_eq!(first.datasets[0].columns[1].description, "Age in years,\nat the end of the year");
    assert_eq!(
        first.datasets.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(),
        ["keepers.csv", "storms+gales.csv"]
    );
    assert_eq!(first.question_type, "variables");
    assert_eq!(first.domain_knowledge.as_deref(), Some("Lamps burn longer in winter"));
    let blank = task("real_test__lighthouse_keepers__2__0");
    assert_eq!(blank.domain_knowledge.as_deref(), Some("  "));
    assert_eq!(blank.datasets[0].name, "storms+gales.csv", "the metadata's order, not the alphabet's");
    let missing = task("real_test__lighthouse_keepers__10__0");
    assert_eq!(missing.domain_knowledge, None);
    assert_eq!(missing.intermediate, ["Lamp hours rise with age", "Storms matter less than they seem"]);
    let cp1252 = task("synth_test__tea-tasting_0_0__0__17");
    assert_eq!(cp1252.question, "Does the leaf size, in \u{b5}m, decide the score?");
    assert_eq!(cp1252.datasets[0].columns[0].description, "Leaf size in \u{b5}m");
}

#[test]
fn only_referenced_files_are_data_and_equal_ones_are_one() {
    let data = fixture::open().data;
    let mut names: Vec<String> = data.blobs.values().map(|file| file.path.display().to_string()).collect();
    names.sort();
    assert_eq!(names.len(), 7, "two of the eight are equal: {names:?}");
    assert!(!names.iter().any(|name| name.ends_with("notes.csv") || name.ends_with(".json")), "{names:?}");
    let mills = &data.task(&TaskId::from("real_train__tidal_mills__1__0")).unwrap().datasets[0];
    assert_eq!(data.read_blob(&mills.blob.sha256).unwrap(), (0..=255).collect::<Vec<u8>>().repeat(4));
    assert_eq!(mills.blob.bytes, 1024);
    assert!(!data.sources.keys().any(|path| path.contains("notes") || path.contains("checkpoint")));
}

#[test]
fn a_copy_of_the_data_folders_takes_its_prompts_from_a_file() {
    let copy = fixture::Copy::new();
    let checkout = dataset::open(&copy.root(), &fixture::unpinned()).unwrap();
    let pack = copy.root().with_file_name("pack.json");
    fs::write(&pack, dataset::extract_pack(&copy.root(), true).unwrap().to_json()).unwrap();
    for file in dataset::pack::FILES {
        fs::remove_file(copy.file(file)).unwrap();
    }
    let (message, hint) = copy.failure(&fixture::unpinned());
    assert!(message.ends_with("holds the data, but not the Python files with the prompts"), "{message}");
    assert!(hint.contains("argosy dataset pack"), "{hint}");
    assert_eq!(dataset::open_data(&copy.root(), true).unwrap().tasks, checkout.data.tasks);
    let options = OpenOptions { prompt_pack: Some(pack), allow_unpinned: true };
    let copied = dataset::open(&copy.root(), &options).unwrap();
    assert_eq!(copied.identity, checkout.identity);
    assert_eq!(copied.pack.hash(), checkout.pack.hash());
}

#[test]
fn an_unpinned_dataset_is_refused_unless_allowed_and_says_so() {
    let (message, hint) = fixture::Copy::new().failure(&OpenOptions::default());
    assert!(message.ends_with("not a file of DiscoveryBench's commit c31fcf0"), "{message}");
    assert!(hint.contains("--allow-unpinned") && hint.contains("argosy dataset fetch"), "{hint}");
    let identity = fixture::open().identity;
    assert!(!identity.pinned);
    assert_eq!(identity.commit, None);
}

#[test]
fn the_digest_is_of_the_content_and_of_all_of_it() {
    let digest = |copy: &fixture::Copy| dataset::open(&copy.root(), &fixture::unpinned()).unwrap().identity.digest;
    let original = digest(&fixture::Copy::new());
    assert_eq!(original, fixture::open().identity.digest);
    let changes = [
        ("discoverybench/real/test/lighthouse_keepers/keepers.csv", "1900", "1899"),
        ("discoverybench/synth/dev/kite-festivals_0_1/metadata_0.json", "What lifts", "Who lifts"),
        ("eval/answer_key_real.csv", "in the 1920s", "in the 1930s"),
        ("agents/coder_utils.py", "Instruments", "Sails"),
    ];
    for (file, from, to) in changes {
        let copy = fixture::Copy::new();
        copy.replace(file, from, to);
        assert_ne!(digest(&copy), original, "{file}");
    }
    let copy = fixture::Copy::new();
    copy.replace("agents/coder_utils.py", "\"\"\"One shot", "\"\"\"A comment only. One shot");
    copy.replace("discoverybench/real/test/lighthouse_keepers/notes.csv", "nobody", "somebody");
    assert_eq!(digest(&copy), original);
}

#[test]
fn some_splits_are_enough() {
    let copy = fixture::Copy::new();
    fs::remove_dir_all(copy.file("discoverybench/synth")).unwrap();
    fs::remove_file(copy.file("eval/answer_key_synth.csv")).unwrap();
    let data = dataset::open_data(&copy.root(), true).unwrap();
    assert_eq!(data.tasks.len(), 7);
    assert!(data.tasks.iter().all(|task| matches!(task.split, Split::RealTest | Split::RealTrain)));
}

#[test]
fn a_blob_that_changed_is_noticed_when_it_is_read() {
    let copy = fixture::Copy::new();
    let data = dataset::open_data(&copy.root(), true).unwrap();
    let sha256 = &data.tasks[1].datasets[0].blob.sha256;
    copy.replace("discoverybench/real/test/lighthouse_keepers/keepers.csv", "1900", "1899");
    copy.replace("discoverybench/real/train/tidal_mills/keepers.csv", "1900", "1899");
    let error = data.read_blob(sha256).unwrap_err();
    assert!(error.to_string().ends_with("keepers.csv: has changed since the dataset was opened"), "{error}");
    assert!(data.read_blob("00").unwrap_err().to_string().contains("no data file has the digest 00"));
}
