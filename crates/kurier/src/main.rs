//! The binary: reads what it is asked to do, and does it.

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
            eprintln!("kurier: {error:#}");
            ExitCode::FAILURE
        }
    }
}
