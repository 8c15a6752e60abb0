//! The tables of bundles, and how their figures stand to their targets.

use comfy_table::Table;

use super::drive::Spread;
use super::side::Side;
use super::{Args, Measured};
use crate::outcome::{Verdict, median};
use crate::report::{keep, number, table, targets};

const HIT_P95_MS_MAX: f64 = 5.0;
const BARE_RATIO: f64 = 0.5;
const PROOF_MICROS_MAX: f64 = 20.0;
/// Of a forged proof.
const REFUSED_MICROS_MAX: f64 = 1_000.0;
const REFUSED_MB_MAX: f64 = 1.0;
const HEADERS_MIN: f64 = 1_000_000.0;

pub fn write(args: &Args, measured: &Measured) -> anyhow::Result<()> {
    println!(
        "\n{} bundles, {} requests/s for {} s, a new tip every second and one reorg\n\n{}\n",
        number(args.bundles as f64, 0),
        number(args.rate as f64, 0),
        args.seconds,
        latencies(measured)
    );
    println!("{}\n", moves(measured));
    println!(
        "As fast as they are answered: medians of {} rounds of {} s\n\n{}\n",
        args.rounds,
        args.round_seconds,
        speeds(measured)
    );
    println!("A proof of 12 levels\n\n{}\n", proofs(measured));
    println!("Headers checked from a file\n\n{}\n", headers(measured));
    let verdicts = verdicts(measured);
    println!("{}\n", targets(&verdicts));
    keep(
        &args.out,
        &serde_json::json!({"measured": measured, "verdicts": verdicts}),
    )?;
    let wrong = measured.redis.wrong + measured.in_process.wrong;
    anyhow::ensure!(wrong == 0, "{wrong} answers were wrong");
    check(&verdicts, args.strict)
}

/// A machine that has other things to do misses targets, so only who asks for it is failed.
fn check(verdicts: &[Verdict], strict: bool) -> anyhow::Result<()> {
    let missed = verdicts.iter().filter(|verdict| !verdict.pass);
    let missed: Vec<&str> = missed.map(|verdict| verdict.target.as_str()).collect();
    anyhow::ensure!(missed.is_empty() || !strict, "MISS: {}", missed.join("; "));
    Ok(())
}

fn sides(measured: &Measured) -> [(&'static str, &Side); 2] {
    [
        ("Redis", &measured.redis),
        ("in process", &measured.in_process),
    ]
}

fn latencies(measured: &Measured) -> Table {
    let mut rows = table(&["", "answers", "p50 ms", "p95 ms", "p99 ms"]);
    for (name, side) in sides(measured) {
        let kinds: [(&str, &Spread); 3] = [
            ("hits", &side.hits),
            ("misses", &side.misses),
            ("misses before, one at a time", &side.first),
        ];
        for (kind, spread) in kinds {
            rows.add_row([
                format!("{name}, {kind}"),
                number(spread.count as f64, 0),
                number(spread.p50_ms, 2),
                number(spread.p95_ms, 2),
                number(spread.p99_ms, 2),
            ]);
        }
    }
    rows
}

fn moves(measured: &Measured) -> Table {
    let mut rows = table(&[
        "",
        "tips",
        "bundles in the replaced block",
        "found replaced",
        "built anew",
        "answers off the chain",
        "wrong answers",
        "peak MB",
    ]);
    for (name, side) in sides(measured) {
        rows.add_row([
            name.to_owned(),
            side.tips.to_string(),
            side.replaced.to_string(),
            number(side.reorgs, 0),
            number(side.builds, 0),
            side.off_chain.to_string(),
            side.wrong.to_string(),
            number(side.memory_mb, 1),
        ]);
    }
    rows
}

fn speeds(measured: &Measured) -> Table {
    let mut rows = table(&["", "requests/s"]);
    for (name, rates) in [
        ("Kurier, Redis", &measured.redis.most),
        ("bare axum and a GET of Redis", &measured.redis.bare),
        ("Kurier, in process", &measured.in_process.most),
    ] {
        rows.add_row([name.to_owned(), number(median(rates.clone()), 0)]);
    }
    rows
}

fn proofs(measured: &Measured) -> Table {
    let mut rows = table(&["", "µs", "proofs/s"]);
    let verified = &measured.verified;
    for (name, rate) in [
        ("Kurier", Some(verified.own)),
        ("@bsv/sdk", verified.sdk),
        ("bsv-rs", verified.other_crate),
    ] {
        if let Some(rate) = rate {
            rows.add_row([name.to_owned(), number(1e6 / rate, 2), number(rate, 0)]);
        }
    }
    rows
}

fn headers(measured: &Measured) -> Table {
    let mut rows = table(&["", "headers", "headers/s"]);
    for checked in &measured.headers {
        rows.add_row([
            checked.name.clone(),
            number(checked.count as f64, 0),
            number(checked.per_second, 0),
        ]);
    }
    rows
}

/// The median of the rounds' ratios, as both sides were slowed down by the same.
fn ratio(side: &Side) -> f64 {
    let rounds = side.most.iter().zip(&side.bare);
    median(rounds.map(|(most, bare)| most / bare).collect())
}

fn verdicts(measured: &Measured) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for (name, side) in sides(measured) {
        let target = format!("{name}: p95 of hits, ms");
        verdicts.push(Verdict::at_most(target, side.hits.p95_ms, HIT_P95_MS_MAX));
        // A tip alone builds nothing.
        let replaced = side.replaced as f64;
        let target = format!("{name}: bundles built anew");
        verdicts.push(Verdict::at_most(target, side.builds, replaced));
        let target = format!("{name}: wrong answers");
        verdicts.push(Verdict::at_most(target, side.wrong as f64, 0.0));
    }
    verdicts.push(Verdict::at_least(
        "Redis: requests/s, of bare axum and a GET",
        ratio(&measured.redis),
        BARE_RATIO,
    ));
    verdicts.push(Verdict::at_most(
        "a proof of 12 levels, µs",
        1e6 / measured.verified.own,
        PROOF_MICROS_MAX,
    ));
    let refused = &measured.verified.refused;
    let slowest = format!("the slowest of {} forged proofs, µs", refused.count);
    verdicts.push(Verdict::at_most(
        slowest,
        refused.slowest_micros,
        REFUSED_MICROS_MAX,
    ));
    verdicts.push(Verdict::at_most(
        "memory to refuse them, MB",
        refused.grown_mb,
        REFUSED_MB_MAX,
    ));
    for checked in &measured.headers {
        let target = format!("headers/s, {}", checked.name);
        let verdict = Verdict::at_least(target, checked.per_second, HEADERS_MIN);
        verdicts.push(verdict);
    }
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_target_fails_those_who_are_strict() {
        let met = Verdict::at_most("p95 of hits, ms", 4.0, HIT_P95_MS_MAX);
        let missed = Verdict::at_least("headers/s", 10.0, HEADERS_MIN);
        assert!(check(std::slice::from_ref(&met), true).is_ok());
        let both = [met, missed];
        assert!(check(&both, false).is_ok());
        let error = check(&both, true).expect_err("it is missed");
        assert_eq!(error.to_string(), "MISS: headers/s");
        assert!(targets(&both).to_string().contains("MISS"));
    }
}
