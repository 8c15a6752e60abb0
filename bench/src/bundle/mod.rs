//! Bundles: hits and misses while the tip moves every second and the chain is reorganised once,
//! beside bare axum that answers what Redis has at the same keys; proofs beside others that read
//! them; headers from a file.

mod bare;
mod chain;
mod drive;
mod fill;
mod forged;
mod headers;
mod proofs;
mod report;
mod side;

pub use bare::serve as serve_bare;

use std::path::PathBuf;

use headers::{Checked, HeaderFile};
use proofs::Verified;
use serde::Serialize;
use side::Side;

#[derive(clap::Args)]
pub struct Args {
    /// A Redis that may be emptied
    #[arg(long, env = "TEST_REDIS_URL")]
    redis: String,
    /// The binary under test
    #[arg(long)]
    kurier: PathBuf,
    /// The script that verifies proofs with the SDK; without it the SDK is left out
    #[arg(long)]
    sdk: Option<PathBuf>,
    /// The program that verifies proofs with the crate; without it the crate is left out
    #[arg(long = "crate")]
    peer_crate: Option<PathBuf>,
    #[arg(long, default_value_t = 10_000)]
    bundles: usize,
    /// Requests a second
    #[arg(long, default_value_t = 1_000)]
    rate: usize,
    /// How long they are asked at that rate
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// How often each side asks as fast as it is answered, proofs are verified and files are read
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How long a round is in which they ask as fast as they are answered
    #[arg(long, default_value_t = 5)]
    round_seconds: u64,
    /// So many headers are mined here to be read
    #[arg(long, default_value_t = 1_000_000)]
    headers: usize,
    /// Another file of headers to be read: CHAIN:START:FILE
    #[arg(long)]
    header_file: Vec<HeaderFile>,
    /// Fail if a target is missed, and not only if an answer is wrong
    #[arg(long)]
    strict: bool,
    /// Where the results go as JSON
    #[arg(long)]
    out: PathBuf,
}

#[derive(Serialize)]
struct Measured {
    bundles: usize,
    rate: usize,
    seconds: u64,
    redis: Side,
    in_process: Side,
    verified: Verified,
    headers: Vec<Checked>,
}

pub async fn run(args: &Args) -> anyhow::Result<()> {
    anyhow::ensure!(args.bundles >= 10, "a tenth of the bundles is replaced");
    let measured = Measured {
        bundles: args.bundles,
        rate: args.rate,
        seconds: args.seconds,
        verified: proofs::measure(args)?,
        headers: headers::measure(args)?,
        redis: side::measure(args, Some(&args.redis)).await?,
        in_process: side::measure(args, None).await?,
    };
    report::write(args, &measured)
}
