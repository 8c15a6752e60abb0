//! What follows from the figures of content.

use super::import::Imported;
use super::{AGAIN_SIZE, BARE, Imports, OWN, OWN_ALONE, Row};
use crate::outcome::Verdict;

/// Those for which all that they need was measured.
pub fn all(rows: &[Row], imports: &Imports) -> Vec<Verdict> {
    let mut verdicts = of_files(rows);
    let again = |it: &&(&str, Imported)| it.1.megabytes as usize == AGAIN_SIZE;
    for (name, imported) in imports.iter().filter(again) {
        verdicts.extend(of_again(name, imported));
    }
    verdicts
}

fn of_files(rows: &[Row]) -> Vec<Verdict> {
    let find = |name: &str, size: usize| {
        let is_it = |row: &&Row| row.name == name && row.megabytes as usize == size;
        rows.iter().find(is_it)
    };
    let mut verdicts = Vec::new();
    if let Some(ten) = find(OWN, 10) {
        verdicts.push(at_least("10 MB to keys, MB/s", ten.speed(), 100.0));
        verdicts.push(at_most("10 MB to keys, s", ten.measured.seconds, 0.3));
        let target = "10 MB to keys, memory × size, with the text";
        verdicts.push(at_most(target, ten.memory(), 5.0));
    }
    if let (Some(ten), Some(hundred)) = (find(OWN, 10), find(OWN, 100)) {
        let linear = hundred.measured.seconds / (10.0 * ten.measured.seconds);
        // A larger heap costs the bare parser about a fifth, too; what is quadratic would show ten.
        verdicts.push(at_most("100 MB as ten times 10 MB", linear, 1.5));
    }
    let of_bare = [
        (OWN, "10 MB to keys, of the bare parser's speed"),
        (OWN_ALONE, "the same on one core"),
    ];
    for (own, target) in of_bare {
        if let (Some(own), Some(bare)) = (find(own, 10), find(BARE, 10)) {
            verdicts.push(at_least(target, own.speed() / bare.speed(), 0.5));
        }
    }
    for size in [1, 10] {
        if let (Some(own), Some(peer)) = (find(OWN, size), find("LangChain", size)) {
            let target = format!("{size} MB, times LangChain");
            verdicts.push(at_least(&target, own.speed() / peer.speed(), 10.0));
        }
    }
    verdicts
}

fn of_again(name: &str, imported: &Imported) -> Vec<Verdict> {
    let (again, size) = (&imported.again, AGAIN_SIZE);
    let target = |what: &str| format!("{size} MB unchanged, {name}, {what}");
    let mut verdicts = vec![
        at_most(&target("s"), again.seconds, 1.0),
        at_most(&target("events written"), again.events as f64, 0.0),
    ];
    if let Some(writes) = again.writes {
        verdicts.push(at_most(&target("keyspace writes"), writes as f64, 0.0));
    }
    verdicts
}

fn at_least(target: &str, found: f64, needed: f64) -> Verdict {
    Verdict {
        target: target.to_owned(),
        found,
        needed,
        pass: found >= needed,
    }
}

fn at_most(target: &str, found: f64, needed: f64) -> Verdict {
    Verdict {
        pass: found <= needed,
        ..at_least(target, found, needed)
    }
}
