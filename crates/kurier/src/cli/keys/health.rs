//! `kurier keys health`

use std::process::ExitCode;

use clap::Args;
use kurier_store::kv::{Node, Redis};
use serde_json::{Value, json};

use crate::cli::table;
use crate::upkeep::{Health, health};

#[derive(Debug, Args)]
#[command(after_help = "Example:
  kurier keys health --redis-url redis://localhost:6379 --pings 1000 --json")]
pub(super) struct HealthArgs {
    /// How many pings are measured
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pings: u32,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(redis: &Redis, args: &HealthArgs) -> anyhow::Result<ExitCode> {
    match health(redis, args.pings).await {
        Ok(health) => {
            report(&health, args);
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            if args.json {
                let reason = error.to_string();
                println!("{}", json!({"connected": false, "reason": reason}));
            } else {
                println!("Redis connected: no; {error}");
            }
            Ok(ExitCode::FAILURE)
        }
    }
}

fn report(health: &Health, args: &HealthArgs) {
    let ms = |percent| health.percentile(percent).as_secs_f64() * 1e3;
    if args.json {
        println!("{}", as_json(health, ms(50), ms(99), args.pings));
        return;
    }
    println!(
        "Redis connected: yes, latency: {:.2} ms (p50), {:.2} ms (p99) over {} pings",
        ms(50),
        ms(99),
        args.pings
    );
    println!("topology: {}", health.topology);
    let cells = |node: &Node| {
        vec![
            node.address.clone(),
            node.role.clone(),
            node.version.clone(),
            format!("{:.1} MB", node.memory_bytes as f64 / 1e6),
            node.replicas.to_string(),
        ]
    };
    table::print(
        &["node", "role", "version", "memory", "replicas"],
        health.nodes.iter().map(cells),
    );
}

fn as_json(health: &Health, p50: f64, p99: f64, pings: u32) -> Value {
    let node = |node: &Node| {
        json!({
            "address": node.address,
            "role": node.role,
            "version": node.version,
            "memory_bytes": node.memory_bytes,
            "replicas": node.replicas,
        })
    };
    json!({
        "connected": true,
        "latency_ms": {"p50": p50, "p99": p99, "pings": pings},
        "topology": health.topology,
        "nodes": health.nodes.iter().map(node).collect::<Vec<_>>(),
    })
}
