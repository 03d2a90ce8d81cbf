//! The command line of `run`: AgentCompass's flags under AgentCompass's names, and a few of our own.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};
use serde::Deserialize;

use crate::cli::config::Layer;

/// Arguments of `argosy run`.
#[derive(Args, Clone, Debug, Default)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Benchmark: `discoverybench`.
    #[arg(value_name = "BENCHMARK")]
    pub(crate) benchmark: Option<String>,
    /// Harness: `discovery_agent`.
    #[arg(value_name = "HARNESS")]
    pub(crate) harness: Option<String>,
    /// Model id, as the endpoint knows it.
    #[arg(value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The benchmark, instead of the first position.
    #[arg(long = "benchmark", value_name = "ID", conflicts_with = "benchmark")]
    pub(crate) benchmark_flag: Option<String>,
    /// The harness, instead of the second position.
    #[arg(long = "harness", value_name = "ID", conflicts_with = "harness")]
    pub(crate) harness_flag: Option<String>,
    /// The model, instead of the third position.
    #[arg(long = "model", value_name = "ID", conflicts_with = "model")]
    pub(crate) model_flag: Option<String>,

    /// DiscoveryBench: an upstream checkout, a copy of its data (with --prompt-pack), or an imported bundle.
    #[arg(long, value_name = "PATH", env = "ARGOSY_DATASET", help_heading = "Dataset")]
    pub(crate) dataset: Option<PathBuf>,
    /// Folder in which `discoverybench/` is looked for when --dataset is not given [default: data].
    #[arg(long, value_name = "DIR", help_heading = "Dataset")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Prompt pack of a data-only copy (`argosy dataset pack CHECKOUT` writes one).
    #[arg(long, value_name = "FILE", help_heading = "Dataset")]
    pub(crate) prompt_pack: Option<PathBuf>,
    /// Accept a dataset that is not upstream's pinned commit; every result says so.
    #[arg(long, help_heading = "Dataset")]
    pub(crate) allow_unpinned: bool,

    /// Further configuration files (YAML, JSON, TOML), later ones win.
    #[arg(long, value_name = "FILE", action = ArgAction::Append, help_heading = "Configuration")]
    pub(crate) config: Vec<PathBuf>,
    /// Environment in which the agent's Python runs: `host_process`.
    #[arg(long, value_name = "ID", help_heading = "Configuration")]
    pub(crate) env: Option<String>,
    /// Benchmark parameters (JSON object).
    #[arg(long, value_name = "JSON", help_heading = "Configuration")]
    pub(crate) benchmark_params: Option<String>,
    /// Harness parameters (JSON object).
    #[arg(long, value_name = "JSON", help_heading = "Configuration")]
    pub(crate) harness_params: Option<String>,
    /// Environment parameters (JSON object).
    #[arg(long, value_name = "JSON", help_heading = "Configuration")]
    pub(crate) env_params: Option<String>,
    /// Execution parameters (JSON object): attempts, retries, timeouts.
    #[arg(long, value_name = "JSON", help_heading = "Configuration")]
    pub(crate) execution_params: Option<String>,

    /// Endpoint of the model under test, for example https://host/v1. `${VAR}` is taken from the environment.
    #[arg(long, value_name = "URL", help_heading = "Model")]
    pub(crate) model_base_url: Option<String>,
    /// Key of the endpoint. Prefer `${VAR}` in single quotes: the key then stays out of the process list.
    #[arg(long, value_name = "KEY", help_heading = "Model")]
    pub(crate) model_api_key: Option<String>,
    /// Wire protocol: `openai-chat`, `auto`, or a JSON list of which the first supported one counts.
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub(crate) model_api_protocol: Option<String>,
    /// Model parameters (JSON object): sent to the API, except `max_retries` and `timeout`.
    #[arg(long, value_name = "JSON", help_heading = "Model")]
    pub(crate) model_params: Option<String>,

    /// Tasks at once [default: 32].
    #[arg(long, value_name = "N", help_heading = "Execution")]
    pub(crate) task_concurrency: Option<u32>,
    /// Attempts per task [default: 1].
    #[arg(long, value_name = "N", help_heading = "Execution")]
    pub(crate) k: Option<u32>,
    /// How attempts are combined: `avg`.
    #[arg(long, value_name = "NAME", help_heading = "Execution")]
    pub(crate) attempt_strategy: Option<String>,
    /// Retries of a task invalidated by infrastructure [default: 0].
    #[arg(long, value_name = "N", help_heading = "Execution")]
    pub(crate) max_retries: Option<u32>,
    /// Regular expressions (JSON list) of ERROR issues that are retried too.
    #[arg(long, value_name = "JSON", help_heading = "Execution")]
    pub(crate) retry_pattern_list: Option<String>,

    /// Bound of the whole run after preflight, in seconds; 0: none [default: 360000]. The run can be gone on with.
    #[arg(long, value_name = "N", help_heading = "Execution")]
    pub(crate) timeout_seconds: Option<u64>,

    /// Where runs are written [default: results].
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) results_dir: Option<PathBuf>,
    /// Folder below the results directory; may have several levels.
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub(crate) run_name: Option<String>,
    /// Name of the run's directory [default: the local time].
    #[arg(long, value_name = "ID", help_heading = "Output")]
    pub(crate) run_id: Option<String>,
    /// Go on with an interrupted run in its directory: the named one, or the newest of this model.
    #[arg(long, value_name = "RUN_ID", num_args = 0..=1, default_missing_value = "", help_heading = "Output")]
    pub(crate) reuse: Option<String>,
    /// Progress on stderr: live where it is a terminal (`auto`), a line now and then (`plain`), or none
    /// [default: auto].
    #[arg(long, value_name = "HOW", value_enum, help_heading = "Output", hide_possible_values = true)]
    pub(crate) progress: Option<Progress>,
    /// Log on stderr: DEBUG, INFO, WARNING, ERROR, CRITICAL [default: WARNING].
    #[arg(long, value_name = "LEVEL", help_heading = "Output")]
    pub(crate) log_level: Option<String>,
    /// Log in the run's run.log [default: DEBUG].
    #[arg(long, value_name = "LEVEL", help_heading = "Output")]
    pub(crate) file_log_level: Option<String>,
    /// Start without asking model and judge one small question first.
    #[arg(long, help_heading = "Output")]
    pub(crate) no_preflight: bool,
    /// List the tasks, the parameters in force and the calls to expect; run nothing.
    #[arg(long, help_heading = "Output")]
    pub(crate) dry_run: bool,

    /// Switches of AgentCompass that ask for what always happens here.
    #[command(flatten)]
    pub(crate) always_off: AlwaysOff,

    /// What `launch` says about this run besides: values between the environment and the flags.
    #[arg(skip)]
    pub(crate) layers: Vec<Layer>,
    /// The request's name in a launch file: it names the directory instead of model, benchmark and harness.
    #[arg(skip)]
    pub(crate) request_name: Option<String>,
}

