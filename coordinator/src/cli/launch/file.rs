//! AgentCompass's launch file: `defaults` under each of `requests`, a component's parameters beside its `id`.

use std::{collections::HashSet, path::Path};

use argosy_shared::spec::{BENCHMARK, HARNESS, nearest};
use serde_json::{Map, Value, json};

use crate::cli::{
    config::{self, Layer, resolve},
    output::Usage,
    run,
};

const TOP: [&str; 6] = ["version", "name", "task_concurrency", "runtime", "defaults", "requests"];
const REQUEST: [&str; 8] = ["name", "benchmark", "harness", "environment", "model", "execution", "runtime", "output"];
const MODEL: [&str; 6] = ["id", "base_url", "api_key", "api_protocol", "params", "wrap_api_key"];
const RUN_RUNTIME: [&str; 3] = ["reuse", "reuse_run_id", "checkpoint_resume"];
const OUTPUT: [&str; 2] = ["run_name", "run_id"];

/// A launch file, read.
#[derive(Debug)]
pub(super) struct Launch {
    /// Its name; may be empty.
    pub(super) name: String,
    /// In the order of the file.
    pub(super) requests: Vec<Request>,
}

/// One run of it.
#[derive(Debug)]
pub(super) struct Request {
    /// Unique in the file.
    pub(super) name: String,
    /// The run as `argosy run` would be given it.
    pub(super) arguments: run::Arguments,
}

impl Launch {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// It cannot be read; an unknown field; two requests of one name; another version.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let place = path.display().to_string();
        Self::of(&place, config::mapping("launch file", path)?)
    }

    fn of(place: &str, top: Map<String, Value>) -> anyhow::Result<Self> {
        known(place, "", &top, &TOP)?;
        match top.get("version") {
            None => {}
            Some(version) if *version == json!(1) => {}
            Some(other) => {
                return Err(Usage::new(format!("{place}: version: {other} is not known")).hint("version: 1").into());
            }
        }
        let defaults = mapping(place, "defaults", top.get("defaults"))?;
        known(place, "defaults", &defaults, &REQUEST[1..])?;
        let Some(Value::Array(requests)) = top.get("requests").filter(|list| **list != json!([])) else {
            return Err(Usage::new(format!("{place}: requests: expected a list with at least one request")).into());
        };
        let mut common = Vec::new();
        let runtime = mapping(place, "runtime", top.get("runtime"))?;
        common.push(Layer::new(place, "runtime", Value::Object(runtime)));
        if let Some(n) = top.get("task_concurrency") {
            common.push(Layer::new(place, "execution", json!({"task_concurrency": n})));
        }
        let mut names = HashSet::new();
        let requests = requests
            .iter()
            .enumerate()
            .map(|(index, value)| {
                let at = format!("requests[{index}]");
                let own = mapping(place, &at, Some(value))?;
                known(place, &at, &own, &REQUEST)?;
                let name = text(place, &format!("{at}.name"), own.get("name"))?.unwrap_or_default();
                let name = name.trim().to_owned();
                if name.is_empty() {
                    return Err(Usage::new(format!("{place}: {at}.name: a request needs a name")).into());
                }
                if !names.insert(name.clone()) {
                    return Err(Usage::new(format!("{place}: {at}.name: a request `{name}` is there already"))
                        .hint("the name is the run's folder: give each request its own")
                        .into());
                }
                request(place, &at, name, &defaults, &own, common.clone())
            })
            .collect::<anyhow::Result<_>>()?;
        Ok(Self { name: text(place, "name", top.get("name"))?.unwrap_or_default(), requests })
    }
}

