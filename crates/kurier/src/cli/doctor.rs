//! `kurier doctor`: is everything in order, and what to do where it is not.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use kurier_core::projection::{self, Projection as _, Versions};
use kurier_store::kv::{Kv as _, Redis, Timeouts};
use kurier_store::{Snapshots, Store};
use serde::Serialize;

use crate::app::open_store;
use crate::bundle::BundleSettings;
use crate::clock;
use crate::config::{Config, Database};
use crate::headers::Headers;

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Finding {
    check: &'static str,
    ok: bool,
    detail: String,
}

impl Finding {
    fn of(check: &'static str, result: anyhow::Result<String>) -> Self {
        match result {
            Ok(detail) => Self {
                check,
                ok: true,
                detail,
            },
            Err(error) => Self {
                check,
                ok: false,
                detail: format!("{error:#}"),
            },
        }
    }
}

pub async fn run(config: &Config, args: DoctorArgs) -> anyhow::Result<ExitCode> {
    let mut findings = vec![Finding::of("version", Ok(config.build.to_string()))];
    match open_store(&config.database).await {
        Ok(store) => findings.extend(check_store(config, &store).await),
        Err(error) => findings.push(Finding::of("database", Err(error))),
    }
    if let Some(url) = &config.redis_url {
        findings.push(Finding::of("redis", check_redis(url).await));
    }
    if let Some(settings) = &config.bundle {
        findings.push(Finding::of("headers", check_headers(settings).await));
    }
    report(&findings, args.json)?;
    let well = findings.iter().all(|finding| finding.ok);
    Ok(if well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

async fn check_store(config: &Config, store: &Store) -> Vec<Finding> {
    vec![
        Finding::of("database", check_database(config, store).await),
        Finding::of("durability", check_durability(store).await),
        Finding::of("workspaces", check_workspaces(store).await),
        Finding::of("projections", check_projections(config, store).await),
        Finding::of("snapshot", check_snapshot(config)),
        Finding::of("clock", check_clock()),
    ]
}

async fn check_database(config: &Config, store: &Store) -> anyhow::Result<String> {
    let head = store.log.head().await?;
    let place = match &config.database {
        Database::Embedded { folder } => format!("SQLite in {}", folder.display()),
        Database::Postgres { .. } => "PostgreSQL".to_owned(),
    };
    Ok(format!("{place}, log position {head}"))
}

/// How long a durable write takes here: what limits single events.
async fn check_durability(store: &Store) -> anyhow::Result<String> {
    const WRITES: u32 = 20;
    let began = Instant::now();
    for _ in 0..WRITES {
        let position = store.views.checkpoint("doctor").await?;
        store.views.set_checkpoint("doctor", position).await?;
    }
    let each = began.elapsed() / WRITES;
    Ok(format!(
        "a durable commit takes {:.2} ms",
        each.as_secs_f64() * 1e3
    ))
}

async fn check_workspaces(store: &Store) -> anyhow::Result<String> {
    let names: Vec<String> = store
        .access
        .workspaces()
        .await?
        .into_iter()
        .map(|w| w.name)
        .collect();
    if names.is_empty() {
        anyhow::bail!("none yet: `kurier serve` makes the first one");
    }
    Ok(names.join(", "))
}

/// Versions are folded by themselves only where bundles are served.
async fn check_projections(config: &Config, store: &Store) -> anyhow::Result<String> {
    let head = store.log.head().await?.0;
    let mut behind = Vec::new();
    for projection in projection::ALL {
        let lag = head - store.views.checkpoint(projection.name()).await?.0;
        let set_aside = store.views.poisoned(projection.name()).await?;
        if set_aside > 0 {
            anyhow::bail!(
                "{0} has set {set_aside} event(s) aside; see `kurier projection status {0}`",
                projection.name()
            );
        }
        let is_awaited = config.bundle.is_some() || projection.name() != Versions.name();
        if lag > 0 && is_awaited {
            behind.push(format!("{} is {lag} event(s) behind", projection.name()));
        }
    }
    if behind.is_empty() {
        return Ok(format!("all {} are up to date", projection::ALL.len()));
    }
    Ok(behind.join(", "))
}

fn check_snapshot(config: &Config) -> anyhow::Result<String> {
    let Some(folder) = &config.snapshots else {
        return Ok("none are kept: PostgreSQL without --data".to_owned());
    };
    let newest = Snapshots::new(folder.clone()).newest();
    let newest = newest.with_context(|| format!("{} cannot be read", folder.display()))?;
    Ok(newest.map_or_else(
        || "none yet: a start folds the whole log".to_owned(),
        |kept| {
            let age = clock::now().micros_since(kept.written_at).max(0) / 1_000_000;
            let megabytes = kept.bytes as f64 / 1e6;
            format!(
                "of position {}, {megabytes:.1} MB, {age} s old",
                kept.position
            )
        },
    ))
}

/// A clock before this program was written is wrong, and would date every event wrongly.
fn check_clock() -> anyhow::Result<String> {
    const WRITTEN: &str = "2026-11-01T00:00:00Z";
    let now = clock::now();
    if now < WRITTEN.parse()? {
        anyhow::bail!("this machine believes it is {now}");
    }
    Ok(format!("{now}"))
}

/// Every header is checked, as at a start.
async fn check_headers(settings: &BundleSettings) -> anyhow::Result<String> {
    let hour = Duration::from_secs(3_600);
    let headers = Headers::new(&settings.headers, hour, hour, clock::now);
    let headers = headers.map_err(anyhow::Error::msg)?;
    headers.refresh().await;
    let faults = headers.reports().into_iter();
    let faults = faults.filter_map(|it| Some(format!("{}: {}", it.address, it.fault?)));
    let faults: Vec<String> = faults.collect();
    anyhow::ensure!(faults.is_empty(), "{}", faults.join("; "));
    let tip = headers.tip().context("no source has any")?;
    let chain = headers.chain().name();
    Ok(format!("of {chain}, up to {} {}", tip.height, tip.hash))
}

async fn check_redis(url: &str) -> anyhow::Result<String> {
    let redis = Redis::open(url, Timeouts::default()).await?;
    let began = Instant::now();
    redis.ping().await?;
    Ok(format!(
        "answers in {:.2} ms",
        began.elapsed().as_secs_f64() * 1e3
    ))
}

fn report(findings: &[Finding], json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", serde_json::to_string(findings)?);
        return Ok(());
    }
    for finding in findings {
        let mark = if finding.ok { "ok  " } else { "BAD " };
        println!("{mark} {:<12} {}", finding.check, finding.detail);
    }
    Ok(())
}
