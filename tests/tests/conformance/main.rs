//! Golden vectors, made by running upstream's real code with its pinned libraries, against Argosy's own.
#![allow(clippy::print_stdout, reason = "the closing table is the point")]

mod agent_loops;
mod judge;
mod parser;
mod prompts;
mod pyrepr;
mod repl;
mod rows;
mod source;
mod tasks;

use argosy_tests::{places, vectors};

#[test]
fn every_vector_holds() {
    let Some(folder) = places::conformance() else {
        places::skipped("conformance", "no vectors: set CONFORMANCE_DIR");
        return;
    };
    let source = source::Source::open();
    let tallies = [
        tasks::check(&folder, &source),
        prompts::check(&folder, &source),
        parser::check(&folder),
        agent_loops::check(&folder),
        repl::check(&folder),
        judge::check(&folder),
        pyrepr::check(&folder),
    ];
    println!("{}", vectors::table(&tallies));
    let failed: usize = tallies.iter().map(|tally| tally.failed.len()).sum();
    assert_eq!(failed, 0, "{failed} rows differ, see above");
}
