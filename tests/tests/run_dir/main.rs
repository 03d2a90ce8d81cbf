//! Run directories: shapes against files AgentCompass 1.0.1 really wrote, the order in which things become durable, and
//! what a broken disk does.

mod against_agentcompass;
mod broken_disk;
mod durable;
mod exports;
mod golden;
mod invariants;
mod progress;
mod read_back;
mod samples;
mod support;
mod viewer;
