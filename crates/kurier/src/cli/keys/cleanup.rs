//! `kurier keys cleanup`

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use kurier_core::keys::Tenant;
use kurier_store::kv::Redis;
use serde_json::json;

use super::{WalkArgs, cut, progress};
use crate::config::Config;
use crate::upkeep::cleanup;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kurier keys cleanup --redis-url redis://localhost:6379
  kurier keys cleanup --tenant acme --batch-size 1000 --redis-url redis://localhost:6379")]
pub(super) struct CleanupArgs {
    /// Only the keys of this tenant: what stands in their braces
    #[arg(long, value_name = "TENANT")]
    tenant: Option<String>,
    #[command(flatten)]
    walk: WalkArgs,
}

pub(super) async fn run(
    redis: &Redis,
    config: &Config,
    args: &CleanupArgs,
) -> anyhow::Result<ExitCode> {
    if config.keys.ttls.dedup.ttl_ms().is_none() {
        bail!("dedup keys are set to live for ever (dedup_ttl_hours): none has lost anything");
    }
    let tenant = args.tenant.as_deref().map(Tenant::named).transpose()?;
    let bar = progress(args.walk.json);
    let on_page = |looked_at, removed| {
        bar.set_position(looked_at);
        bar.set_message(format!("{removed} removed"));
    };
    let cleaned = cleanup(redis, tenant.as_ref(), args.walk.budget(), on_page).await;
    bar.finish_and_clear();
    let cleaned = cleaned?;
    if args.walk.json {
        let (looked_at, removed) = (cleaned.looked_at, cleaned.removed);
        let answer = json!({"looked_at": looked_at, "removed": removed, "is_cut": cleaned.is_cut});
        println!("{answer}");
    } else {
        println!(
            "{} dedup keys looked at, {} without a time to live removed{}",
            cleaned.looked_at,
            cleaned.removed,
            cut(cleaned.is_cut)
        );
    }
    Ok(ExitCode::SUCCESS)
}
