//! `argosy config show|docs`.

use std::{path::PathBuf, process::ExitCode};

use argosy_shared::spec::{BENCHMARK, EnvironmentId, HARNESS};
use clap::{Args, Subcommand, ValueEnum};

use super::{Config, docs, show};
use crate::cli::output::{Usage, data};

/// Arguments of `argosy config`.
#[derive(Subcommand, Debug)]
pub(crate) enum Arguments {
    /// Print the configuration in force: files, ARGOSY_ variables and defaults, each value with its source.
    Show(Show),
    /// Print all keys, or those of one component, with type, default and meaning.
    Docs(Docs),
}

/// Arguments of `argosy config show`.
#[derive(Args, Debug)]
pub(crate) struct Show {
    /// Further configuration files, later ones win.
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// Benchmarks to show [default: all].
    #[arg(long, value_name = "ID", num_args = 1..)]
    benchmark: Vec<String>,
    /// Harnesses to show [default: all].
    #[arg(long, value_name = "ID", num_args = 1..)]
    harness: Vec<String>,
    /// Environments to show [default: all].
    #[arg(long, value_name = "ID", num_args = 1..)]
    env: Vec<String>,
    /// How it is written.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Arguments of `argosy config docs`.
#[derive(Args, Debug)]
pub(crate) struct Docs {
    /// Kind of component [default: everything, `execution` and `runtime` too].
    #[arg(value_enum)]
    kind: Option<Kind>,
    /// Its id [default: all of the kind].
    component_id: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Values with their sources as comments.
    #[default]
    Yaml,
    /// `values`, and `origins` by path.
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Benchmark,
    Harness,
    Env,
}

impl Kind {
    fn section(self) -> &'static str {
        match self {
            Self::Benchmark => "benchmarks",
            Self::Harness => "harnesses",
            Self::Env => "environments",
        }
    }

    fn check(self, id: &str) -> anyhow::Result<()> {
        let known = match self {
            Self::Benchmark => vec![BENCHMARK],
            Self::Harness => vec![HARNESS],
            Self::Env => EnvironmentId::ALL.map(EnvironmentId::as_str).to_vec(),
        };
        if known.contains(&id) {
            return Ok(());
        }
        Err(Usage::new(format!("nothing in `{}` is called `{id}`", self.section()))
            .hint(format!("valid: {}", known.join(", ")))
            .into())
    }
}

/// Carries the command out.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    match arguments {
        Arguments::Show(arguments) => {
            let config = Config::load(&arguments.config)?;
            let chosen = [
                (Kind::Benchmark, &arguments.benchmark),
                (Kind::Harness, &arguments.harness),
                (Kind::Env, &arguments.env),
            ];
            for (kind, ids) in chosen {
                ids.iter().try_for_each(|id| kind.check(id))?;
            }
            let wanted = |place: &str| {
                chosen.iter().all(|(kind, ids)| match place.split_once('.') {
                    Some((section, id)) if section == kind.section() => {
                        ids.is_empty() || ids.iter().any(|wanted| wanted == id)
                    }
                    _ => true,
                })
            };
            data(match arguments.format {
                Format::Yaml => show::yaml(&config, wanted)?,
                Format::Json => show::json(&config, wanted)?,
            });
        }
        Arguments::Docs(Docs { kind, component_id }) => {
            if let (Some(kind), Some(id)) = (kind, &component_id) {
                kind.check(id)?;
            }
            data(docs::text(|section| match (kind, &component_id) {
                (None, _) => true,
                (Some(kind), None) => section.starts_with(kind.section()),
                (Some(kind), Some(id)) => section == format!("{}.{id}", kind.section()),
            }));
        }
    }
    Ok(ExitCode::SUCCESS)
}
