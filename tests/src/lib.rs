//! Support for the proofs in `tests/`: places, vectors, scripted peers.

pub mod local_files;
pub mod pandas;
pub mod places;
pub mod scripted;
pub mod twin;
pub mod vectors;
pub mod venv;
