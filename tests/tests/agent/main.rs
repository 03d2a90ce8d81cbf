//! The life of one execution, from files to answer, with a real Python and a model that plays a script.

mod answers;
mod failures;
mod lifecycle;
mod replay;
mod support;
mod turns;
