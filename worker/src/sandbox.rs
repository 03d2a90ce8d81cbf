//! What an environment provides for one execution: an empty workspace that holds only this question's files, and a
//! Python process.

pub mod host_process;
