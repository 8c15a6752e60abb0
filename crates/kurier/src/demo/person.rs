//! The people of the demo: a number is a person, always the same one.

use serde_json::{Value, json};

use super::dice::Dice;

const GERMAN_FIRST: &[&str] = &[
    "Anna",
    "Lukas",
    "Marie",
    "Jonas",
    "Sophie",
    "Felix",
    "Lena",
    "Maximilian",
    "Laura",
    "Paul",
    "Johanna",
    "Elias",
    "Katharina",
    "Moritz",
    "Emilia",
    "Jan",
    "Charlotte",
    "Tobias",
    "Greta",
    "Sebastian",
    "Frieda",
    "Matthias",
    "Ida",
    "Niklas",
    "Jürgen",
    "Käthe",
];
const GERMAN_LAST: &[&str] = &[
    "Müller",
    "Schmidt",
    "Schneider",
    "Fischer",
    "Weber",
    "Meyer",
    "Wagner",
    "Becker",
    "Schulz",
    "Hoffmann",
    "Schäfer",
    "Koch",
    "Bauer",
    "Richter",
    "Klein",
    "Wolf",
    "Schröder",
    "Neumann",
    "Schwarz",
    "Zimmermann",
    "Braun",
    "Krüger",
    "Hofmann",
    "Lange",
    "Werner",
    "Krause",
];
const ENGLISH_FIRST: &[&str] = &[
    "Olivia", "Noah", "Amelia", "George", "Isla", "Oliver", "Ava", "Harry", "Grace", "Jack",
    "Freya", "Charlie", "Emily", "Thomas", "Ella", "Henry", "Lily", "Oscar", "Sienna", "William",
    "Ruby", "James", "Evie", "Samuel", "Poppy", "Theo",
];
const ENGLISH_LAST: &[&str] = &[
    "Smith", "Jones", "Taylor", "Brown", "Williams", "Wilson", "Johnson", "Davies", "Patel",
    "Wright", "Walker", "Robinson", "Thompson", "White", "Hughes", "Edwards", "Green", "Hall",
    "Wood", "Harris", "Clarke", "Jackson", "Clark", "Turner", "Hill", "Cooper",
];
const GERMAN_CITIES: &[&str] = &[
    "Berlin", "Hamburg", "München", "Köln", "Leipzig", "Freiburg", "Bremen", "Dresden",
];
const ENGLISH_CITIES: &[&str] = &[
    "London",
    "Leeds",
    "Bristol",
    "Manchester",
    "Edinburgh",
    "Cardiff",
    "Dublin",
    "York",
];
const COMPANIES: &[&str] = &[
    "Nordlicht",
    "Ahorn & Sohn",
    "Blue Kettle",
    "Fairway",
    "Quint",
    "Papierwerk",
    "Harbour",
    "Linden",
    "Oakfield",
    "Werkbank",
    "Bright Fold",
    "Kontor 7",
];

/// What the number's person is called by clients.
pub fn user_id(number: u64) -> String {
    format!("demo-{number:05}")
}

/// What is known of the number's person.
pub fn traits(number: u64) -> Value {
    let mut dice = Dice::new(number.wrapping_mul(7_919));
    let is_german = dice.chance(60);
    let (firsts, lasts, cities) = match is_german {
        true => (GERMAN_FIRST, GERMAN_LAST, GERMAN_CITIES),
        false => (ENGLISH_FIRST, ENGLISH_LAST, ENGLISH_CITIES),
    };
    let (first, last) = (dice.pick(firsts), dice.pick(lasts));
    let plan = match dice.below(10) {
        0 | 1 => "pro",
        2 => "team",
        _ => "free",
    };
    json!({
        "first_name": first,
        "last_name": last,
        "email": format!("{}.{}.{number}@example.com", plain(first), plain(last)),
        "language": if is_german { "de" } else { "en" },
        "country": if is_german { "DE" } else { "GB" },
        "city": dice.pick(cities),
        "company": dice.pick(COMPANIES),
        "plan": plan,
        "seats": 1 + dice.below(40),
    })
}

/// A name as addresses have it.
fn plain(name: &str) -> String {
    let small = name.to_lowercase();
    let small = small.replace('ä', "ae").replace('ö', "oe");
    small.replace('ü', "ue").replace('ß', "ss")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn people_are_the_same_each_time_and_differ_from_each_other() {
        let all: Vec<Value> = (0..2_000).map(traits).collect();
        let again: Vec<Value> = (0..2_000).map(traits).collect();
        assert_eq!(all, again);
        let emails: BTreeSet<&str> = all.iter().filter_map(|it| it["email"].as_str()).collect();
        assert_eq!(emails.len(), 2_000);
        assert!(emails.iter().all(|it| it.is_ascii()), "{emails:?}");
        let german = all.iter().filter(|it| it["language"] == "de").count();
        assert!((1_000..1_400).contains(&german), "{german}");
    }
}
