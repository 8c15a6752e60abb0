//! The binary: reads what it is asked to do, and does it.

use std::io::Write as _;
use std::process::ExitCode;

use kurier::cli::Cli;
use kurier::version::BuildVersion;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Named here and nowhere else: a commit compiles this file again, and nothing that is large.
const BUILD: BuildVersion = BuildVersion::new(kurier_commit::commit!());

fn main() -> ExitCode {
    let cli = Cli::read(BUILD);
    match cli.run(BUILD) {
        Ok(code) => code,
        Err(error) => {
            // Not by `eprintln!`, which panics when standard error is closed.
            let _ = writeln!(std::io::stderr(), "kurier: {error:#}");
            ExitCode::FAILURE
        }
    }
}
