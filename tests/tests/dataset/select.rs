//! Which tasks a run consists of.

use argosy_coordinator::dataset::SelectError;
use argosy_shared::spec::BenchmarkParams;
use serde_json::{Value, json};

use crate::fixture;

fn select(params: Value) -> Result<Vec<String>, SelectError> {
    let Value::Object(members) = params else { panic!("an object") };
    let data = fixture::open().data;
    let chosen = data.select(&BenchmarkParams::parse(members).unwrap())?;
    Ok(chosen.into_iter().map(|index| data[index].id.to_string()).collect())
}

fn failure(params: Value) -> (String, String) {
    let error = select(params).unwrap_err();
    (error.message, error.hint.unwrap_or_default())
}

#[test]
fn splits_and_categories() {
    assert_eq!(select(json!({})).unwrap().len(), 7, "real_test and synth_test");
    assert_eq!(select(json!({"split": "all"})).unwrap().len(), 11);
    assert_eq!(select(json!({"split": ["synth_dev", "real_train"]})).unwrap()[0], "real_train__tidal_mills__1__0");
    assert_eq!(select(json!({"category": "SocioLogy"})).unwrap().len(), 3);
    assert_eq!(select(json!({"category": ["meta science", "economics"]})).unwrap().len(), 2);
    assert_eq!(select(json!({"category": "real_test:sociology", "split": "all"})).unwrap().len(), 3);
    assert_eq!(select(json!({"category": "sociology", "split": "all"})).unwrap().len(), 5);
    assert_eq!(select(json!({"category": "all"})).unwrap().len(), 7);
}

#[test]
fn sample_ids_keep_the_dataset_order() {
    let ids = json!(["synth_test__tea-tasting_0_0__1__4", "real_test__lighthouse_keepers__0__1"]);
    assert_eq!(
        select(json!({"sample_ids": ids})).unwrap(),
        ["real_test__lighthouse_keepers__0__1", "synth_test__tea-tasting_0_0__1__4"]
    );
}

#[test]
fn limit_and_shuffle_are_reproducible() {
    assert_eq!(select(json!({"limit": 2})).unwrap(), select(json!({})).unwrap()[..2]);
    assert_eq!(select(json!({"limit": 99})).unwrap().len(), 7);
    let shuffled = |seed: u64| select(json!({"split": "all", "limit": 4, "shuffle_seed": seed})).unwrap();
    // Written down: the same on every machine and in every version.
    assert_eq!(
        shuffled(1),
        [
            "real_test__lighthouse_keepers__0__1",
            "real_test__lighthouse_keepers__10__0",
            "real_train__tidal_mills__1__1",
            "synth_train__cloud-naming_2_0__3__901"
        ]
    );
    assert_ne!(shuffled(1), shuffled(2));
    let all = select(json!({"split": "all", "shuffle_seed": 1})).unwrap();
    assert_eq!(all, select(json!({"split": "all"})).unwrap(), "a run keeps the dataset's order");
}

#[test]
fn slips_get_the_nearest_name() {
    let (message, hint) = failure(json!({"sample_ids": "real_test__lighthouse_keepers__0__7"}));
    assert_eq!(message, "benchmark_params.sample_ids: there is no task `real_test__lighthouse_keepers__0__7`");
    assert!(hint.starts_with("did you mean `real_test__lighthouse_keepers__0__"), "{hint}");
    let (_, hint) = failure(json!({"sample_ids": "real_test__light_house_keepers__2__0"}));
    assert_eq!(hint, "did you mean `real_test__lighthouse_keepers__2__0`?");
    let (_, hint) = failure(json!({"sample_ids": "qqq"}));
    assert!(hint.contains("argosy dataset list"), "{hint}");
    let (message, hint) = failure(json!({"category": "sociolgy"}));
    assert_eq!(message, "benchmark_params.category: unknown domain `sociolgy`");
    assert!(hint.starts_with("did you mean `sociology`? the selected splits have `economics`, "), "{hint}");
}

#[test]
fn an_empty_selection_says_why() {
    let (message, hint) = failure(json!({"category": "kite festivals"}));
    assert!(
        message.contains("`kite festivals` is no domain of the selected splits (`real_test`, `synth_test`)"),
        "{message}"
    );
    assert_eq!(hint, "it is one of `synth_dev`: add it to `split`");
    let (message, hint) = failure(json!({"sample_ids": "synth_dev__kite-festivals_0_1__0__88"}));
    assert!(message.ends_with("is left out by `split`"), "{message}");
    assert_eq!(hint, "add \"synth_dev\" to `split`");
    let (message, hint) =
        failure(json!({"category": "economics", "sample_ids": "real_test__lighthouse_keepers__0__0"}));
    assert!(message.ends_with("is left out by `category`"), "{message}");
    assert_eq!(hint, "add \"sociology\" to `category`");
    let (message, _) = failure(json!({"sample_ids": []}));
    assert!(message.contains("an empty list leaves nothing to run"), "{message}");
}
