//! The whole journey: `argosy` as a process against a stand-in model and judge, and what it leaves on disk.

mod demo;
mod faults;
mod layout;
mod real;
mod repeatable;
