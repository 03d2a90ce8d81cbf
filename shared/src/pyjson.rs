//! JSON as Python's `json` module reads it.