fn request(
    place: &str,
    at: &str,
    name: String,
    defaults: &Map<String, Value>,
    own: &Map<String, Value>,
    mut layers: Vec<Layer>,
) -> anyhow::Result<Request> {
    let both = |section: &str| -> anyhow::Result<[Map<String, Value>; 2]> {
        Ok([
            mapping(place, &format!("defaults.{section}"), defaults.get(section))?,
            mapping(place, &format!("{at}.{section}"), own.get(section))?,
        ])
    };
    let from = [format!("{place}, defaults"), format!("{place}, {at}")];

    // Components: the id is the request's or the default's, and the other's parameters count only for the same id.
    let mut ids = Vec::with_capacity(3);
    let kinds = [
        ("benchmark", "benchmarks", Some(BENCHMARK)),
        ("harness", "harnesses", Some(HARNESS)),
        ("environment", "environments", None),
    ];
    for (section, plural, only) in kinds {
        let [mut low, mut high] = both(section)?;
        let low_id = text(place, &format!("defaults.{section}.id"), low.shift_remove("id").as_ref())?;
        let high_id = text(place, &format!("{at}.{section}.id"), high.shift_remove("id").as_ref())?;
        let Some(id) = high_id.clone().or_else(|| low_id.clone()) else {
            return Err(Usage::new(format!(
                "{place}: {at}.{section}.id: no {section} is named, in `defaults` neither"
            ))
            .hint(format!("{section}: {{id: {}}}", only.unwrap_or("host_process")))
            .into());
        };
        if low_id.is_none_or(|low_id| low_id == id) {
            layers.push(Layer::component(from[0].clone(), plural, &id, low));
        }
        layers.push(Layer::component(from[1].clone(), plural, &id, high));
        ids.push(id);
    }

    for (origin, values) in from.iter().zip(both("execution")?) {
        if values.contains_key("task_concurrency") {
            return Err(Usage::new(format!("{origin}: execution.task_concurrency is not a request's to choose"))
                .hint("put `task_concurrency` at the top of the file")
                .into());
        }
        layers.push(Layer::new(origin.clone(), "execution", Value::Object(values)));
    }
    let mut reuse = None;
    for (origin, mut values) in from.iter().zip(both("runtime")?) {
        known(origin, "runtime", &values, &RUN_RUNTIME)?;
        if let Some(id) = text(origin, "runtime.reuse_run_id", values.shift_remove("reuse_run_id").as_ref())? {
            reuse = (!id.is_empty()).then_some(id);
        }
        layers.push(Layer::new(origin.clone(), "runtime", Value::Object(values)));
    }
    let [low, high] = both("output")?;
    known(&from[0], "output", &low, &OUTPUT)?;
    known(&from[1], "output", &high, &OUTPUT)?;
    let output = |field: &str| text(place, &format!("output.{field}"), high.get(field).or_else(|| low.get(field)));
    let [mut model, high] = both("model")?;
    known(&from[0], "model", &model, &MODEL)?;
    known(&from[1], "model", &high, &MODEL)?;
    merge(&mut model, high);
    if model.get("wrap_api_key").is_some_and(|wrap| !matches!(wrap, Value::Null | Value::Bool(false))) {
        return Err(Usage::new(format!("{place}: model.wrap_api_key has no meaning here"))
            .hint("put the credential that your gateway wants into `api_key`")
            .into());
    }
    let field = |name: &str| text(place, &format!("{at}.model.{name}"), model.get(name));
    let protocol = match model.get("api_protocol") {
        Some(list @ Value::Array(_)) => Some(list.to_string()),
        _ => field("api_protocol")?,
    };
    let [benchmark, harness, environment]: [Option<String>; 3] =
        [ids.first().cloned(), ids.get(1).cloned(), ids.get(2).cloned()];
    let arguments = run::Arguments {
        benchmark,
        harness,
        env: environment,
        model: field("id")?.map(|id| resolve("model.id", &id)).transpose()?,
        model_base_url: field("base_url")?,
        model_api_key: field("api_key")?,
        model_api_protocol: protocol,
        model_params: Some(Value::Object(mapping(place, "model.params", model.get("params"))?).to_string()),
        run_name: output("run_name")?.map(|name| resolve("output.run_name", &name)).transpose()?,
        run_id: output("run_id")?.filter(|id| !id.is_empty()),
        reuse,
        layers,
        request_name: Some(name.clone()),
        ..run::Arguments::default()
    };
    Ok(Request { name, arguments })
}

/// Merges `over` into `base`: objects member by member, everything else replaced.
fn merge(base: &mut Map<String, Value>, over: Map<String, Value>) {
    for (name, value) in over {
        match (base.get_mut(&name), value) {
            (Some(Value::Object(base)), Value::Object(over)) => merge(base, over),
            (_, value) => {
                base.insert(name, value);
            }
        }
    }
}

