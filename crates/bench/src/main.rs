//! `firesteel-bench`: see `firesteel-bench --help`.
//!
//! Exit codes: 0 all is well, 1 something failed or an answer differs, 2 the command line was not understood.
#![expect(clippy::print_stderr, reason = "a command line tool speaks to its terminal")]

use std::{io, process::ExitCode};

use clap::Parser;
use firesteel_bench::commands::{Arguments, run};

firesteel::allocator!();

fn main() -> ExitCode {
    match run(Arguments::parse(), &mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
