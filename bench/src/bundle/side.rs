//! One server under load: every bundle once, then as fast as it answers, then at a rate while
//! the chain moves.

use std::process::Command;
use std::time::Duration;

use serde::Serialize;

use super::Args;
use super::bare;
use super::chain::HomeChain;
use super::drive::{self, Plan, Requests, Spread};
use super::fill::{Filled, fill};
use crate::client::Client;
use crate::server::Server;

#[derive(Serialize)]
pub struct Side {
    /// Each bundle for the first time, one after another.
    pub first: Spread,
    /// While the chain moves.
    pub hits: Spread,
    pub misses: Spread,
    /// Requests a second at most, one of each round.
    pub most: Vec<f64>,
    /// The same of bare axum, in the same rounds.
    pub bare: Vec<f64>,
    /// Tips that were seen in answers.
    pub tips: usize,
    /// Bundles whose block was replaced.
    pub replaced: usize,
    /// Answers that said so.
    pub off_chain: usize,
    /// Bundles built while the chain moved, and blocks of bundles found to be replaced.
    pub builds: f64,
    pub reorgs: f64,
    pub wrong: usize,
    pub memory_mb: f64,
}

pub async fn measure(args: &Args, redis: Option<&str>) -> anyhow::Result<Side> {
    if let Some(url) = redis {
        empty(url).await?;
    }
    let name = redis.map_or("in process", |_| "Redis");
    eprintln!("==> {} bundles, {name}", args.bundles);
    let mut chain = HomeChain::new()?;
    let filled = fill(args.bundles, &mut chain).await?;
    let requests = Requests::of(&filled.ids);
    let server = start(args, &filled, &chain, redis)?;
    let first = drive::once(server.address, &requests).await?;
    let (most, bare) = at_most(args, &server, &requests, redis).await?;
    eprintln!(
        "==> {} requests a second for {} s, {name}",
        args.rate, args.seconds
    );
    let plan = Plan {
        rate: args.rate,
        length: Duration::from_secs(args.seconds),
        replaced: i64::from(chain.height()),
    };
    let before = Counters::of(&server).await?;
    let moving = tokio::spawn(chain.moving(args.seconds));
    let paced = drive::paced(server.address, &requests, &plan).await?;
    moving.await??;
    let after = Counters::of(&server).await?;
    Ok(Side {
        first: Spread::of(first),
        hits: Spread::of(paced.hits),
        misses: Spread::of(paced.misses),
        most,
        bare,
        tips: paced.tips.len(),
        replaced: filled.replaced,
        off_chain: paced.off_chain,
        builds: after.builds - before.builds,
        reorgs: after.reorgs - before.reorgs,
        wrong: paced.wrong,
        memory_mb: server.memory()?.1,
    })
}

async fn empty(url: &str) -> anyhow::Result<()> {
    let client = redis::Client::open(url)?;
    let mut connection = client.get_multiplexed_async_connection().await?;
    Ok(redis::cmd("FLUSHALL").exec_async(&mut connection).await?)
}

fn start(
    args: &Args,
    filled: &Filled,
    chain: &HomeChain,
    redis: Option<&str>,
) -> anyhow::Result<Server> {
    let folder = filled.folder.path();
    let source = format!("file://{}?chain=regtest", chain.path().display());
    let mut command = Command::new(&args.kurier);
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(folder)
        .env("HEADERS_SOURCE", source)
        // Blocks come every second, and none of the bundles is to grow old meanwhile.
        .env("CACHE_TTLS_JSON", r#"{"headers":1,"bundles":3600}"#)
        .env("POLICY_MIN_CONFS", "2")
        .env("KURIER_LOG", "warn");
    if let Some(url) = redis {
        command.env("KURIER_REDIS_URL", url);
    }
    Server::start(&mut command, &folder.join("stderr"))
}

/// In turns with bare axum, which answers the same keys of the same Redis.
async fn at_most(
    args: &Args,
    server: &Server,
    requests: &Requests,
    redis: Option<&str>,
) -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
    let length = Duration::from_secs(args.round_seconds);
    let beside = redis.map(bare::start).transpose()?;
    let (mut most, mut bare) = (Vec::new(), Vec::new());
    for round in 1..=args.rounds {
        eprintln!("==> as fast as it answers, round {round}");
        most.push(drive::closed(server.address, requests, length).await?);
        if let Some(beside) = &beside {
            bare.push(drive::closed(beside.address, requests, length).await?);
        }
    }
    Ok((most, bare))
}

struct Counters {
    builds: f64,
    reorgs: f64,
}

impl Counters {
    async fn of(server: &Server) -> anyhow::Result<Self> {
        let mut client = Client::connect(server.address).await?;
        let answer = client.get("/metrics").await?;
        let text = std::str::from_utf8(answer.body)?;
        let value = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.strip_prefix(name));
            // What was never counted is not told of.
            lines
                .next()
                .and_then(|rest| rest.trim().parse().ok())
                .unwrap_or(0.0)
        };
        Ok(Self {
            builds: value("kurier_bundle_builds_total "),
            reorgs: value("kurier_reorg_detected_total "),
        })
    }
}
