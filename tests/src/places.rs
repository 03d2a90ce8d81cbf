//! Where the tests find what is not part of the project. Each place may be absent; a test that needs it then says so
//! in one line.
#![allow(clippy::print_stderr, reason = "a skipped test must say so")]

use std::path::{Path, PathBuf};

/// The project's root.
#[must_use]
pub fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the project").to_path_buf()
}

/// The folder of golden vectors: `CONFORMANCE_DIR`, else `../shared/conformance` beside the project.
#[must_use]
pub fn conformance() -> Option<PathBuf> {
    from_env("CONFORMANCE_DIR").or_else(|| beside("conformance"))
}

/// The real dataset (data files only) beside the project, or the upstream checkout.
#[must_use]
pub fn dataset() -> Option<PathBuf> {
    beside("discoverybench").or_else(upstream_checkout)
}

/// A full upstream checkout: `DISCOVERYBENCH_ROOT`.
#[must_use]
pub fn upstream_checkout() -> Option<PathBuf> {
    from_env("DISCOVERYBENCH_ROOT")
}

/// A prompt pack made by our importer, data only: beside the project.
#[must_use]
pub fn prompt_pack() -> Option<PathBuf> {
    beside("discoverybench/prompt-pack.json")
}

/// AgentCompass's sample files beside the project.
#[must_use]
pub fn agentcompass_samples() -> Option<PathBuf> {
    beside("agentcompass/samples")
}

/// A Python interpreter of that minor version (`3.12`), if one is installed.
#[must_use]
pub fn python(minor: &str) -> Option<PathBuf> {
    let name = format!("python{minor}");
    let on_path = std::env::var_os("PATH")
        .map(|path| std::env::split_paths(&path).map(|folder| folder.join(&name)).collect::<Vec<_>>())
        .unwrap_or_default();
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let by_pyenv = std::fs::read_dir(home.join(".pyenv/versions"))
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&format!("{minor}.")))
        .map(|entry| entry.path().join("bin").join(&name));
    // A pyenv shim exists for versions that are not active; it only answers with an error.
    on_path
        .into_iter()
        .filter(|path| !path.to_string_lossy().contains("/shims/"))
        .chain(by_pyenv)
        .find(|path| path.is_file())
}

/// Says that a test did not run, and why.
pub fn skipped(test: &str, why: &str) {
    eprintln!("SKIPPED {test}: {why}");
}

fn from_env(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn beside(name: &str) -> Option<PathBuf> {
    Some(project().parent()?.join("shared").join(name)).filter(|path| path.exists())
}
