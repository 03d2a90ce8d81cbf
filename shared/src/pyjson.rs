//! Python's `json`: the values it makes, how it reads them and what it says when it cannot.
//!
//! A judge's reply is scored by what Python's `json.loads` makes of it, so the reader follows CPython 3.11 to the
//! letter: `NaN` and `Infinity` are numbers, the last of two equal keys wins, integers have any size, and errors carry
//! Python's words and positions. Two things differ. A lone surrogate escape (`"\ud800"`), which a Python string can
//! hold and a Rust string cannot, becomes U+FFFD. And nesting ends at [`MAX_DEPTH`] with the error Python has for its own, larger limit.

mod equality;
mod object;
mod scan;
mod value;
mod write;

pub use object::Exception;
pub use scan::{Error, MAX_DEPTH, loads};
pub use value::{Dict, PyValue};
pub use write::{dumps, from_json, to_json};
