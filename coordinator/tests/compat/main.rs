//! The command line as a process, beside AgentCompass: flags, configuration, launch files, exit codes, and what must not
//! go wrong between runs. Nothing here needs a network or a checkout: the demo's benchmark and a stand-in serve.

mod configuration;
mod faults;
mod flags;
mod launching;
mod runs;
mod support;
