//! `kurier keys`: is Redis well, what is in it, and putting it in order.

mod cleanup;
mod health;
mod migrate;
mod stats;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use kurier_store::kv::{Redis, Timeouts};

use crate::config::Config;
use crate::upkeep::Budget;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kurier keys health --redis-url redis://localhost:6379
  kurier keys stats --redis-url redis+cluster://10.0.0.1:6379,10.0.0.2:6379 --json
  kurier keys migrate --dry-run --redis-url redis+sentinel://10.0.0.1,10.0.0.2/mymaster")]
pub struct KeysArgs {
    #[command(subcommand)]
    command: KeysCommand,
}

#[derive(Debug, Subcommand)]
enum KeysCommand {
    /// Whether Redis answers, how fast, and how its servers are set up
    Health(health::HealthArgs),
    /// Remove dedup keys that have lost their time to live
    Cleanup(cleanup::CleanupArgs),
    /// Move keys of the old form to where they belong now
    Migrate(migrate::MigrateArgs),
    /// Count keys and bytes, and find keys that should expire and do not
    Stats(stats::StatsArgs),
}

/// How far a command goes over the keys.
#[derive(Debug, Args)]
struct WalkArgs {
    /// So many keys are looked at in one step
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    batch_size: u32,
    /// Stop after so many keys; run again later, it begins anew
    #[arg(long, value_name = "NUMBER", default_value_t = u64::MAX, hide_default_value = true)]
    keys_max: u64,
    /// Answer in JSON, without progress
    #[arg(long)]
    json: bool,
}

impl WalkArgs {
    const fn budget(&self) -> Budget {
        Budget {
            batch: self.batch_size,
            keys_max: self.keys_max,
        }
    }
}

pub async fn run(config: &Config, args: KeysArgs) -> anyhow::Result<ExitCode> {
    let redis = open(config).await?;
    match args.command {
        KeysCommand::Health(args) => health::run(&redis, &args).await,
        KeysCommand::Cleanup(args) => cleanup::run(&redis, config, &args).await,
        KeysCommand::Migrate(args) => migrate::run(&redis, &args).await,
        KeysCommand::Stats(args) => stats::run(&redis, config, &args).await,
    }
}

async fn open(config: &Config) -> anyhow::Result<Redis> {
    let Some(url) = &config.redis_url else {
        bail!(
            "there is no Redis to look at: give --redis-url. Without one the keyspace lives \
             inside the server's process, goes with it, and shows itself in /metrics only"
        );
    };
    let redis = Redis::open(url, Timeouts::default()).await;
    redis.context("the Redis URL cannot be used")
}

/// How many keys there were so far, on a terminal.
fn progress(is_quiet: bool) -> ProgressBar {
    if is_quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{spinner} {human_pos} keys, {per_sec} {msg}");
    bar.set_style(style.expect("the template is valid"));
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// What is said when the budget ended first.
fn cut(is_cut: bool) -> &'static str {
    if is_cut {
        "; there are more: --keys-max ended it"
    } else {
        ""
    }
}
