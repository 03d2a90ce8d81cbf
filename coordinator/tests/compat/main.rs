//! The command line as a process, beside AgentCompass: flags, configuration, launch files, exit codes, and what must not
//! go wrong between runs. Nothing here needs a network or a checkout: the demo's benchmark and a stand-in serve.
#![allow(clippy::disallowed_methods, reason = "deadlines of tests read a clock")]

mod configuration;
mod faults;
mod flags;
mod launching;
mod runs;
mod support;
