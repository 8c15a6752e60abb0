//! The results: tables to read, JSON to keep.

use comfy_table::Table;

use super::outcome::Outcome;
use super::{Args, QUERIES};
use crate::report::{keep, number, table, targets};

/// Prints the tables and writes the JSON; fails if the sides did not agree.
pub fn write(outcomes: &[Outcome], args: &Args) -> anyhow::Result<()> {
    for outcome in outcomes {
        println!(
            "\nSegments, {}: medians of {} rounds, ms, best form of each\n",
            outcome.size.title(),
            args.rounds
        );
        println!("{}\n", speeds(outcome));
        println!("{}\n", loads(outcome));
    }
    // What is promised is promised of the largest.
    let verdicts = outcomes.last().map(Outcome::verdicts).unwrap_or_default();
    println!("{}\n", targets(&verdicts));
    keep(
        &args.out,
        &serde_json::json!({"rounds": args.rounds, "verdicts": verdicts, "sizes": outcomes}),
    )?;
    let differing: Vec<String> = outcomes.iter().flat_map(Outcome::differing).collect();
    anyhow::ensure!(
        differing.is_empty(),
        "the sides do not find the same contacts:\n{}",
        differing.join("\n")
    );
    println!("all sides found the same contacts");
    Ok(())
}

fn speeds(outcome: &Outcome) -> Table {
    let mut header = vec![""];
    header.extend(QUERIES.iter().map(|(query, _)| *query));
    let mut table = table(&header);
    for (side, _) in &outcome.loads {
        let times = QUERIES.iter().map(|(query, _)| {
            let (ms, form) = outcome.best(side, query);
            let form = if form == 0 {
                String::new()
            } else {
                format!(" ({form})")
            };
            number(ms, 2) + form.as_str()
        });
        table.add_row(std::iter::once(side.clone()).chain(times));
    }
    let members = QUERIES.iter().map(|(query, _)| outcome.members(query));
    table.add_row(std::iter::once("members".to_owned()).chain(members));
    table
}

fn loads(outcome: &Outcome) -> Table {
    let mut table = table(&[
        "",
        "version",
        "loaded in s",
        "RSS MB",
        "disk MB",
        "bytes/event",
        "bytes/contact",
    ]);
    let two = (
        "kurier, two properties".to_owned(),
        outcome.two_properties.clone(),
    );
    for (side, load) in outcome.loads.iter().chain([&two]) {
        let maybe = |value: Option<f64>| value.map_or_else(String::new, |value| number(value, 1));
        table.add_row(vec![
            side.clone(),
            load.version.clone(),
            number(load.seconds, 1),
            number(load.rss_mb, 0),
            maybe(load.disk_mb),
            maybe(load.bytes_per_event),
            maybe(load.bytes_per_contact),
        ]);
    }
    table
}
