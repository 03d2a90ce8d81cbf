//! Support for the proofs in `tests/`: places, vectors, scripted peers, Python twins.

pub mod local_files;
pub mod places;
<<<<<<< .merge_file_J6oJ7I
pub mod scripted;
=======
pub mod twin;
>>>>>>> .merge_file_jElC4Q
pub mod vectors;
