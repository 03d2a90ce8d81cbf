//! What the environment `host_process` promises, against code that does its worst.

mod deaths;
mod files;
mod output;
mod protocol;
mod starts;
mod support;
mod timeouts;
mod worker_death;
