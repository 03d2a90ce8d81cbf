//! Virtual environments with other people's programs, to see whether they read what we write.
#![allow(clippy::print_stderr, reason = "an installation takes a while, and says so")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::places;

/// A Python 3.12 with the packages, made on first use below the target directory. `None`, with a line that says why,
/// unless `CI` or `ARGOSY_TEST_INSTALL` asks for installations and `pip` can make them.
#[must_use]
pub fn with(test: &str, packages: &[&str]) -> Option<PathBuf> {
    let skip = |why: &str| {
        places::skipped(test, why);
        None
    };
    let wanted = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    let names = packages.join(" ");
    let Some(venv) = place(packages) else { return skip("there is no target directory") };
    let (python, complete) = (venv.join("bin/python"), venv.join("complete"));
    if complete.exists() {
        return Some(python);
    }
    if !wanted("CI") && !wanted("ARGOSY_TEST_INSTALL") {
        return skip(&format!("set ARGOSY_TEST_INSTALL=1 to install {names}"));
    }
    let Some(base) = places::python("3.12") else { return skip("it needs Python 3.12, which is not here") };
    eprintln!("installing {names} into {}", venv.display());
    let made = run(Command::new(base).args(["-m", "venv", "--clear"]).arg(&venv)).and_then(|()| {
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        run(Command::new(&python).args(install).args(packages))
    });
    if let Err(why) = made {
        return skip(&format!("{names} cannot be installed: {why}"));
    }
    if let Err(error) = fs::write(&complete, "") {
        return skip(&error.to_string());
    }
    Some(python)
}

fn place(packages: &[&str]) -> Option<PathBuf> {
    let name = packages.join("+").replace("==", "-");
    std::env::current_exe().ok()?.ancestors().nth(3).map(|target: &Path| target.join(name))
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(said.lines().last().unwrap_or_default().to_owned())
}
