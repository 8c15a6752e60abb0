//! `kurier keys migrate`

use std::process::ExitCode;

use clap::Args;
use kurier_store::kv::Redis;
use serde_json::{Map, Value, json};

use super::progress;
use crate::upkeep::{Fate, Migrated, migrate};

/// So many keys are shown of what a dry run would do.
const SHOWN: usize = 20;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kurier keys migrate --dry-run --redis-url redis://localhost:6379
  kurier keys migrate --apply --redis-url redis://localhost:6379

Interrupt it whenever you like: run again, it goes on. Version hints (pp:ver:*) are not moved.")]
pub(super) struct MigrateArgs {
    /// Say what would be done, and change nothing
    #[arg(long, required_unless_present = "apply", conflicts_with = "apply")]
    dry_run: bool,
    /// Do it
    #[arg(long)]
    apply: bool,
    /// So many keys are looked at in one step
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    batch_size: u32,
    /// Answer in JSON, without progress
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(redis: &Redis, args: &MigrateArgs) -> anyhow::Result<ExitCode> {
    let bar = progress(args.json);
    let mut shown = 0;
    let on_key = |from: &str, to: &str, fate: Fate| {
        bar.inc(1);
        let is_shown = !args.apply && !args.json && shown < SHOWN;
        if is_shown || (fate == Fate::Unknown && !args.json) {
            shown += 1;
            bar.suspend(|| eprintln!("{}", line(from, to, fate)));
        }
    };
    let migrated = migrate(redis, args.batch_size, args.apply, on_key).await;
    bar.finish_and_clear();
    report(&migrated?, args);
    Ok(ExitCode::SUCCESS)
}

fn line(from: &str, to: &str, fate: Fate) -> String {
    match fate {
        Fate::Unknown => format!("{from}: left alone, nobody knows how to read it"),
        Fate::Superseded => format!("{from}: removed, {to} is newer"),
        Fate::Workspace | Fate::Index => format!("{from} -> {to}"),
    }
}

fn report(migrated: &Migrated, args: &MigrateArgs) {
    let count = |fate| migrated.fates.get(&fate).copied().unwrap_or(0);
    if args.json {
        let all = [
            Fate::Workspace,
            Fate::Index,
            Fate::Superseded,
            Fate::Unknown,
        ];
        let counts = all.map(|fate| (fate.name().to_owned(), json!(count(fate))));
        let mut answer: Map<String, Value> = counts.into_iter().collect();
        answer.insert("applied".to_owned(), json!(args.apply));
        println!("{}", Value::Object(answer));
        return;
    }
    println!(
        "{}: {} workspaces, {} indexes, {} superseded, {} unknown",
        if args.apply { "moved" } else { "would move" },
        count(Fate::Workspace),
        count(Fate::Index),
        count(Fate::Superseded),
        count(Fate::Unknown)
    );
}
