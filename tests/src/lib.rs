//! Support for the proofs in `tests/`: places, vectors, scripted peers.

pub mod binary;
pub mod local_files;
pub mod pandas;
pub mod places;
pub mod run_files;
pub mod scripted;
pub mod server;
pub mod stage;
pub mod twin;
pub mod vectors;
pub mod venv;
