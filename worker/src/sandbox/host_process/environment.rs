//! Which interpreter is started, and the variables it is given.

use std::{
    ffi::{OsStr, OsString},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use crate::python;

/// Variables of the worker that say how this machine computes or finds libraries. Everything else stays outside: keys,
/// proxies, the user's settings.
const CARRIED: [&str; 6] = [
    "OPENBLAS_CORETYPE",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    // Without it an interpreter that lives outside of the system's folders may not even start.
    "LD_LIBRARY_PATH",
    "TZ",
];

/// The search path where the worker has none.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The interpreter that a path or a name means.
pub(super) fn interpreter(python: &str, search_path: Option<&OsStr>) -> Result<PathBuf, python::Error> {
    let hint = "install Python 3.9 or newer, or name an interpreter as `python` in --env-params";
    let refused = |what: String| Err(python::Error::Start(format!("{what}; {hint}")));
    if python.contains('/') {
        // A virtual environment is known by the path of its interpreter: the link is not followed.
        return match std::path::absolute(python) {
            Ok(path) if is_executable(&path) => Ok(path),
            Ok(path) => refused(format!("there is no program {}", path.display())),
            Err(error) => refused(format!("`{python}` is no path: {error}")),
        };
    }
    let search_path = search_path.unwrap_or_else(|| OsStr::new(DEFAULT_PATH));
    std::env::split_paths(search_path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(python))
        .find(|path| !python.is_empty() && is_executable(path))
        .map_or_else(|| refused(format!("there is no `{python}` on the search path")), Ok)
}

/// The whole environment of a process.
///
/// * The hash seed is fixed: a string set then prints in the same order when an execution is replayed elsewhere.
/// * No `COLUMNS`, no `LINES`, no terminal: pandas cuts tables at 80 columns, as upstream.
/// * What the worker's user has installed for himself is found as well ([`python`] removes the variable before the
///   agent's code runs, so nothing can be installed there).
pub(super) fn variables(
    home: &Path,
    workspace: &Path,
    python: &str,
    program: &Path,
    host: impl Fn(&str) -> Option<OsString>,
) -> Vec<(OsString, OsString)> {
    let mut path = host("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
    if let (true, Some(folder)) = (python.contains('/'), program.parent()) {
        // An interpreter that was named by its path brings its own `pip` and `python`.
        let folders = std::iter::once(folder.to_path_buf()).chain(std::env::split_paths(&path));
        path = std::env::join_paths(folders).unwrap_or(path);
    }
    let mut variables: Vec<(OsString, OsString)> = [
        ("PATH", path),
        ("HOME", workspace.into()),
        ("TMPDIR", home.join("tmp").into()),
        ("LANG", "C.UTF-8".into()),
        ("MPLBACKEND", "Agg".into()),
        ("MPLCONFIGDIR", home.join("matplotlib").into()),
        ("PYTHONHASHSEED", "0".into()),
        ("PYTHONDONTWRITEBYTECODE", "1".into()),
    ]
    .map(|(name, value): (&str, OsString)| (name.into(), value))
    .into();
    let user_base =
        host("PYTHONUSERBASE").map(PathBuf::from).or_else(|| Some(Path::new(&host("HOME")?).join(".local")));
    variables.extend(user_base.filter(|base| base.is_dir()).map(|base| ("PYTHONUSERBASE".into(), base.into())));
    variables.extend(CARRIED.iter().filter_map(|name| Some((OsString::from(name), host(name)?))));
    variables
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(host: &[(&str, &str)], python: &str) -> Vec<(String, String)> {
        let host = |name: &str| host.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
        variables(Path::new("/s"), Path::new("/s/workspace"), python, Path::new("/venv/bin/python"), host)
            .into_iter()
            .map(|(name, value)| (name.into_string().unwrap(), value.into_string().unwrap()))
            .collect()
    }

    fn names(variables: &[(String, String)]) -> Vec<&str> {
        variables.iter().map(|(name, _)| name.as_str()).collect()
    }

    #[test]
    fn nothing_of_the_host_but_what_is_meant() {
        let host = [
            ("PATH", "/bin"),
            ("OPENAI_API_KEY", "secret"),
            ("COLUMNS", "200"),
            ("HOME", "/nobody"),
            ("PYTHONPATH", "/x"),
            ("LC_ALL", "de_DE"),
            ("OPENBLAS_CORETYPE", "Haswell"),
        ];
        let variables = given(&host, "python3");
        let always = [
            "PATH",
            "HOME",
            "TMPDIR",
            "LANG",
            "MPLBACKEND",
            "MPLCONFIGDIR",
            "PYTHONHASHSEED",
            "PYTHONDONTWRITEBYTECODE",
        ];
        assert_eq!(names(&variables), [&always[..], &["OPENBLAS_CORETYPE"]].concat());
        assert_eq!(variables[0].1, "/bin");
        assert_eq!(variables[1].1, "/s/workspace");
        assert_eq!(variables[2].1, "/s/tmp");
    }

    #[test]
    fn an_interpreter_by_path_is_first_on_the_search_path() {
        assert_eq!(given(&[("PATH", "/bin")], "/venv/bin/python")[0].1, "/venv/bin:/bin");
        assert_eq!(given(&[], "python3")[0].1, DEFAULT_PATH);
    }

    #[test]
    fn the_users_own_packages_are_found_where_there_are_any() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().to_str().unwrap();
        assert!(!names(&given(&[("HOME", path)], "python3")).contains(&"PYTHONUSERBASE"));
        std::fs::create_dir(home.path().join(".local")).unwrap();
        let base = ("PYTHONUSERBASE".to_owned(), format!("{path}/.local"));
        assert!(given(&[("HOME", path)], "python3").contains(&base));
    }

    #[test]
    fn an_interpreter_that_is_not_there() {
        let text =
            |python: &str, path: Option<&str>| interpreter(python, path.map(OsStr::new)).unwrap_err().to_string();
        for (python, says) in [
            ("/nowhere/python3", "no program /nowhere/python3"),
            ("python3.99", "no `python3.99` on the search path"),
            ("", "no `` on the search path"),
            ("/etc/passwd", "no program /etc/passwd"),
        ] {
            let text = text(python, None);
            assert!(text.contains(says) && text.contains("--env-params"), "{text}");
        }
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().join("python3");
        std::fs::write(&here, "").unwrap();
        assert!(text("python3", folder.path().to_str()).contains("no `python3`"));
        std::fs::set_permissions(&here, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(interpreter("python3", Some(folder.path().as_os_str())).unwrap(), here);
    }
}
