//! What AgentCompass has and Argosy has not: named here, shown by `argosy help compat`, and refused where it is given.

use std::fmt::Write as _;

use serde_json::Value;

/// A flag or a key without a meaning here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Absent {
    /// Flags, separated by blanks; empty for a key that has none.
    flags: &'static str,
    /// Keys, separated by blanks.
    keys: &'static str,
    /// Why, lower case.
    pub(crate) why: &'static str,
    /// What to do instead.
    instead: &'static str,
}

impl Absent {
    /// The next step.
    pub(crate) fn hint(&self) -> String {
        format!("{}; `argosy help compat` lists all differences", self.instead)
    }

    /// Whether a value asks for what happens here anyway.
    pub(crate) fn is_harmless(&self, value: &Value) -> bool {
        match value {
            Value::Null => true,
            // Restoring from checkpoints is what always happens here.
            Value::Bool(on) => *on == (self.keys == "runtime.checkpoint_resume"),
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => members.is_empty(),
            Value::Number(_) | Value::String(_) => false,
        }
    }
}

const fn absent(flags: &'static str, keys: &'static str, why: &'static str, instead: &'static str) -> Absent {
    Absent { flags, keys, why, instead }
}

const ABSENT: &[Absent] = &[
    absent(
        "--wrap-api-key",
        "",
        "it wraps the key for one internal gateway",
        "put the credential that your gateway wants into --model-api-key",
    ),
    absent(
        "--env-open-qps",
        "runtime.env_open_qps",
        "environments are made by workers, each at its own pace",
        "bound what runs at once by --task-concurrency",
    ),
    absent(
        "--provider-limit",
        "runtime.provider_limits",
        "a worker's slots bound what runs at once",
        "use --task-concurrency",
    ),
    absent(
        "--recipe",
        "execution.enabled_recipes",
        "there are no recipes: a task's environment follows from --env and --env-params",
        "leave it away",
    ),
    absent(
        "--recipe-dir",
        "runtime.recipe_dirs",
        "there are no recipes: a task's environment follows from --env and --env-params",
        "leave it away",
    ),
    absent(
        "--no-checkpoint-resume",
        "runtime.checkpoint_resume",
        "what was paid for is never thrown away: an answered attempt is only judged",
        "leave --reuse away to begin anew",
    ),
    absent(
        "--auto-install-dependencies",
        "runtime.auto_install_dependencies",
        "Argosy is one binary without optional parts",
        "install the agent's Python packages where --env-params says `python`",
    ),
    absent(
        "--keep-environment",
        "execution.keep_environment",
        "a sandbox is always destroyed; result, trajectory and observations are kept",
        "read `details/` in the run directory",
    ),
    absent(
        "--enable-analysis",
        "execution.enable_analysis",
        "there are no analyzers",
        "`argosy summary` computes statistics of a finished run",
    ),
    absent(
        "--analysis-params",
        "execution.analysis_params",
        "there are no analyzers",
        "`argosy summary` computes statistics of a finished run",
    ),
    absent(
        "",
        "runtime.log_file",
        "each run logs into `run.log` in its own directory",
        "set `runtime.file_log_level` for what is in it",
    ),
    absent(
        "",
        "execution.run_timer_compensation_seconds",
        "the agent loop is bounded by run_timeout_seconds itself, without a second watchdog",
        "set `execution.run_timeout_seconds`",
    ),
    absent(
        "",
        "execution.evaluation_timeout_seconds execution.evaluation_timeout_multiplier",
        "each judge request is bounded by itself",
        "set `judge_model.params.timeout`",
    ),
    absent("", "execution.runresult_collect_timeout_seconds", "collecting a result has a fixed bound", "leave it away"),
    absent(
        "",
        "execution.artifact_limits execution.artifact_collect execution.artifact_collect_timeout_seconds execution.artifacts execution.save_artifacts",
        "DiscoveryBench has no artifacts: what is scored is the answer, and it is in the result",
        "leave it away",
    ),
];

/// The negative forms of AgentCompass's switches: they ask for what always happens here and are accepted.
pub(crate) const ALWAYS_OFF: [&str; 4] =
    ["--no-wrap-api-key", "--no-auto-install-dependencies", "--no-keep-environment", "--no-enable-analysis"];

/// What there is to say about a flag that clap does not know.
pub(crate) fn absent_flag(flag: &str) -> Option<&'static Absent> {
    ABSENT.iter().find(|absent| absent.flags.split(' ').any(|known| !known.is_empty() && known == flag))
}

/// What there is to say about a configuration key, given by its whole path.
pub(crate) fn absent_key(path: &str) -> Option<&'static Absent> {
    ABSENT.iter().find(|absent| absent.keys.split(' ').any(|known| !known.is_empty() && known == path))
}

/// The page.
pub(crate) fn text() -> String {
    let mut text = "\
What is different from AgentCompass 1.0.1.

Commands of the same name take the same flags with the same meaning and defaults, except for these.

Not here; given all the same, they are refused (exit code 2):
"
    .to_owned();
    for Absent { flags, keys, why, instead } in ABSENT {
        let names: Vec<&str> = [*flags, *keys].into_iter().filter(|names| !names.is_empty()).collect();
        // Writing into a String cannot fail.
        let _ = write!(text, "\n  {}\n      {why}\n      instead: {instead}\n", names.join("  |  "));
    }
    text.push_str("\nAccepted, since they ask for what always happens here:\n  ");
    text.push_str(&ALWAYS_OFF.join(", "));
    text.push_str(
        "\n
Here with another default or meaning:

  --env             no default: code of a model never runs on the host unless `--env host_process` says so
  --log-level       default WARNING instead of INFO; --progress tells how far a run is
  --progress auto   plain lines where stderr is no terminal; AgentCompass shows nothing there
  --data-dir        only says where `discoverybench/` is looked for; --dataset names it outright
  --reuse           goes on in the same run directory instead of copying results into a new one, and only if all that
                    can change a score is the same; without a run to go on with it is refused (in `launch`, and with
                    `runtime.reuse: true`, a run is begun)
  configuration     argosy.yaml instead of config.yaml; ~/.config/argosy/config.yaml; also TOML; also ARGOSY_ variables
  run directory     a model id that must be changed to be a directory's name gets part of its digest, so that `a/b` and
                    `a_b` never share one

Only here: --dataset, --prompt-pack, --allow-unpinned, --no-preflight, --dry-run of `run`; the commands demo, dataset,
mock-model, score; benchmark parameters limit, shuffle_seed, judge_policy.

Not here: the commands analysis, view (AgentCompass's own viewer shows Argosy's runs), env, list analyzer, list dump.

Exit codes: 0 done, 1 some task invalidated, time out, or another failure, 2 bad input (an unknown benchmark parameter
too, which AgentCompass answers with 1), 130 ended by SIGINT or SIGTERM. After 1 and 130 the run can be gone on with.",
    );
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_values_that_change_nothing_are_harmless() {
        let resume = absent_key("runtime.checkpoint_resume").unwrap();
        assert!(resume.is_harmless(&json!(true)) && !resume.is_harmless(&json!(false)));
        let analysis = absent_key("execution.enable_analysis").unwrap();
        assert!(analysis.is_harmless(&json!(false)) && !analysis.is_harmless(&json!(true)));
        let limits = absent_key("runtime.provider_limits").unwrap();
        assert!(limits.is_harmless(&json!({})) && !limits.is_harmless(&json!({"docker": 1})));
        assert!(absent_key("").is_none() && absent_flag("").is_none() && absent_key("execution.k").is_none());
    }
}
