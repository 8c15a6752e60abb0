//! `kurier keys stats`

use std::process::ExitCode;

use clap::Args;
use kurier_core::keys::family::Family;
use kurier_store::kv::Redis;
use serde_json::{Map, Value, json};

use super::{WalkArgs, cut, progress};
use crate::cli::table;
use crate::config::Config;
use crate::upkeep::{Stats, Tally, stats};

#[derive(Debug, Args)]
#[command(after_help = "Example:
  kurier keys stats --redis-url redis://localhost:6379 --keys-max 100000 --json")]
pub(super) struct StatsArgs {
    #[command(flatten)]
    walk: WalkArgs,
}

pub(super) async fn run(
    redis: &Redis,
    config: &Config,
    args: &StatsArgs,
) -> anyhow::Result<ExitCode> {
    let bar = progress(args.walk.json);
    let on_page = |keys| bar.set_position(keys);
    let found = stats(redis, &config.keys.ttls, args.walk.budget(), on_page).await;
    bar.finish_and_clear();
    report(&found?, args.walk.json);
    Ok(ExitCode::SUCCESS)
}

fn report(stats: &Stats, as_json: bool) {
    let tally = |family| stats.families.get(&family).copied().unwrap_or_default();
    if as_json {
        let entry = |family: Family| {
            let Tally {
                keys,
                bytes,
                without_ttl,
            } = tally(family);
            let tally = json!({"keys": keys, "bytes": bytes, "without_ttl": without_ttl});
            (family.name().to_owned(), tally)
        };
        let families: Map<String, Value> = Family::ALL.map(entry).into_iter().collect();
        println!(
            "{}",
            json!({"families": families, "is_cut": stats.walked.is_cut})
        );
        return;
    }
    let cells = |family: Family| {
        let tally = tally(family);
        let counts = [tally.keys, tally.bytes, tally.without_ttl].map(|count| count.to_string());
        [vec![family.name().to_owned()], counts.to_vec()].concat()
    };
    table::print(
        &["family", "keys", "bytes", "without ttl"],
        Family::ALL.map(cells),
    );
    println!("{} keys{}", stats.walked.keys, cut(stats.walked.is_cut));
}
