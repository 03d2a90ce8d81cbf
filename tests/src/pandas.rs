//! An interpreter with exactly the pandas and numpy that the vectors were made with.
#![allow(clippy::print_stderr, reason = "an installation takes a while, and says so")]

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

use rustix::fs::FlockOperation;

use crate::places;

/// The versions that upstream pins.
const PINNED: [(&str, &str); 2] = [("pandas", "2.2.1"), ("numpy", "1.26.4")];
/// The Pythons that the vectors with pandas were made with, the newest first.
const MINORS: [&str; 2] = ["3.12", "3.11"];

/// The first of: `ARGOSY_TEST_PYTHON_PANDAS`, an installed interpreter that has both, a virtual environment in the
/// target directory. The last is made where `ARGOSY_TEST_INSTALL` or `CI` is set and `pip` can install.
///
/// # Errors
/// Why there is none.
pub fn interpreter() -> Result<PathBuf, String> {
    if let Some(named) = set("ARGOSY_TEST_PYTHON_PANDAS") {
        let path = PathBuf::from(named);
        return check(&path).map(|()| path);
    }
    let installed = MINORS.iter().filter_map(|minor| places::python(minor));
    if let Some(path) = installed.clone().find(|path| check(path).is_ok()) {
        return Ok(path);
    }
    let target = set("CARGO_TARGET_DIR").map_or_else(|| places::project().join("target"), PathBuf::from);
    let _lock = lock(&target)?;
    let venv = target.join("python-with-pandas");
    let python = venv.join("bin/python");
    if check(&python).is_ok() {
        return Ok(python);
    }
    if set("ARGOSY_TEST_INSTALL").is_none() && set("CI").is_none() {
        return Err("no interpreter has the pinned pandas and numpy; ARGOSY_TEST_INSTALL=1 installs them".to_owned());
    }
    let base = installed.clone().next().ok_or("neither Python 3.12 nor 3.11 is there to install pandas for")?;
    eprintln!("installing the pinned pandas and numpy into {}", venv.display());
    let _ = fs::remove_dir_all(&venv);
    run(Command::new(&base).args(["-m", "venv"]).arg(&venv))?;
    let pins = PINNED.map(|(name, version)| format!("{name}=={version}"));
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--only-binary", ":all:"]).args(pins))?;
    check(&python).map(|()| python)
}

fn check(python: &Path) -> Result<(), String> {
    let names = PINNED.map(|(name, _)| name);
    let versions: Vec<String> = names.iter().map(|name| format!("{name}.__version__")).collect();
    let script = format!("import {}; print({})", names.join(", "), versions.join(", "));
    let printed = run(Command::new(python).args(["-I", "-c", &script]))?;
    let wanted = PINNED.map(|(_, version)| version).join(" ");
    if printed.trim() == wanted {
        return Ok(());
    }
    Err(format!("{} has {} {}, not {wanted}", python.display(), names.join(" "), printed.trim()))
}

fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("{command:?}: {}: {}", output.status, stderr.lines().last().unwrap_or_default()))
}

/// Several test programs may want it at the same time.
fn lock(target: &Path) -> Result<File, String> {
    let path = target.join("python-with-pandas.lock");
    let lock = fs::create_dir_all(target)
        .and_then(|()| File::options().create(true).append(true).open(&path))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    rustix::fs::flock(&lock, FlockOperation::LockExclusive).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(lock)
}

fn set(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
