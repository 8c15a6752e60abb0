//! The binary: reads what it is asked to do, and does it.

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;
use kurier::cli::Cli;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.run() {
        Ok(code) => code,
        Err(error) => {
            // Not by `eprintln!`, which panics when standard error is closed.
            let _ = writeln!(std::io::stderr(), "kurier: {error:#}");
            ExitCode::FAILURE
        }
    }
}
