//! The log: warnings on stderr, everything in the run's `run.log`. Credentials in force are masked in both.
//!
//! The subscriber is installed once; which levels pass and which file is written follow the run that is carried out.

mod line;

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use argosy_shared::{redact::Redactor, run_dir::names::RUN_LOG};
use tracing::Subscriber;
use tracing_subscriber::{
    Layer,
    filter::{LevelFilter, Targets},
    fmt::MakeWriter,
    layer::SubscriberExt as _,
    registry::LookupSpan,
    reload,
    util::SubscriberInitExt as _,
};

use super::output::{Usage, say};

/// A level under Python's names, as AgentCompass takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level(LevelFilter);

impl Level {
    /// Reads `DEBUG`, `INFO`, `WARNING`, `ERROR` or `CRITICAL`, whatever its case.
    ///
    /// # Errors
    /// Another name.
    pub(crate) fn parse(place: &str, name: &str) -> anyhow::Result<Self> {
        Ok(Self(match name.trim().to_uppercase().as_str() {
            "DEBUG" => LevelFilter::DEBUG,
            "INFO" => LevelFilter::INFO,
            "WARNING" => LevelFilter::WARN,
            "ERROR" => LevelFilter::ERROR,
            // There is nothing worse than an error here.
            "CRITICAL" => LevelFilter::OFF,
            _ => {
                return Err(Usage::new(format!("{place}: unknown level `{name}`"))
                    .hint("valid: DEBUG, INFO, WARNING, ERROR, CRITICAL")
                    .into());
            }
        }))
    }

    fn targets(self) -> Targets {
        // Libraries say more than anybody wants to read.
        Targets::new().with_default(self.0.min(LevelFilter::WARN)).with_target("argosy", self.0)
    }
}

type Reload = Box<dyn Fn(Targets, Targets) + Send + Sync>;

/// What is changed when another run begins.
struct Log {
    levels: Reload,
    sink: Sink,
}

static LOG: OnceLock<Log> = OnceLock::new();

/// Installs the subscriber: warnings on stderr, no file yet.
pub(crate) fn install() {
    let sink = Sink::default();
    let (console, console_levels) = reload::Layer::new(Level(LevelFilter::WARN).targets());
    let (file, file_levels) = reload::Layer::new(Targets::new());
    let subscriber = tracing_subscriber::registry()
        .with(lines(To { sink: sink.clone(), file: false }).with_filter(console))
        .with(lines(To { sink: sink.clone(), file: true }).with_filter(file));
    // It fails only if one is installed already, which is as good.
    let _ = subscriber.try_init();
    let levels: Reload = Box::new(move |on_console, in_file| {
        let _ = console_levels.reload(on_console);
        let _ = file_levels.reload(in_file);
    });
    let _ = LOG.set(Log { levels, sink });
}

fn lines<S: Subscriber + for<'a> LookupSpan<'a>>(to: To) -> impl Layer<S> {
    tracing_subscriber::fmt::layer().with_ansi(false).event_format(line::Line).with_writer(to)
}

/// Sets the level on stderr for what comes before a run directory is there.
pub(crate) fn console(level: Level) {
    if let Some(log) = LOG.get() {
        (log.levels)(level.targets(), Targets::new());
    }
}

/// Logs into `run.log` of a run directory from now on. A file that cannot be opened is a warning only.
pub(crate) fn attach(dir: &Path, redactor: Redactor, console: Level, file: Level) {
    let Some(log) = LOG.get() else { return };
    let path = dir.join(RUN_LOG);
    let opened = OpenOptions::new().create(true).append(true).open(&path);
    let mut state = log.sink.lock();
    state.redactor = redactor;
    match opened {
        Ok(opened) => state.file = Some(opened),
        Err(error) => {
            state.file = None;
            say(format!("warning: {}: {error}; nothing is logged there", path.display()));
        }
    }
    drop(state);
    (log.levels)(console.targets(), file.targets());
}

#[derive(Default)]
struct Open {
    file: Option<File>,
    redactor: Redactor,
}

#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Open>>);

impl Sink {
    fn lock(&self) -> std::sync::MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of the two destinations.
#[derive(Clone)]
struct To {
    sink: Sink,
    file: bool,
}

impl<'a> MakeWriter<'a> for To {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Write for To {
    // The formatter hands over a whole line at once.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut open = self.sink.lock();
        let text = String::from_utf8_lossy(bytes);
        let text = open.redactor.text(&text).into_owned();
        if !self.file {
            drop(open);
            say(text.trim_end_matches('\n'));
        } else if let Some(file) = &mut open.file {
            file.write_all(text.as_bytes())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_pythons_names() {
        assert_eq!(Level::parse("x", "warning").unwrap(), Level(LevelFilter::WARN));
        assert_eq!(Level::parse("x", "CRITICAL").unwrap(), Level(LevelFilter::OFF));
        assert!(Level::parse("--log-level", "LOUD").unwrap_err().to_string().contains("--log-level: unknown level"));
    }
}
