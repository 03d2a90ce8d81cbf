//! Argosy's Rust against Python's own behaviour, on random input. A bounded number of cases; `DIFFERENTIAL_CASES`
//! and `DIFFERENTIAL_SEED` give a longer or another run.
#![allow(clippy::print_stdout, reason = "the number of cases and the seed are part of the outcome")]

mod capture;
mod cases;
mod parser;
mod pyjson;
mod pyrepr;
mod sanitize;
mod strip;
