//! One clear error, by file, for everything that can be wrong with a checkout.

use std::{fs, os::unix::fs::symlink};

use argosy_coordinator::dataset::{self, OpenOptions};
use argosy_tests::places;

use crate::fixture::{self, Copy};

const KEEPERS: &str = "discoverybench/real/test/lighthouse_keepers";
const TEA: &str = "discoverybench/synth/test/tea-tasting_0_0";

/// Damages a copy of the fixture and compares the beginning of the message.
fn check(what: &str, damage: impl Fn(&Copy), expected: &str) -> String {
    let copy = Copy::new();
    damage(&copy);
    let (message, hint) = copy.failure(&fixture::unpinned());
    assert!(message.starts_with(expected), "{what}: `{message}` is not `{expected}`");
    hint
}

#[test]
fn answer_keys() {
    let real = "eval/answer_key_real.csv";
    let remove = |copy: &Copy| fs::remove_file(copy.file(real)).unwrap();
    let hint = check("no key", remove, "eval/answer_key_real.csv: missing, but it holds the gold of a test split");
    assert!(hint.contains("argosy dataset fetch"), "{hint}");
    let row = "lighthouse_keepers,2,0,Lamp hours peaked in the 1920s.\r\n";
    check(
        "missing row",
        |copy| copy.replace(real, row, ""),
        "eval/answer_key_real.csv: no row for lighthouse_keepers,2,0, a query of discoverybench/real/test/lighthouse_keepers/metadata_2.json",
    );
    check(
        "doubled row",
        |copy| copy.replace(real, row, &format!("{row}{row}")),
        "eval/answer_key_real.csv: line 7: a second row for lighthouse_keepers,2,0; the first is in line 6",
    );
    check(
        "row left over",
        |copy| copy.replace(real, row, &format!("{row}lighthouse_keepers,2,1,Nobody asked.\r\n")),
        "eval/answer_key_real.csv: line 7: lighthouse_keepers,2,1 is no task of this split",
    );
    check(
        "position instead of qid",
        |copy| copy.replace("eval/answer_key_synth.csv", "tea-tasting_0_0,0,17", "tea-tasting_0_0,0,0"),
        "eval/answer_key_synth.csv: no row for tea-tasting_0_0,0,17",
    );
    check(
        "other columns",
        |copy| copy.replace(real, "gold_hypo", "gold"),
        "eval/answer_key_real.csv: line 1: expected the columns `dataset,metadataid,query_id,gold_hypo`",
    );
    check(
        "neither encoding",
        |copy| fs::write(copy.file(real), b"dataset,metadataid,query_id,gold_hypo\n\x81").unwrap(),
        "eval/answer_key_real.csv: neither UTF-8 (byte 0x81 at position 38) nor cp1252",
    );
}

#[test]
fn metadata() {
    let file = format!("{KEEPERS}/metadata_0.json");
    check(
        "not JSON",
        |copy| fs::write(copy.file(&file), "{").unwrap(),
        &format!("{file}: EOF while parsing an object at line 1 column 1"),
    );
    check(
        "a key missing",
        |copy| copy.replace(&file, "\"domain\"", "\"realm\""),
        &format!("{file}: missing field `domain` at line"),
    );
    check(
        "the same qid twice",
        |copy| copy.replace(&file, "\"qid\": 1", "\"qid\": 0"),
        &format!("{file}: two queries have the qid 0"),
    );
    check(
        "path traversal",
        |copy| copy.replace(&file, "\"keepers.csv\"", "\"../../../../eval/answer_key_real.csv\""),
        &format!("{file}: the dataset name \"../../../../eval/answer_key_real.csv\" is not a plain file name"),
    );
    check(
        "undefined in cp1252",
        |copy| {
            let path = copy.file(&format!("{TEA}/metadata_0.json"));
            let bytes = fs::read(&path).unwrap();
            fs::write(path, bytes.iter().map(|byte| if *byte == 0xb5 { 0x90 } else { *byte }).collect::<Vec<_>>())
                .unwrap();
        },
        &format!("{TEA}/metadata_0.json: neither UTF-8 (byte 0x90 at position"),
    );
    let train = "discoverybench/real/train/tidal_mills/metadata_1.json";
    check(
        "no gold in a train split",
        |copy| copy.replace(train, "true_hypothesis", "false_hypothesis"),
        &format!("{train}: the query with qid 0 has no `true_hypothesis`"),
    );
}

