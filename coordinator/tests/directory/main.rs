//! What can be done with a run's directory once it is there: made again from the journal, exported.

mod export;
mod rebuild;
mod runs;
