//! The setup phase: files, sandbox, Python.

use std::{collections::BTreeSet, path::Path};

use argosy_shared::{
    issue::{Code, Issue, Phase},
    lease::{Assignment, DataFile},
    result::Termination,
    supervise::CancellationToken,
};
use futures::future::try_join_all;

use crate::{
    agent::{cancelled_issue, tool::Tool},
    cache::{Cache, Held},
    sandbox::host_process::Sandbox,
};

/// Why there is nothing to run.
pub(super) struct Stopped {
    pub(super) termination: Termination,
    pub(super) issue: Issue,
}

impl Stopped {
    fn failed(code: Code, message: &str) -> Self {
        Self { termination: Termination::EnvironmentFailed, issue: Issue::new(Phase::Setup, code, message) }
    }

    fn cancelled() -> Self {
        Self { termination: Termination::Cancelled, issue: cancelled_issue(Phase::Setup) }
    }
}

/// The files of an assignment, each once, kept in the cache as long as this lives.
pub(super) type Files<'a> = Vec<(&'a DataFile, Held)>;

/// Brings the files into the cache.
pub(super) async fn fetch<'a>(
    assignment: &'a Assignment,
    cache: &Cache,
    cancel: &CancellationToken,
) -> Result<Files<'a>, Stopped> {
    let mut names = BTreeSet::new();
    // A metadata file may list a data file twice; the paths in the prompt then repeat, the file does not.
    let files: Vec<&DataFile> =
        assignment.files.iter().filter(|file| names.insert((&file.name, &file.blob.sha256))).collect();
    let fetched = try_join_all(files.iter().map(|file| async {
        cache.hold(&file.blob).await.map_err(|error| {
            Stopped::failed(Code::SetupFailed, &format!("data file {} is not to be had: {error}", file.name))
        })
    }));
    let held = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(Stopped::cancelled()),
        held = fetched => held?,
    };
    Ok(files.into_iter().zip(held).collect())
}

/// Makes an empty sandbox.
pub(super) async fn sandbox(root: &Path) -> Result<Sandbox, Stopped> {
    Sandbox::create(root)
        .await
        .map_err(|error| Stopped::failed(Code::EnvironmentFailed, &format!("the sandbox cannot be made: {error}")))
}

/// Puts private copies of the files into the workspace.
pub(super) async fn lay_out(files: &Files<'_>, sandbox: &Sandbox) -> Result<(), Stopped> {
    for (file, held) in files {
        sandbox.put_file(&file.name, &held.path()).await.map_err(|error| {
            let message = format!("data file {} cannot be put into the workspace: {error}", file.name);
            Stopped::failed(Code::SetupFailed, &message)
        })?;
    }
    Ok(())
}

/// Starts Python.
pub(super) async fn python<'a>(assignment: &'a Assignment, sandbox: &'a Sandbox) -> Result<Tool<'a>, Stopped> {
    Tool::start(sandbox, assignment).await.map_err(|error| Stopped::failed(Code::EnvironmentFailed, &error.to_string()))
}

/// The task input with this sandbox's paths, the notice (if any) after a blank line.
pub(super) fn input(assignment: &Assignment, sandbox: &Sandbox) -> String {
    let paths: Vec<String> = assignment.files.iter().map(|file| sandbox.path_of(&file.name)).collect();
    let mut input = assignment.input.with_paths(&paths);
    if let Some(notice) = &assignment.notice {
        input.push_str("\n\n");
        input.push_str(notice);
    }
    input
}
