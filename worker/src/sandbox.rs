//! What an environment provides for one execution: an empty workspace that holds only this question's files, and a
//! Python process.
//!
//! - [`host_process`]: a process of the worker's own user.
//! - [`reaper`]: folders that belong to a living worker, and what becomes of those whose worker has died.
//! - `remove`: takes away a tree, whatever was done to it.

pub mod host_process;
pub mod reaper;
mod remove;
