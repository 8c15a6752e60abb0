//! The tables of delivery, and how its figures stand to their targets.

use comfy_table::Table;

use super::peer::PEERS;
use super::{Args, BARE, Measured};
use crate::outcome::{Verdict, median};
use crate::report::{keep, number, table, targets};

const BARE_RATIO: f64 = 0.5;
const PEER_RATIO: f64 = 1.3;
const EMAIL_MIN: f64 = 2_000.0;
const WEBHOOK_MIN: f64 = 5_000.0;
const LATE_MS_MAX: f64 = 20.0;

pub fn write(args: &Args, measured: &Measured) -> anyhow::Result<()> {
    let verdicts = verdicts(measured);
    println!(
        "\nMessages a second: medians of {} rounds\n\n{}\n",
        args.rounds,
        speeds(measured)
    );
    println!(
        "One message at a time, 50 a second\n\n{}\n",
        latencies(measured)
    );
    println!("{}\n", targets(&verdicts));
    let json = serde_json::json!({"measured": measured, "verdicts": verdicts});
    keep(&args.out, &json)
}

/// What is named, each once, in the order in which it was measured.
fn sides<'a>(names: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut sides: Vec<&str> = Vec::new();
    for name in names {
        if !sides.contains(&name.as_str()) {
            sides.push(name);
        }
    }
    sides
}

fn speeds(measured: &Measured) -> Table {
    let mut rows = table(&["", "messages", "into the queue/s", "out of it/s"]);
    for side in sides(measured.speeds.iter().map(|speed| &speed.side)) {
        let of_side = measured.speeds.iter().filter(|speed| speed.side == side);
        let messages = of_side.clone().map(|speed| speed.messages).max();
        let enqueue = of_side.map(|speed| speed.enqueue_per_second).collect();
        rows.add_row([
            side.to_owned(),
            number(messages.unwrap_or(0) as f64, 0),
            number(median(enqueue), 0),
            number(drain(measured, side), 0),
        ]);
    }
    rows
}

fn latencies(measured: &Measured) -> Table {
    let mut rows = table(&["", "p50 ms", "p99 ms"]);
    for side in sides(measured.latencies.iter().map(|it| &it.side)) {
        let of_side = measured.latencies.iter().filter(|it| it.side == side);
        let p50 = of_side.map(|it| it.p50_ms).collect();
        rows.add_row([
            side.to_owned(),
            number(median(p50), 2),
            number(p99(measured, side), 2),
        ]);
    }
    rows
}

/// The median of one side's rounds.
fn drain(measured: &Measured, side: &str) -> f64 {
    let of_side = measured.speeds.iter().filter(|speed| speed.side == side);
    median(of_side.map(|speed| speed.drain_per_second).collect())
}

fn p99(measured: &Measured, side: &str) -> f64 {
    let of_side = measured.latencies.iter().filter(|it| it.side == side);
    median(of_side.map(|it| it.p99_ms).collect())
}

/// What was not measured has no verdict.
fn verdicts(measured: &Measured) -> Vec<Verdict> {
    let own = drain(measured, "Kurier, PostgreSQL, outbox");
    let peers = PEERS.map(|peer| drain(measured, peer));
    let best = peers.into_iter().fold(f64::NAN, f64::max);
    let mut verdicts = vec![
        Verdict::at_least(
            "PostgreSQL to the outbox, of the bare loop",
            own / drain(measured, BARE),
            BARE_RATIO,
        ),
        Verdict::at_least(
            "PostgreSQL to the outbox, of the best peer",
            own / best,
            PEER_RATIO,
        ),
    ];
    for (way, needed) in [("email", EMAIL_MIN), ("webhook", WEBHOOK_MIN)] {
        for database in ["SQLite", "PostgreSQL"] {
            let found = drain(measured, &format!("Kurier, {database}, {way}"));
            let target = format!("{database}: {way}, messages/s");
            verdicts.push(Verdict::at_least(target, found, needed));
        }
    }
    let own = measured.latencies.iter().map(|it| &it.side);
    for side in sides(own.filter(|side| side.starts_with("Kurier"))) {
        let target = format!("{side}: p99 ms until it is sent");
        verdicts.push(Verdict::at_most(target, p99(measured, side), LATE_MS_MAX));
    }
    verdicts.retain(|verdict| !verdict.found.is_nan());
    verdicts
}
