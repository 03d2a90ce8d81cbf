//! Python's `str` methods where Rust's differ.
