//! Bundles under load: hits and misses while the tip moves every second and the chain is
//! reorganised once; beside bare axum that answers what Redis has at the same keys.

mod bare;
mod chain;
mod drive;
mod fill;
mod proofs;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::report::{keep, table};
use crate::server::Server;
use chain::HomeChain;
use drive::{Paced, Plan};
use fill::{ADMIN_KEY, Filled};

pub use bare::serve as serve_bare;

/// Connections that ask as fast as they are answered.
const CLOSED_CONNECTIONS: usize = 32;
const CLOSED_SECONDS: f64 = 5.0;

#[derive(clap::Args)]
pub struct Args {
    /// Where Redis is; everything in it is removed
    #[arg(long, env = "TEST_REDIS_URL")]
    redis: String,
    /// The binary under test
    #[arg(long)]
    kurier: PathBuf,
    /// The script that verifies proofs with the SDK
    #[arg(long)]
    peer: Option<PathBuf>,
    #[arg(long, default_value_t = 10_000)]
    bundles: usize,
    /// Requests a second
    #[arg(long, default_value_t = 1_000)]
    rate: usize,
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    #[arg(long, default_value = "target/bench/bundle.json")]
    out: PathBuf,
}

pub async fn run(args: &Args) -> anyhow::Result<()> {
    let (verified, headers) = proofs::measure(args.peer.as_deref())?;
    let mut sides = Vec::new();
    for redis in [Some(args.redis.as_str()), None] {
        sides.push(side(args, redis).await?);
    }
    let mut shown = table(&["", "p50 ms", "p95 ms", "p99 ms", "answers"]);
    for side in &sides {
        for kind in ["hits", "misses"] {
            let of = &side[kind];
            let cell = |name: &str| format!("{:.2}", of[name].as_f64().unwrap_or(0.0));
            let name = format!("{} {kind}", side["side"].as_str().unwrap_or_default());
            shown.add_row([
                name,
                cell("p50"),
                cell("p95"),
                cell("p99"),
                of["count"].to_string(),
            ]);
        }
    }
    println!(
        "\n{} bundles, {} requests/s for {} s, a tip a second, one reorg\n",
        args.bundles, args.rate, args.seconds
    );
    println!("{shown}\n");
    for side in &sides {
        let rate = |name: &str| side[name].as_f64().unwrap_or(0.0);
        println!(
            "{}: {:.0} requests/s at most; rebuilds {}, reorgs {}",
            side["side"].as_str().unwrap_or_default(),
            rate("most"),
            side["builds"],
            side["reorgs"]
        );
    }
    let bare = sides[0]["bare"].as_f64().unwrap_or(f64::NAN);
    let most = sides[0]["most"].as_f64().unwrap_or(0.0);
    println!(
        "bare axum + Redis GET: {bare:.0} requests/s; Kurier has {:.2} of it",
        most / bare
    );
    println!("verified: {verified}\nheaders: {headers}");
    keep(
        &args.out,
        &json!({"sides": sides, "verified": verified, "headers": headers}),
    )
}

fn start(
    args: &Args,
    filled: &Filled,
    chain: &HomeChain,
    redis: Option<&str>,
) -> anyhow::Result<Server> {
    let mut command = Command::new(&args.kurier);
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(filled.folder.path())
        .env(
            "HEADERS_SOURCE",
            format!("file://{}?chain=regtest", chain.path().display()),
        )
        .env("CACHE_TTLS_JSON", "{\"headers\":1,\"bundles\":300}")
        .env("POLICY_MIN_CONFS", "2")
        .env("KURIER_LOG", "warn");
    if let Some(url) = redis {
        command.env("KURIER_REDIS_URL", url);
    }
    Server::start(&mut command, &filled.folder.path().join("stderr"))
}

async fn side(args: &Args, redis: Option<&str>) -> anyhow::Result<Value> {
    if let Some(url) = redis {
        let mut connection = redis::Client::open(url)?
            .get_multiplexed_async_connection()
            .await?;
        redis::cmd("FLUSHALL").exec_async(&mut connection).await?;
    }
    let mut chain = HomeChain::new()?;
    let filled = fill::fill(args.bundles, &mut chain).await?;
    let mut server = start(args, &filled, &chain, redis)?;
    let warm = drive::once(server.address, &filled.ids).await?;
    let most = drive::closed(
        server.address,
        &drive::requests(&filled.ids),
        CLOSED_CONNECTIONS,
        CLOSED_SECONDS,
    )
    .await?;
    let plan = Plan {
        rate: args.rate,
        length: Duration::from_secs(args.seconds),
    };
    let before = counters(&server).await?;
    let moving = tokio::spawn(chain.moving(args.seconds));
    let paced = drive::paced(server.address, &filled.ids, &plan).await?;
    moving.await??;
    let after = counters(&server).await?;
    ensure!(paced.wrong == 0, "{} answers were wrong", paced.wrong);
    let bare = match redis {
        Some(url) => Some(beside_bare(url, &filled.ids).await?),
        None => None,
    };
    server.kill();
    Ok(told(
        redis.is_some(),
        &paced,
        &warm,
        (most, bare),
        (before, after),
    ))
}

fn told(
    in_redis: bool,
    paced: &Paced,
    warm: &[u32],
    (most, bare): (f64, Option<f64>),
    (before, after): ((f64, f64), (f64, f64)),
) -> Value {
    let mut misses = warm.to_vec();
    misses.extend(&paced.misses);
    json!({
        "side": if in_redis { "Redis" } else { "in process" },
        "hits": drive::spread(&paced.hits),
        "misses": drive::spread(&misses),
        "most": most,
        "bare": bare,
        "builds": after.0 - before.0,
        "reorgs": after.1 - before.1,
    })
}

/// How often bundles were built, and blocks found to be replaced.
async fn counters(server: &Server) -> anyhow::Result<(f64, f64)> {
    let mut client = crate::client::Client::connect(server.address).await?;
    let answer = client.get("/metrics").await?;
    let text = std::str::from_utf8(answer.body)?;
    let value = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.strip_prefix(name));
        let value = lines.next().and_then(|rest| rest.trim().parse().ok());
        value.unwrap_or(0.0)
    };
    Ok((
        value("kurier_bundle_builds_total "),
        value("kurier_reorg_detected_total "),
    ))
}

/// The same keys, answered by axum as Redis has them.
async fn beside_bare(url: &str, ids: &[String]) -> anyhow::Result<f64> {
    let program = std::env::current_exe().context("this program")?;
    let mut command = Command::new(program);
    command.args(["bundle-bare", "--redis", url]);
    let mut server = Server::start(&mut command, Path::new("/dev/null"))?;
    let most = drive::closed(
        server.address,
        &drive::requests(ids),
        CLOSED_CONNECTIONS,
        CLOSED_SECONDS,
    )
    .await;
    server.kill();
    most
}

fn authorization() -> String {
    format!("authorization: Bearer {ADMIN_KEY}\r\n")
}
