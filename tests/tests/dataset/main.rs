//! Import of the dataset: the fixture `tests/fixtures/checkout` in all forms, every kind of damage, and the real data
//! where it is at hand.
#![allow(clippy::print_stdout, reason = "counts of a long test are worth seeing")]

mod bundle;
mod damage;
mod extraction;
mod fetch;
mod fixture;
mod import;
mod mutants;
mod pinned;
mod python;
mod select;
