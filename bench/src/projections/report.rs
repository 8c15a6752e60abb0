//! The table of projections, and how the figures stand to their targets.

use super::peer::PEERS;
use super::{Args, Measured};
use crate::outcome::{Verdict, median};
use crate::report::{keep, number, table, targets};

const PEER_RATIO: f64 = 25.0;
const BARE_RATIO: f64 = 0.5;
const REBUILD_RATIO: f64 = 1.0 / 3.0;

pub fn write(args: &Args, measured: &Measured) -> anyhow::Result<()> {
    let mut rows = table(&["", "events/s"]);
    for side in sides(measured) {
        rows.add_row([side.to_owned(), number(speed(measured, side), 0)]);
    }
    println!(
        "\nEvents folded: medians of {} rounds\n\n{rows}\n",
        args.rounds
    );
    let verdicts = verdicts(measured);
    println!("{}\n", targets(&verdicts));
    let json = serde_json::json!({"measured": measured.0, "verdicts": verdicts});
    keep(&args.out, &json)
}

/// Each side once, in the order in which it was measured.
fn sides(measured: &Measured) -> Vec<&str> {
    let mut sides: Vec<&str> = Vec::new();
    for speed in &measured.0 {
        if !sides.contains(&speed.side.as_str()) {
            sides.push(&speed.side);
        }
    }
    sides
}

fn speed(measured: &Measured, side: &str) -> f64 {
    let of_side = measured.0.iter().filter(|speed| speed.side == side);
    median(of_side.map(|speed| speed.events_per_second).collect())
}

/// What was not measured has no verdict.
fn verdicts(measured: &Measured) -> Vec<Verdict> {
    let best = PEERS.map(|peer| speed(measured, peer));
    let best = best.into_iter().fold(f64::NAN, f64::max);
    let mut verdicts = Vec::new();
    for database in ["SQLite", "PostgreSQL"] {
        let of = |side: &str, part: &str| speed(measured, &format!("{side}, {database}, {part}"));
        for (part, needed) in [
            ("live", BARE_RATIO),
            ("live, processed_events", BARE_RATIO),
            ("rebuild", REBUILD_RATIO),
        ] {
            let found = of("Kurier", part) / of("bare", part);
            let target = format!("{database}: {part}, of the bare loop");
            verdicts.push(Verdict::at_least(target, found, needed));
        }
        let target = format!("{database}: live, of the best peer");
        let found = of("Kurier", "live") / best;
        verdicts.push(Verdict::at_least(target, found, PEER_RATIO));
    }
    verdicts.retain(|verdict| !verdict.found.is_nan());
    verdicts
}
