//! Support for the proofs in `tests/`: places, vectors, scripted peers, Python twins.

pub mod places;
pub mod twin;
pub mod vectors;