/// See `argosy help compat`.
#[derive(Args, Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag that is accepted and changes nothing")]
pub(crate) struct AlwaysOff {
    #[arg(long, hide = true)]
    no_wrap_api_key: bool,
    #[arg(long, hide = true)]
    no_auto_install_dependencies: bool,
    #[arg(long, hide = true)]
    no_keep_environment: bool,
    #[arg(long, hide = true)]
    no_enable_analysis: bool,
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Progress {
    /// Live on a terminal, else plain.
    #[default]
    Auto,
    /// One line now and then.
    Plain,
    /// Nothing.
    None,
}

const EXAMPLES: &str = "\
Examples:
  One real task, agent and judge on one endpoint:
    argosy run discoverybench discovery_agent gpt-4o --dataset discoverybench --env host_process \\
      --benchmark-params '{\"judge_model\":{\"id\":\"gpt-4o\"},\"isolate_network\":false,
                          \"sample_ids\":[\"real_test__nls_ses__0__0\"]}' \\
      --model-base-url https://api.openai.com/v1 --model-api-key '${OPENAI_API_KEY}'

  A rehearsal that costs nothing:
    argosy mock-model --listen 127.0.0.1:8999 &
    argosy run discoverybench discovery_agent m --dataset discoverybench --env host_process \\
      --benchmark-params '{\"judge_model\":{\"id\":\"j\"},\"isolate_network\":false}' \\
      --model-base-url http://127.0.0.1:8999/v1

Exit codes: 0 all tasks done without a FATAL issue, 1 some task invalidated or another failure, 2 bad input,
130 interrupted. What is different from AgentCompass: argosy help compat.";
