//! The journal as a file that processes die over: whatever was acknowledged is there afterwards.
//!
//! The children are this test binary itself, told by an environment variable what to be.

mod child;
mod crash;
mod full_disk;
mod owner;