#[test]
fn data_files() {
    let file = format!("{KEEPERS}/keepers.csv");
    let hint = check(
        "missing",
        |copy| fs::remove_file(copy.file(&file)).unwrap(),
        &format!("{file}: missing, but named in {KEEPERS}/metadata_0.json"),
    );
    assert!(hint.contains("incomplete"), "{hint}");
    check(
        "a folder instead",
        |copy| {
            fs::remove_file(copy.file(&file)).unwrap();
            fs::create_dir(copy.file(&file)).unwrap();
        },
        &format!("{file}: not a plain file"),
    );
    check(
        "a link out of the checkout",
        |copy| {
            fs::remove_file(copy.file(&file)).unwrap();
            fs::write(copy.root().with_file_name("private"), "x").unwrap();
            symlink("../../../../../private", copy.file(&file)).unwrap();
        },
        &format!("{file}: a link that leads out of the dataset"),
    );
    check(
        "a linked directory out of the checkout",
        |copy| symlink("/etc", copy.file("discoverybench/real/test/zz")).unwrap(),
        "discoverybench/real/test/zz: a link that leads out of the dataset",
    );
}

#[test]
fn the_first_of_several_errors_is_told() {
    for _ in 0..10 {
        check(
            "three bad files",
            |copy| {
                for name in ["metadata_10.json", "metadata_0.json", "metadata_2.json"] {
                    fs::write(copy.file(&format!("{KEEPERS}/{name}")), "{").unwrap();
                }
            },
            &format!("{KEEPERS}/metadata_0.json: EOF"),
        );
    }
}

#[test]
fn places_that_are_no_dataset() {
    let copy = Copy::new();
    let failure = |path: &str| {
        let error = dataset::open(&copy.file(path), &fixture::unpinned()).unwrap_err();
        (error.to_string(), error.hint().unwrap_or_default())
    };
    let (message, hint) = failure("discoverybench");
    assert!(message.contains("neither a DiscoveryBench checkout, nor"), "{message}");
    assert_eq!(hint, format!("did you mean {}?", copy.root().display()));
    assert!(failure("eval").0.contains("neither a DiscoveryBench checkout, nor"));
    assert!(failure("nowhere").0.contains("nowhere: No such file or directory"));
    assert!(failure("discovery_agent.py").0.contains("neither a DiscoveryBench checkout, nor"));
    let empty = tempfile::tempdir().unwrap();
    fs::create_dir(empty.path().join("discoverybench")).unwrap();
    let error = dataset::open(empty.path(), &fixture::unpinned()).unwrap_err();
    assert!(error.to_string().contains("no metadata_<n>.json below discoverybench/"), "{error}");
}

#[test]
fn a_file_of_the_pinned_commit_that_differs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("discoverybench/real/test/nls_ses/metadata_0.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "{}").unwrap();
    fs::create_dir(folder.path().join(".git")).unwrap();
    fs::write(folder.path().join(".git/HEAD"), "0123456789abcdef0123456789abcdef01234567\n").unwrap();
    let error = dataset::open(folder.path(), &OpenOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: differs from DiscoveryBench's commit c31fcf0", file.display()));
    let hint = error.hint().unwrap();
    assert!(hint.starts_with("the checkout is at commit 0123456; `argosy dataset fetch`"), "{hint}");

    let Some(real) = places::dataset() else {
        places::skipped("converted line ends", "no copy of the dataset");
        return;
    };
    let text = fs::read_to_string(real.join("discoverybench/real/test/nls_ses/metadata_0.json")).unwrap();
    fs::write(&file, text.replace("\r\n", "\n")).unwrap();
    let error = dataset::open(folder.path(), &OpenOptions::default()).unwrap_err();
    assert!(error.to_string().ends_with("c31fcf0, but only in its line ends"), "{error}");
    assert!(error.hint().unwrap().contains("core.autocrlf=false"));
    fs::write(&file, text).unwrap();
    let error = dataset::open(folder.path(), &OpenOptions::default()).unwrap_err();
    assert!(error.to_string().contains("nls_ses_processed.csv: missing, but named in"), "{error}");
}
