//! Whatever ends a run, and whenever: `--reuse` goes on, nothing is lost, nothing is paid twice.

mod kill;
mod refusals;
mod signals;
