//! Where the binary `argosy` lies. Cargo tells only the package that owns it; it is built by `cargo test --workspace`
//! (and by `cargo test -p argosy-coordinator`) into the folder that holds the test executables' own.

use std::path::PathBuf;

/// The binary: `ARGOSY_BIN`, else the one of the same build.
///
/// # Panics
/// There is none.
#[must_use]
pub fn argosy() -> PathBuf {
    if let Some(given) = std::env::var_os("ARGOSY_BIN").filter(|value| !value.is_empty()) {
        return PathBuf::from(given);
    }
    let own = std::env::current_exe().expect("a test executable has a path");
    // target/debug/deps/<test>-<hash> is below target/debug/argosy.
    let found = own.ancestors().skip(1).take(3).map(|folder| folder.join("argosy")).find(|path| path.is_file());
    found.unwrap_or_else(|| {
        panic!(
            "the binary `argosy` is not built beside {}: run `cargo test --workspace`, or `cargo build -p \
             argosy-coordinator` with the same profile first, or set ARGOSY_BIN",
            own.display()
        )
    })
}
