//! The real dataset, where it is at hand: the embedded list of files is its list.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use argosy_coordinator::dataset::{self, OpenOptions};
use argosy_shared::task::Split;
use argosy_tests::places;

#[test]
fn the_embedded_list_is_that_of_the_checkout() {
    let Some(checkout) = places::upstream_checkout() else {
        places::skipped("the_embedded_list_is_that_of_the_checkout", "DISCOVERYBENCH_ROOT is not set");
        return;
    };
    let options = OpenOptions { prompt_pack: None, allow_unpinned: true };
    let dataset = dataset::open(&checkout, &options).unwrap();
    let mut folders: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let files: BTreeMap<&String, &String> = dataset.data.sources.iter().chain(&dataset.pack.source.files).collect();
    for (path, sha256) in files {
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        folders.entry(folder).or_default().push(format!("{name} {}", &sha256[..16]));
    }
    let identity = &dataset.identity;
    let mut list = format!("data {}\nprompts {}\n", identity.data_digest, identity.pack_hash);
    for (folder, files) in folders {
        let _ = writeln!(list, "[{folder}]\n{}", files.join("\n"));
    }
    let embedded = fs::read_to_string(places::project().join("coordinator/src/dataset/pinned.txt")).unwrap();
    let embedded: String =
        embedded.lines().filter(|line| !line.starts_with('#')).fold(String::new(), |text, line| text + line + "\n");
    assert!(list == embedded, "the list should be:\n{list}");
    assert!(identity.pinned);
}

#[test]
fn all_of_it_opens_without_any_allowance() {
    let Some(path) = places::dataset() else {
        places::skipped("all_of_it_opens_without_any_allowance", "no copy of the dataset");
        return;
    };
    let data = dataset::open_data(&path, false).unwrap();
    let count = |split| data.tasks.iter().filter(|task| task.split == split).count();
    assert_eq!(Split::ALL.map(count), [239, 25, 200, 153, 550]);
    assert_eq!(data.blobs.len(), 399);
    let stray = Path::new("synth/train/steampunk-culture_0_3/.ipynb_checkpoints/metadata_0-checkpoint.json");
    assert!(path.join("discoverybench").join(stray).exists());
    assert!(!data.sources.keys().any(|source| source.contains("checkpoint")));
    assert!(!data.blobs.values().any(|file| file.path.ends_with("off_shoring_imputed.dta")));
}

#[test]
fn checkout_copy_and_bundle_are_the_same_dataset() {
    let (Some(checkout), Some(copy)) = (places::upstream_checkout(), places::dataset()) else {
        places::skipped("checkout_copy_and_bundle_are_the_same_dataset", "DISCOVERYBENCH_ROOT is not set");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let pack = folder.path().join("pack.json");
    fs::write(&pack, dataset::extract_pack(&checkout, false).unwrap().to_json()).unwrap();
    let from_checkout = dataset::open(&checkout, &OpenOptions::default()).unwrap();
    let options = OpenOptions { prompt_pack: Some(pack), allow_unpinned: false };
    let from_copy = dataset::open(&copy, &options).unwrap();
    assert_eq!(from_copy.identity, from_checkout.identity);
    assert_eq!(from_copy.data.tasks, from_checkout.data.tasks);
    assert_eq!(from_checkout.identity.commit.as_deref(), Some(dataset::identity::PINNED_COMMIT));
    let bundle = folder.path().join("bundle");
    let manifest = dataset::bundle::write(&from_copy, &bundle).unwrap();
    assert_eq!((manifest.tasks, manifest.blobs.len()), (1167, 399));
    let opened = dataset::open(&bundle, &OpenOptions::default()).unwrap();
    assert_eq!(opened.identity, from_checkout.identity);
    assert_eq!(opened.data.tasks, from_checkout.data.tasks);
    assert_eq!(opened.data.golds, from_checkout.data.golds);
}
