//! The agent's one tool: Python, with upstream's limit on executions and what follows when the process dies.

use std::{collections::BTreeMap, time::Duration};

use argosy_shared::{lease::Assignment, prompts::AgentTemplate, spec::OnPythonCrash, trajectory::PYTHON_TOOL};

use crate::{
    python::{self, Options, Session},
    sandbox::host_process::Sandbox,
};

/// The Python of one execution.
#[derive(Debug)]
pub struct Tool<'a> {
    sandbox: &'a Sandbox,
    options: Options,
    timeout: Duration,
    on_crash: OnPythonCrash,
    max_executions: Option<u32>,
    refusal: &'a str,
    session: Option<Session>,
    executions: u32,
    restarts: u32,
    busy: Duration,
}

/// What the next prompt shows after an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Observed {
    pub(super) text: String,
    pub(super) bytes_cut: u64,
    /// How long Python took; `None` where it was not asked.
    pub(super) elapsed: Option<Duration>,
}

impl<'a> Tool<'a> {
    /// Starts Python in a sandbox.
    ///
    /// # Errors
    /// See [`Sandbox::start_python`].
    pub async fn start(sandbox: &'a Sandbox, assignment: &'a Assignment) -> Result<Self, python::Error> {
        let options = Options {
            python: assignment.environment.python.clone(),
            max_observation_bytes: assignment.harness.max_observation_bytes,
        };
        let template: &AgentTemplate = &assignment.template;
        let session = sandbox.start_python(&options).await?;
        Ok(Self {
            sandbox,
            options,
            timeout: super::seconds(assignment.harness.command_timeout),
            on_crash: assignment.harness.on_python_crash,
            max_executions: template.max_executions,
            refusal: template.refusal.as_deref().unwrap_or("No further execution is allowed."),
            session: Some(session),
            executions: 0,
            restarts: 0,
            busy: Duration::ZERO,
        })
    }

    /// Its version, for example `3.12.1`; empty when no process is left.
    #[must_use]
    pub fn version(&self) -> &str {
        self.session.as_ref().map_or("", Session::version)
    }

    /// The benchmark's packages it has, with their versions; none when no process is left.
    #[must_use]
    pub fn packages(&self) -> BTreeMap<String, String> {
        self.session.as_ref().map(Session::packages).cloned().unwrap_or_default()
    }

    /// Executions that Python really began.
    #[must_use]
    pub fn executions(&self) -> u32 {
        self.executions
    }

    /// Processes started again after a crash.
    #[must_use]
    pub fn restarts(&self) -> u32 {
        self.restarts
    }

    /// Time spent in executions that brought an observation.
    #[must_use]
    pub fn busy(&self) -> Duration {
        self.busy
    }

    /// Ends the process and everything it started.
    pub async fn stop(&mut self) {
        if let Some(session) = self.session.take() {
            session.stop().await;
        }
    }

    /// Whether [`Tool::call`] will ask Python.
    pub(super) fn will_execute(&self, name: &str) -> bool {
        name == PYTHON_TOOL && self.max_executions.is_none_or(|most| self.executions < most)
    }

    /// Carries out an action.
    ///
    /// A name that is no tool and an execution too many are answered without Python, as upstream does. The count goes
    /// up before the code runs, so code that cannot even be parsed uses an execution up.
    pub(super) async fn call(&mut self, name: &str, code: &str) -> Result<Observed, python::Error> {
        if name != PYTHON_TOOL {
            return Ok(said(format!("{name} is not a valid tool, try one of [{PYTHON_TOOL}].")));
        }
        if !self.will_execute(name) {
            return Ok(said(self.refusal.to_owned()));
        }
        self.executions += 1;
        let Some(session) = &mut self.session else {
            return Err(python::Error::Died("there is no process any more".to_owned()));
        };
        match session.execute(code, self.timeout).await {
            Ok(done) => {
                self.busy += done.elapsed;
                Ok(Observed { text: done.observation, bytes_cut: done.bytes_cut, elapsed: Some(done.elapsed) })
            }
            Err(error @ (python::Error::Died(_) | python::Error::Protocol(_)))
                if self.on_crash == OnPythonCrash::Restart =>
            {
                self.restart().await?;
                Ok(said(format!(
                    "{error}. A new Python process has been started: all variables and imports are lost, files are kept."
                )))
            }
            Err(error) => Err(error),
        }
    }

    async fn restart(&mut self) -> Result<(), python::Error> {
        self.stop().await;
        self.session = Some(self.sandbox.start_python(&self.options).await?);
        self.restarts += 1;
        Ok(())
    }
}

fn said(text: String) -> Observed {
    Observed { text, bytes_cut: 0, elapsed: None }
}
