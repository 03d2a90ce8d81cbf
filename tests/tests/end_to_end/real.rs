//! Runs over the real dataset whose scores are computed here from the script's own figures, with a formula that shares
//! no code with the judge.

use std::{collections::BTreeMap, path::PathBuf};

use argosy_coordinator::{
    dataset::{self, Dataset, OpenOptions},
    stand_in::Kind,
};
use argosy_shared::task::{Split, Task};
use argosy_tests::{
    places,
    run_files::codes,
    server::Server,
    stage::{Stage, finish},
};
use serde_json::{Value, json};

/// The gold of every task has this many sub-hypotheses, as far as the scripted judge can see.
const GOLDS: usize = 2;

/// What the scripted agent and judge do with a task; everything follows from the number of its question.
struct Plan {
    number: usize,
    /// Whether the agent gives an answer.
    answers: bool,
    /// For each claim of the answer: whether its context matches any gold's.
    claims: Vec<bool>,
    sizes: [u32; 2],
    intersection: u32,
    relation: &'static str,
}

impl Plan {
    fn of(number: usize) -> Self {
        let bits = number.wrapping_mul(2_654_435_761) >> 4;
        let sizes = [1 + (bits % 4) as u32, 1 + (bits / 4 % 4) as u32];
        Self {
            number,
            answers: !bits.is_multiple_of(11),
            claims: (0..=bits / 16 % 3).map(|claim| (bits >> (7 + claim)) & 3 > 0).collect(),
            sizes,
            intersection: (bits / 64) as u32 % (1 + sizes[0].min(sizes[1])),
            relation: ["A", "B", "A", "C"][bits / 512 % 4],
        }
    }

    /// Score, recall and accuracy: claims take the golds in order while there are any; each pair's accuracy is the F1
    /// of the variables times the relation's worth.
    fn score(&self) -> [f64; 3] {
        if !self.answers {
            return [0.0; 3];
        }
        let matched = self.claims.iter().filter(|matches| **matches).count().min(GOLDS) as f64;
        // F1 of the shared share of either set is the Dice coefficient.
        let f1 = 2.0 * f64::from(self.intersection) / f64::from(self.sizes[0] + self.sizes[1]);
        let worth = match self.relation {
            "A" => 1.0,
            "B" => 0.5,
            _ => 0.0,
        };
        let recall = matched / GOLDS as f64;
        let accuracy = matched * f1 * worth / self.claims.len() as f64;
        [recall * accuracy, recall, accuracy]
    }

    fn marker(&self) -> String {
        format!("[answer number {}]", self.number)
    }

    fn script(&self, task: &Task, looks: usize) -> Value {
        let marker = self.marker();
        let file = &looked_at(task).name;
        let code = format!("size = len(open({file:?}, 'rb').read())\nprint('bytes:', size)");
        let mut agent: Vec<String> =
            (0..looks).map(|_| format!("Action: python_repl_ast\nAction Input: {code}")).collect();
        agent.push(match self.answers {
            true => format!("Final Answer: {marker} it all hangs together."),
            false => "I would rather not say.".to_owned(),
        });
        let claims: Vec<Value> = (0..self.claims.len())
            .map(|claim| {
                json!({"text": format!("{marker} claim {claim}"), "context": format!("{marker} context {claim}."),
                       "variables": ["a", "b"], "relations": "somehow"})
            })
            .collect();
        let contexts: Vec<Value> = self
            .claims
            .iter()
            .enumerate()
            .map(|(claim, matches)| {
                json!({"match": format!("{marker} context {claim}."), "content": {"match": matches}})
            })
            .collect();
        let [a, b] = self.sizes;
        let mut files = vec![task.question.clone()];
        files.extend(task.datasets.iter().map(|dataset| format!("/{}'", dataset.name)));
        json!({
            "task": task.id.0,
            "files": files,
            "judge_match": [marker],
            "agent": agent,
            "judge": {
                "sub_hypotheses": [{"content": {"sub_hypo": claims}}],
                "context": contexts,
                "variables": [{"content": {"sizeA": a, "sizeB": b, "intersection": self.intersection, "explanation": ""}}],
                "relation": [{"content": {"answer": self.relation, "explanation": ""}}],
            },
        })
    }
}

/// The file the scripted agent reads: the same for tasks that list the same files in another order.
fn looked_at(task: &Task) -> &argosy_shared::task::Dataset {
    task.datasets.iter().min_by_key(|dataset| &dataset.name).expect("a data file")
}

/// The script for all tasks, and each task's plan. Tasks with the same question about the same files cannot be told
/// apart by what is asked, so they share one.
fn script(tasks: &[&Task], looks: usize) -> (Value, BTreeMap<String, Plan>) {
    let mut numbers = BTreeMap::new();
    let mut scripts = Vec::new();
    let mut plans = BTreeMap::new();
    for task in tasks {
        let mut files: Vec<&str> = task.datasets.iter().map(|dataset| dataset.name.as_str()).collect();
        // archaeology__2__0 and archaeology__26__0 list the same files in another order.
        files.sort_unstable();
        let next = numbers.len();
        let number = *numbers.entry((task.question.as_str(), files)).or_insert(next);
        if number == next {
            scripts.push(Plan::of(number).script(task, looks));
        }
        plans.insert(task.id.0.clone(), Plan::of(number));
    }
    let golds: Vec<Value> = (0..GOLDS)
        .map(|gold| {
            json!({"text": format!("gold claim {gold}"), "context": format!("gold context {gold}"),
                   "variables": ["a"], "relations": "somehow"})
        })
        .collect();
    let script = json!({
        "latency": {"fixed": 0},
        "tasks": scripts,
        "judge": {"sub_hypotheses": [{"content": {"sub_hypo": golds}}]},
    });
    (script, plans)
}

