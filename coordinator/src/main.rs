//! The binary `argosy`: one file per command under `cli/`.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
