//! Evaluations a second of one segment for one contact with twenty events, on one core: hot (the
//! same contact again) and cold (any of many), beside rule engines that get the same as JSON.

#[cfg(feature = "rule-engines")]
mod engines;
mod own;

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::clock::Random;
use crate::outcome::{Verdict, median};
use crate::report::{keep, number, table, targets};

/// Half of them purchases, half of those dear.
const EVENTS: usize = 20;
/// A look at the clock costs as much as an evaluation: so many are made between two looks.
const BETWEEN_LOOKS: usize = 64;
const HOT_MIN: f64 = 5e6;
const TIMES_BEST_MIN: f64 = 3.0;

#[derive(clap::Args)]
pub struct Args {
    /// Contacts that Kurier's cold evaluations go over; the engines get fewer, their JSON is large
    #[arg(long, default_value_t = 200_000)]
    contacts: usize,
    #[arg(long, default_value_t = 0.5)]
    seconds: f64,
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Where the results go as JSON
    #[arg(long)]
    out: PathBuf,
}

/// One who decides: for the contact of a number, whether the segment holds.
pub trait Decider {
    fn name(&self) -> &'static str;
    /// How many contacts it knows.
    fn contacts(&self) -> usize;
    fn decide(&mut self, contact: usize) -> bool;
}

/// The events of a contact: name and amount. Every other contact is in the segment.
pub fn events(contact: usize) -> impl Iterator<Item = (&'static str, f64)> {
    (0..EVENTS).map(move |at| match at % 4 {
        0 if contact.is_multiple_of(2) => ("purchase", 100.25 + at as f64),
        0 | 2 => ("purchase", 20.5),
        1 => ("login", 0.0),
        _ => ("page_view", 0.0),
    })
}

#[derive(Serialize)]
struct Speed {
    name: &'static str,
    contacts: usize,
    hot: f64,
    cold: f64,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let mut deciders: Vec<Box<dyn Decider>> = vec![Box::new(own::Own::new(args.contacts)?)];
    #[cfg(feature = "rule-engines")]
    deciders.extend(engines::all()?);
    for decider in &mut deciders {
        for contact in 0..decider.contacts().min(100) {
            let holds = decider.decide(contact);
            anyhow::ensure!(
                holds == contact.is_multiple_of(2),
                "{} is wrong",
                decider.name()
            );
        }
    }
    let mut rates = vec![(Vec::new(), Vec::new()); deciders.len()];
    for _ in 0..args.rounds {
        for (decider, (hot, cold)) in deciders.iter_mut().zip(&mut rates) {
            hot.push(rate(decider.as_mut(), args.seconds, false));
            cold.push(rate(decider.as_mut(), args.seconds, true));
        }
    }
    let speeds = deciders
        .iter()
        .zip(rates)
        .map(|(decider, (hot, cold))| Speed {
            name: decider.name(),
            contacts: decider.contacts(),
            hot: median(hot),
            cold: median(cold),
        });
    report(&speeds.collect::<Vec<_>>(), args)
}

fn rate(decider: &mut dyn Decider, seconds: f64, is_cold: bool) -> f64 {
    let mut random = Random::seeded(1);
    let contacts = decider.contacts();
    let (began, span) = (Instant::now(), Duration::from_secs_f64(seconds));
    let mut made = 0usize;
    while began.elapsed() < span {
        for _ in 0..BETWEEN_LOOKS {
            let contact = if is_cold { random.below(contacts) } else { 0 };
            black_box(decider.decide(black_box(contact)));
        }
        made += BETWEEN_LOOKS;
    }
    made as f64 / began.elapsed().as_secs_f64()
}

fn report(speeds: &[Speed], args: &Args) -> anyhow::Result<()> {
    let mut rows = table(&["", "hot, a second", "cold, a second", "contacts"]);
    for speed in speeds {
        rows.add_row(vec![
            speed.name.to_owned(),
            number(speed.hot, 0),
            number(speed.cold, 0),
            number(speed.contacts as f64, 0),
        ]);
    }
    println!(
        "\nEvaluations of one contact with {EVENTS} events, one core, medians of {} rounds\n\n{rows}\n",
        args.rounds
    );
    let best = |part: fn(&Speed) -> f64| speeds[1..].iter().map(part).fold(0.0, f64::max);
    let mut verdicts = vec![Verdict::at_least(
        "hot, millions a second",
        speeds[0].hot / 1e6,
        HOT_MIN / 1e6,
    )];
    if speeds.len() > 1 {
        let (hot, cold) = (
            speeds[0].hot / best(|s| s.hot),
            speeds[0].cold / best(|s| s.cold),
        );
        verdicts.push(Verdict::at_least(
            "hot / the fastest engine",
            hot,
            TIMES_BEST_MIN,
        ));
        verdicts.push(Verdict::at_least(
            "cold / the fastest engine",
            cold,
            TIMES_BEST_MIN,
        ));
    }
    println!("{}\n", targets(&verdicts));
    keep(
        &args.out,
        &serde_json::json!({"verdicts": verdicts, "speeds": speeds}),
    )
}