/// The real dataset as `--dataset` and, for a copy of its data, `--prompt-pack`.
fn real() -> Option<(PathBuf, Option<PathBuf>)> {
    if let Some(checkout) = places::upstream_checkout() {
        return Some((checkout, None));
    }
    Some((places::dataset()?, Some(places::prompt_pack()?)))
}

fn sail(name: &str, params: &Value, agent: &str, concurrency: &str) {
    let Some((path, pack)) = real() else {
        places::skipped(name, "no real dataset with a prompt pack; set DISCOVERYBENCH_ROOT to a checkout");
        return;
    };
    let options = OpenOptions { prompt_pack: pack.clone(), allow_unpinned: true };
    let dataset: Dataset = dataset::open(&path, &options).expect("the dataset");
    let tasks: Vec<&Task> = dataset.data.tasks.iter().filter(|task| Split::DEFAULT.contains(&task.split)).collect();
    assert_eq!(tasks.len(), 439);
    let looks = if agent == "coder" { 1 } else { 2 };
    let (script, plans) = script(&tasks, looks);

    let stage = Stage::new();
    let server = Server::start(&script);
    let mut command = stage.argosy();
    command.args(["run", "discoverybench", "discovery_agent", "m", "--env", "host_process", "--allow-unpinned"]);
    command.arg("--dataset").arg(&path).arg("--results-dir").arg(stage.results());
    if let Some(pack) = &pack {
        command.arg("--prompt-pack").arg(pack);
    }
    command.args(["--run-id", "r", "--progress", "none", "--model-base-url", &server.base_url()]);
    command.args(["--task-concurrency", concurrency, "--benchmark-params", &params.to_string()]);
    command.args(["--harness-params", &json!({"agent_type": agent}).to_string(), "--no-preflight"]);
    let ended = finish(&mut command).expect(0);

    let run = stage.files("r");
    let results = run.single_results();
    let wanted = params["limit"].as_u64().unwrap_or(439) as usize;
    assert_eq!(results.len(), wanted);
    let (mut turns, mut asked, mut sums) = (0, 0, BTreeMap::<String, (f64, u32)>::new());
    for (id, result) in &results {
        let plan = &plans[id];
        let task = dataset.data.tasks.iter().find(|task| task.id.0 == *id).expect("a task of the dataset");
        for (name, wanted) in ["score", "recall_context", "mean_accuracy_score"].into_iter().zip(plan.score()) {
            let found = result["metrics"][name].as_f64().unwrap_or(f64::NAN);
            assert!((found - wanted).abs() < 1e-12, "{id} {name}: {found}, not {wanted}");
        }
        let issues: &[&str] = if plan.answers { &[] } else { &["model_output_invalid"] };
        assert_eq!(codes(result), issues, "{id}");
        let steps = result["trajectory"]["steps"].as_array().expect("steps");
        assert_eq!(steps.len(), looks + 1, "{id}");
        turns += steps.len() as u64;
        asked += u64::from(plan.answers);
        // The agent's Python saw the real file.
        let size = looked_at(task).blob.bytes;
        assert_eq!(steps[0]["observation"][0]["content"], format!("bytes: {size}\n"), "{id}");
        for level in [
            "overall".to_owned(),
            format!("overall/{}", task.split),
            format!("overall/{0}/{1}", task.split, task.category()),
        ] {
            let (sum, count) = sums.entry(level).or_default();
            *sum += plan.score()[0];
            *count += 1;
        }
    }
    let hierarchy = run.json("metrics.json")["series"][0]["hierarchy"].clone();
    assert_eq!(hierarchy.as_object().expect("levels").len(), sums.len());
    for (level, (sum, count)) in &sums {
        let (found, wanted) = (hierarchy[level]["value"].as_f64().unwrap_or(f64::NAN), sum / f64::from(*count));
        assert!((found - wanted).abs() < 1e-12, "{level}: {found}, not {wanted}");
    }
    let stats = server.stats();
    assert_eq!(stats.by_kind[&Kind::Agent], turns);
    assert_eq!(stats.by_kind[&Kind::SubHypotheses], 2 * asked);
    assert_eq!(stats.errors, BTreeMap::new());
    assert_eq!(stage.leftovers(), Vec::<PathBuf>::new());
    report(name, &ended.stdout);
}

#[allow(clippy::print_stderr, reason = "the table is what a reader of the test's output wants to see")]
fn report(name: &str, table: &str) {
    eprintln!("{name}\n{table}");
}

fn params() -> Value {
    json!({"judge_model": {"id": "j"}, "isolate_network": false})
}

#[test]
fn a_part_of_the_real_dataset_scores_as_computed_from_the_script() {
    for agent in ["coder", "react"] {
        let mut params = params();
        params["limit"] = json!(40);
        params["shuffle_seed"] = json!(7);
        sail(&format!("40 real tasks, {agent}"), &params, agent, "8");
    }
}

#[test]
fn the_whole_real_dataset_scores_as_computed_from_the_script() {
    if std::env::var_os("ARGOSY_TEST_FULL").is_none() {
        places::skipped("439 real tasks", "takes minutes; set ARGOSY_TEST_FULL=1");
        return;
    }
    for agent in ["coder", "react"] {
        sail(&format!("439 real tasks, {agent}"), &params(), agent, "16");
    }
}
