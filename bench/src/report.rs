//! The results: tables to read, JSON to keep.

use std::path::Path;

use comfy_table::{CellAlignment, Table, presets};

use crate::load::Shape;
use crate::outcome::{Outcome, Sample, Side, Verdict, median};
use crate::plan::{Args, Database, HANDLER, KURIER, NODE};

/// Prints the tables and writes the JSON.
pub fn write(outcome: &Outcome, args: &Args) -> anyhow::Result<()> {
    let databases = args.databases();
    let verdicts = outcome.verdicts(&databases);
    println!(
        "\nIngest, durable events: medians of {} rounds of {} s a cell\n",
        args.rounds, args.seconds
    );
    println!("{}\n", speeds(outcome, &databases));
    println!("{}\n", lives(outcome));
    println!("{}\n", targets(&verdicts));
    let json = serde_json::json!({
        "seconds": args.seconds,
        "rounds": args.rounds,
        "verdicts": verdicts,
        "samples": outcome.samples,
        "lives": outcome.lives,
    });
    keep(&args.out, &json)?;
    let lost = outcome.lives.iter().any(|life| !life.audit.is_good());
    anyhow::ensure!(!lost, "the log does not hold what was acknowledged");
    Ok(())
}

/// Writes all numbers down.
pub fn keep(file: &Path, json: &serde_json::Value) -> anyhow::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, serde_json::to_string_pretty(json)? + "\n")?;
    println!("all numbers: {}", file.display());
    Ok(())
}

pub fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(header);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn speeds(outcome: &Outcome, databases: &[Database]) -> Table {
    let mut table = table(&[
        "",
        "events × connections",
        "events/s",
        "requests/s",
        "p50 ms",
        "p99 ms",
    ]);
    for database in databases {
        let name = format!("bare loop, {}", database.name());
        let samples = outcome.of(Side::Bare, Some(*database), None);
        table.add_row(speed(&name, None, &samples));
        for shape in KURIER {
            let name = format!("Kurier, {}", database.name());
            let samples = outcome.of(Side::Kurier, Some(*database), Some(shape));
            table.add_row(speed(&name, Some(shape), &samples));
        }
    }
    for shape in HANDLER {
        let samples = outcome.of(Side::Handler, None, Some(shape));
        table.add_row(speed("bare handler, PostgreSQL", Some(shape), &samples));
    }
    for shape in NODE {
        let samples = outcome.of(Side::Node, None, Some(shape));
        table.add_row(speed("Node, one INSERT an event", Some(shape), &samples));
    }
    table
}

fn speed(name: &str, shape: Option<Shape>, samples: &[&Sample]) -> Vec<String> {
    let of = |part: &dyn Fn(&Sample) -> Option<f64>| {
        median(samples.iter().filter_map(|sample| part(sample)).collect())
    };
    let http = |part: fn(&crate::load::Measured) -> f64, digits: usize| match shape {
        Some(_) => number(of(&|sample| sample.http.as_ref().map(part)), digits),
        None => String::new(),
    };
    vec![
        name.to_owned(),
        shape.map_or_else(
            || "1,000 a transaction".to_owned(),
            |shape| format!("{} × {}", shape.events, shape.connections),
        ),
        number(of(&|sample| Some(sample.events_per_second)), 0),
        http(|measured| measured.requests_per_second, 0),
        http(|measured| measured.p50_ms, 2),
        http(|measured| measured.p99_ms, 2),
    ]
}

fn lives(outcome: &Outcome) -> Table {
    let mut table = table(&[
        "Kurier on",
        "idle MB",
        "peak MB",
        "after MB",
        "lag at end",
        "caught up in s",
        "acknowledged",
        "in the log after kill -9",
    ]);
    for life in &outcome.lives {
        let catch_up = life.catch_up_seconds;
        let audit = life.audit;
        let mark = if audit.is_good() { "" } else { " LOST" };
        table.add_row(vec![
            format!("{}, round {}", life.database.name(), life.round + 1),
            number(life.idle_mb, 1),
            number(life.peak_mb, 1),
            number(life.after_mb, 1),
            number(life.lag as f64, 0),
            catch_up.map_or_else(String::new, |seconds| number(seconds, 1)),
            number(audit.acknowledged as f64, 0),
            format!(
                "{} (+{} unanswered){mark}",
                number(audit.logged as f64, 0),
                audit.unanswered
            ),
        ]);
    }
    table
}

pub fn targets(verdicts: &[Verdict]) -> Table {
    let mut table = table(&["target", "needed", "found", ""]);
    for verdict in verdicts {
        let word = if verdict.pass { "PASS" } else { "MISS" };
        table.add_row(vec![
            verdict.target.clone(),
            number(verdict.needed, 1),
            number(verdict.found, 2),
            word.to_owned(),
        ]);
    }
    table
}

/// With commas between thousands.
pub fn number(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + rest
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(number(1_234_567.0, 0), "1,234,567");
        assert_eq!(number(999.0, 0), "999");
        assert_eq!(number(1_000.256, 2), "1,000.26");
    }
}
