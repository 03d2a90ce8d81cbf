//! The dataset.

pub mod pack;
