//! Results that were worked out beforehand, where they are at hand.

use std::path::Path;

use serde_json::Value;

use super::*;

/// The vectors; nothing where there are none.
fn vectors() -> Option<Value> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = ["../shared", "../../shared"]
        .map(|shared| root.join(shared).join("vectors/keys/vectors.json"));
    let Some(text) = path
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok())
    else {
        println!(
            "there are no vectors at {}: nothing to compare",
            path[0].display()
        );
        return None;
    };
    Some(serde_json::from_str(&text).expect("JSON"))
}

/// Looks at every entry of a list of vectors; there have to be so many.
fn each(list: &str, count: usize, look: impl Fn(&Value)) {
    let Some(vectors) = vectors() else {
        return;
    };
    let entries = vectors[list].as_array().expect("a list");
    assert_eq!(entries.len(), count, "{list}");
    entries.iter().for_each(look);
}

fn text<'v>(entry: &'v Value, field: &str) -> &'v str {
    entry[field]
        .as_str()
        .unwrap_or_else(|| panic!("{field} in {entry}"))
}

fn slugged(entry: &Value, settings: &Settings) -> String {
    let node_type = text(entry, "type").parse().expect("a type");
    let slugger = Slugger::new(settings);
    let identifier = slugger.identifier(text(entry, "input"), node_type, settings.lang);
    identifier.to_string()
}

#[test]
fn transformations_hold() {
    let whole = Settings {
        cut: Cut::WholeWords,
        ..Settings::default()
    };
    each("transformations", 15, |entry| {
        assert_eq!(
            slugged(entry, &Settings::default()),
            text(entry, "key"),
            "{entry}"
        );
        assert_eq!(
            slugged(entry, &whole),
            text(entry, "key_whole_words"),
            "{entry}"
        );
    });
}

#[test]
fn further_inputs_hold_in_both_languages() {
    let english = Settings {
        lang: Language::En,
        ..Settings::default()
    };
    each("extra", 17, |entry| {
        assert_eq!(
            slugged(entry, &Settings::default()),
            text(entry, "identifier"),
            "{entry}"
        );
        assert_eq!(
            slugged(entry, &english),
            text(entry, "identifier_en"),
            "{entry}"
        );
    });
}

#[test]
fn literal_keys_hold() {
    each("literals", 24, |entry| {
        let is_valid = entry["proposed"].as_bool().expect("a verdict");
        assert_eq!(is_key(text(entry, "key")), is_valid, "{entry}");
        assert!(is_key(text(entry, "cut")), "{entry}");
    });
}

#[test]
fn set_keys_hold() {
    each("sets", 14, |entry| {
        assert!(entry["proposed"].as_bool().expect("a verdict"));
        assert!(is_set_key(text(entry, "key")), "{entry}");
    });
}

#[test]
fn invalid_keys_are_refused() {
    each("invalid", 3, |entry| {
        assert!(!is_key(text(entry, "key")), "{entry}");
        assert!(!is_set_key(text(entry, "key")), "{entry}");
    });
}

#[test]
fn rolling_on_holds() {
    let Some(vectors) = vectors() else {
        return;
    };
    let rolled = vectors["rollover"].as_object().expect("fields");
    assert_eq!(rolled.len(), 3);
    let mut numbers = Numbers::default();
    let name = Name {
        node_type: NodeType::Para,
        identifier: "whats_next".parse().expect("an identifier"),
    };
    let given: Vec<String> = (0..=1998).map(|_| numbers.take(name).to_string()).collect();
    for (used, key) in rolled {
        let used: usize = used.parse().expect("a number");
        assert_eq!(given[used], key.as_str().expect("a key"));
    }
}