fn mapping(place: &str, at: &str, value: Option<&Value>) -> anyhow::Result<Map<String, Value>> {
    match value {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(members)) => Ok(members.clone()),
        Some(other) => Err(Usage::new(format!("{place}: {at}: expected a mapping, found `{other}`")).into()),
    }
}

fn text(place: &str, at: &str, value: Option<&Value>) -> anyhow::Result<Option<String>> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(other) => Err(Usage::new(format!("{place}: {at}: expected text, found `{other}`")).into()),
    }
}

fn known(place: &str, at: &str, members: &Map<String, Value>, names: &[&str]) -> anyhow::Result<()> {
    let Some(name) = members.keys().find(|name| !names.contains(&name.as_str())) else { return Ok(()) };
    let dot = if at.is_empty() { "" } else { "." };
    let near = nearest(name, names.iter().copied()).map_or_else(String::new, |near| format!("did you mean `{near}`? "));
    Err(Usage::new(format!("{place}: unknown field `{at}{dot}{name}`"))
        .hint(format!("{near}valid: {}", names.join(", ")))
        .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<Launch> {
        let value: Value = serde_saphyr::from_str(text).unwrap();
        Launch::of("sweep.yaml", value.as_object().unwrap().clone())
    }

    const SWEEP: &str = "
version: 1
name: sweep
task_concurrency: 3
runtime: {results_dir: /tmp/x, progress: plain}
defaults:
  benchmark: {id: discoverybench, judge_model: {id: j}, split: real_test}
  harness: {id: discovery_agent}
  environment: {id: host_process}
  model: {base_url: 'http://h/v1', api_key: '${KEY}', api_protocol: [x, openai-chat], params: {max_retries: 0, a: 1}}
  output: {run_name: sweep1}
requests:
  - {name: model-a, model: {id: a}}
  - {name: model-b, model: {id: b, params: {a: 2}}, benchmark: {split: synth_test}, runtime: {reuse_run_id: r1}}
";

    #[test]
    fn requests_inherit_member_by_member() {
        let launch = read(SWEEP).unwrap();
        assert_eq!((launch.name.as_str(), launch.requests.len()), ("sweep", 2));
        let b = &launch.requests[1].arguments;
        assert_eq!(b.model.as_deref(), Some("b"));
        assert_eq!(b.model_api_key.as_deref(), Some("${KEY}"));
        assert_eq!(b.model_api_protocol.as_deref(), Some(r#"["x","openai-chat"]"#));
        assert_eq!(b.model_params.as_deref(), Some(r#"{"max_retries":0,"a":2}"#));
        assert_eq!((b.run_name.as_deref(), b.reuse.as_deref()), (Some("sweep1"), Some("r1")));
        let mut config = config::Config::default();
        for layer in &b.layers {
            config.add(layer.clone()).unwrap();
        }
        let benchmark = Value::Object(config.component("benchmarks", "discoverybench").unwrap());
        assert_eq!(benchmark, json!({"judge_model": {"id": "j"}, "split": "synth_test"}));
        assert_eq!(config.section("execution").unwrap()["task_concurrency"], json!(3));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        for (from, to, expected) in [
            ("version: 1", "version: 2", "version: 2 is not known"),
            ("name: model-b", "name: model-a", "requests[1].name: a request `model-a` is there already"),
            ("name: model-b", "name: ''", "requests[1].name: a request needs a name"),
            ("requests:\n  - {name: model-a", "request:\n  - {name: model-a", "did you mean `requests`"),
            ("{name: model-a, model:", "{name: model-a, modell:", "unknown field `requests[0].modell`"),
            ("{id: a}", "{id: a, url: x}", "unknown field `model.url`"),
            ("{id: a}", "{id: a, wrap_api_key: true}", "wrap_api_key has no meaning"),
            ("  environment: {id: host_process}\n", "", "requests[0].environment.id"),
            ("{id: a}}", "{id: a}, execution: {task_concurrency: 1}}", "not a request's to choose"),
        ] {
            let text = SWEEP.replacen(from, to, 1);
            assert_ne!(text, SWEEP);
            let error = read(&text).unwrap_err().to_string();
            assert!(error.contains(expected) && error.contains("sweep.yaml"), "{error}");
        }
    }
}
