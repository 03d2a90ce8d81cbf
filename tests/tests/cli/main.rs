//! The command line as its users meet it: refusals, `--dry-run`, the documents' own examples, and no secret anywhere.

mod documents;
mod dry_run;
mod refusals;
mod secrets;
