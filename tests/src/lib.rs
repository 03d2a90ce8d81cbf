//! Support for the proofs in `tests/`: places, vectors, scripted peers.

pub mod places;
pub mod vectors;
