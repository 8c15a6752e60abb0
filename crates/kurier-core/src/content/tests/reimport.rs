//! A document that comes again: its nodes keep their keys.

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;

use super::*;

const PARAGRAPHS: [&str; 8] = [
    "# Kapitel eins",
    "Ein erster Absatz mit sehr vielen eigenen Worten",
    "Ein zweiter Absatz mit Worten",
    "## Teil davon",
    "Immer dasselbe",
    "Immer dasselbe",
    "# Kapitel zwei",
    "Der letzte Absatz",
];

fn written(paragraphs: &[&str]) -> String {
    paragraphs.join("\n\n") + "\n"
}

/// The document after a change of its paragraphs, with what was given and what is gone.
fn after(change: impl FnOnce(&mut Vec<&'static str>)) -> (Document, Change) {
    let mut library = Library::default();
    let before = library.first(&written(&PARAGRAPHS));
    let mut paragraphs = PARAGRAPHS.to_vec();
    change(&mut paragraphs);
    let change = changed(library.import(Some(&before), &written(&paragraphs)));
    (before, change)
}

fn texts(keys: &[Key]) -> Vec<String> {
    keys.iter().map(Key::to_string).collect()
}

#[test]
fn the_same_text_changes_nothing() {
    let mut library = Library::default();
    let source = written(&PARAGRAPHS);
    let before = library.first(&source);
    assert_eq!(library.import(Some(&before), &source), Decision::Unchanged);
    assert!(before.is_of(&source, &library.settings));
    assert!(!before.is_of(&(source + "x"), &library.settings));
}

#[test]
fn an_inserted_paragraph_gets_a_key_and_others_keep_theirs() {
    let (before, change) = after(|paragraphs| paragraphs.insert(2, "Ganz neu hier"));
    let mut expected = keys(&before);
    expected.insert(2, "chunk:ganz_neu_hier:001".to_owned());
    assert_eq!(keys(&change.document), expected);
    assert_eq!(texts(&change.given), ["chunk:ganz_neu_hier:001"]);
    assert!(change.gone.is_empty());
}

#[test]
fn a_deleted_paragraph_leaves_a_tombstone() {
    let (before, change) = after(|paragraphs| {
        paragraphs.remove(4);
    });
    let mut expected = keys(&before);
    // Of two with the same text it cannot be told which one went.
    assert!(
        ["chunk:immer_dasselbe:001", "chunk:immer_dasselbe:002"].contains(&expected[4].as_str())
    );
    expected.remove(5);
    assert_eq!(keys(&change.document), expected);
    assert_eq!(texts(&change.gone), ["chunk:immer_dasselbe:002"]);
    assert!(change.given.is_empty());
}

#[test]
fn a_moved_paragraph_keeps_its_key() {
    let (before, change) = after(|paragraphs| {
        let moved = paragraphs.remove(1);
        paragraphs.push(moved);
    });
    let mut expected = keys(&before);
    let moved = expected.remove(1);
    expected.push(moved);
    assert_eq!(keys(&change.document), expected);
    assert!(change.given.is_empty() && change.gone.is_empty());
    assert_eq!(change.document.nodes[8].parent, Some(6));
}

#[test]
fn an_edited_paragraph_that_begins_the_same_keeps_its_key() {
    let (before, change) = after(|paragraphs| {
        paragraphs[1] = "Ein erster Absatz mit sehr vielen eigenen Worten und mehr"
    });
    assert_eq!(keys(&change.document), keys(&before));
    assert!(change.given.is_empty() && change.gone.is_empty());
}

#[test]
fn a_paragraph_that_begins_anew_is_a_new_one_and_others_keep_their_keys() {
    let (before, change) = after(|paragraphs| paragraphs[2] = "Voellig anderer Text");
    let mut expected = keys(&before);
    expected[2] = "chunk:voellig_anderer_text:001".to_owned();
    assert_eq!(keys(&change.document), expected);
    assert_eq!(texts(&change.gone), ["chunk:zweiter_absatz_worten:001"]);
}

#[test]
fn a_renamed_document_keeps_its_key() {
    let mut library = Library::default();
    let before = library.first("---\ntitle: Eins\n---\nText\n");
    let change = changed(library.import(Some(&before), "---\ntitle: Zwei\n---\nText\n"));
    assert_eq!(change.document.nodes[0].key.to_string(), "doc:eins:001");
    let called = change.document.nodes[0]
        .called
        .map(|called| called.to_string());
    assert_eq!(called.as_deref(), Some("zwei"));
    assert!(change.given.is_empty() && change.gone.is_empty());
}

/// Which of two that are called the same was edited is told by what stands around them.
#[test]
fn neighbours_tell_which_of_two_with_one_name_it_is() {
    let note = |end: &str| format!("Note that this is a long way {end}");
    let (first, second) = (note("one"), note("two"));
    let mut library = Library::default();
    let before = library.first(&written(&[&first, "Anker hier", &second]));
    let edited = note("two, edited");
    let change = changed(library.import(Some(&before), &written(&["Anker hier", &edited])));
    assert_eq!(keys(&change.document), keys(&before)[1..]);
    assert_eq!(texts(&change.gone), keys(&before)[..1]);
}

/// Where nothing stands just so, names tell who is who, in their order: not places.
#[test]
fn names_in_their_order_tell_edited_ones_from_new_ones() {
    let alpha = |end: &str| format!("Alpha beta gamma delta fuchs {end}");
    let berta = |end: &str| format!("Berta caesar dora emil hans {end}");
    let mut library = Library::default();
    let before = library.first(&written(&[&alpha("eins"), &berta("eins")]));
    let known = keys(&before);
    let (edited_a, edited_b) = (alpha("zwei"), berta("zwei"));
    let text = written(&["Ganz neu hier", &edited_a, &edited_b]);
    let change = changed(library.import(Some(&before), &text));
    let new = "chunk:ganz_neu_hier:001".to_owned();
    assert_eq!(keys(&change.document), [&[new], &known[..]].concat());
    assert!(change.gone.is_empty(), "{:?}", change.gone);
    let change = changed(library.import(Some(&before), &written(&[&edited_b])));
    assert_eq!(keys(&change.document), known[1..]);
    assert_eq!(texts(&change.gone), known[..1]);
}

#[test]
fn line_ends_and_marks_change_no_key() {
    let mut library = Library::default();
    let source = written(&PARAGRAPHS);
    let before = library.first(&source);
    for other in [
        source.replace('\n', "\r\n"),
        source.replace('\n', "\r"),
        format!("\u{feff}{source}"),
        source.replace("\n\n", "\n\n\n\n"),
    ] {
        let change = changed(library.import(Some(&before), &other));
        assert_eq!(keys(&change.document), keys(&before));
        assert!(change.given.is_empty() && change.gone.is_empty());
    }
}

#[test]
fn settings_change_no_key_that_was_given() {
    let mut library = Library::default();
    let source = "# 2026 Plan\n\nText 5\n";
    let before = library.first(source);
    library.settings.numbers = Numerals::Digits;
    let change = changed(library.import(Some(&before), source));
    assert_eq!(keys(&change.document), keys(&before));
    assert_eq!(
        library.import(Some(&change.document), source),
        Decision::Unchanged
    );
}

#[test]
fn a_document_is_kept_as_json() {
    let document =
        imported("---\ntitle: X y\ntags: [a]\n---\n# Aa\n\n#### Bb\n\n[r]\n\n[r]: /u 't'\n");
    let json = serde_json::to_string(&document).expect("JSON");
    let read: Document = serde_json::from_str(&json).expect("a document");
    assert_eq!(read, document);
    assert!(serde_json::from_str::<Key>("\"doc:a__b:001\"").is_err());
    assert!(serde_json::from_str::<Digest>("\"abc\"").is_err());
    assert_eq!(withdrawn(&document).len(), document.nodes.len());
}

#[test]
fn counters_that_have_to_be_known_are_asked_for() {
    let name = |text: &str| Name {
        node_type: NodeType::Ch,
        identifier: text.parse().expect("an identifier"),
    };
    let (risk, other) = (name("risk"), name("other"));
    let mut numbers = Numbers::default();
    assert_eq!(numbers.lacking([risk, risk, other]), [other, risk]);
    numbers.set(risk, 998);
    numbers.set(other, 7);
    assert_eq!(numbers.lacking([risk, risk, other]), [name("risk_2")]);
    numbers.set(name("risk_2"), 0);
    assert_eq!(numbers.lacking([risk, risk, other]), []);
    let taken = [risk, risk, other].map(|name| numbers.take(name).to_string());
    assert_eq!(taken, ["ch:risk:999", "ch:risk_2:001", "ch:other:008"]);
}

#[test]
fn counters_come_back_from_the_keys_that_were_given() {
    let mut library = Library::default();
    let first = changed(library.import(None, &"## Whats next\n\n".repeat(1_500)));
    let second = changed(library.import(Some(&first.document), "## Whats next\n\n# Neu\n"));
    let mut rebuilt = Numbers::default();
    let given = first.given.iter().chain(&second.given);
    // In whatever order they are told.
    given.rev().for_each(|key| rebuilt.learn(key));
    assert_eq!(rebuilt, library.numbers);
    assert_eq!(
        rebuilt.take(first.given[1].name),
        library.numbers.take(first.given[1].name)
    );
}

/// Two who import at once are put in order by the log; in whatever order, no key is given twice.
#[test]
fn in_any_order_documents_have_their_own_keys() {
    let sources = ["# Aa\n\n# Bb\n", "# Bb\n\n# Aa\n\n# Aa\n"];
    for order in [[0, 1], [1, 0]] {
        let mut library = Library::default();
        let documents = order.map(|at| library.first(sources[at]));
        let all: Vec<String> = documents.iter().flat_map(keys).collect();
        assert_eq!(check(all.iter().map(String::as_str)).duplicates, [""; 0]);
        let lengths = documents.map(|document| document.nodes.len());
        assert_eq!(lengths, order.map(|at| [3, 4][at]));
    }
}

#[test]
fn a_large_document_that_changes_everywhere_is_matched_soon() {
    let line = |at: usize, text: &str| format!("Absatz nummer{at} steht hier fuer sich {text}\n\n");
    let before: String = (0..30_000).map(|at| line(at, "alt")).collect();
    let after: String = (0..30_000).rev().map(|at| line(at, "neu")).collect();
    let same: String = "Immer wieder dasselbe hier und da drueben\n\n".repeat(30_000);
    let edited: String = (0..30_000)
        .map(|at| format!("Immer wieder dasselbe hier und da {at}\n\n"))
        .collect();
    let mut library = Library::default();
    let document = library.first(&before);
    let change = changed(library.import(Some(&document), &after));
    // All of it was edited and stands the other way round: one can have stayed.
    assert_eq!(change.given.len(), 29_999);
    let document = library.first(&same);
    let change = changed(library.import(Some(&document), &edited));
    assert!(keys(&change.document) == keys(&document), "all are kept");
}

/// Nothing tells them apart but their order, and there are too many to compare all pairs.
#[test]
fn many_with_one_name_that_are_all_edited_keep_their_keys_in_order() {
    let line = |at: usize, end: &str| format!("Immer wieder dasselbe hier und da {at}{end}");
    let mut library = Library::default();
    let lines: Vec<String> = (0..300).map(|at| line(at, "")).collect();
    let before = library.first(&(lines.join("\n\n") + "\n"));
    let mut edited: Vec<String> = (0..300).map(|at| line(at, ", neu")).collect();
    let all = changed(library.import(Some(&before), &(edited.join("\n\n") + "\n")));
    assert_eq!(keys(&all.document), keys(&before));
    assert!(all.given.is_empty() && all.gone.is_empty());
    edited.insert(0, "Ganz neu hier".to_owned());
    edited.truncate(290);
    let fewer = changed(library.import(Some(&before), &(edited.join("\n\n") + "\n")));
    assert_eq!(keys(&fewer.document)[1..], keys(&before)[..289]);
    assert_eq!((fewer.given.len(), fewer.gone.len()), (1, 11));
}

/// Names of two kinds in turn: what is left out of the first kind breaks no order of the second.
#[test]
fn many_with_two_names_keep_the_most_keys_that_order_allows() {
    let line = |at: usize, end: &str| match at % 2 {
        0 => format!("Immer wieder dasselbe hier und da {at}{end}"),
        _ => format!("Niemals etwas anderes dort und hier {at}{end}"),
    };
    let mut library = Library::default();
    let lines: Vec<String> = (0..600).map(|at| line(at, "")).collect();
    let before = library.first(&(lines.join("\n\n") + "\n"));
    let edited: Vec<String> = (0..600).skip(10).map(|at| line(at, ", neu")).collect();
    let change = changed(library.import(Some(&before), &(edited.join("\n\n") + "\n")));
    assert!(change.given.is_empty(), "{:?}", change.given);
    assert_eq!(change.gone.len(), 10);
}

proptest! {
    /// Some systems save every `ü` as two characters: that is no change of the text.
    #[test]
    fn a_document_that_is_saved_decomposed_keeps_its_keys(
        source in super::properties::documents(),
    ) {
        let mut library = Library::default();
        let before = library.first(&source);
        let decomposed: String = source.nfd().collect();
        if let Decision::Changed(change) = library.import(Some(&before), &decomposed) {
            let diff = Diff::new(Some(&before), &change);
            prop_assert_eq!(keys(&change.document), keys(&before));
            prop_assert_eq!((diff.new.len(), diff.changed.len(), diff.gone.len()), (0, 0, 0));
        }
    }

    /// Also where paragraphs moved, so that only their texts tell who they are.
    #[test]
    fn paragraphs_that_are_decomposed_and_moved_keep_their_keys(
        (paragraphs, moved) in prop::collection::vec("[a-cäöü]{1,4}( [a-eüßé]{1,6}){1,6}", 1..20)
            .prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
    ) {
        let mut library = Library::default();
        let before = library.first(&paragraphs.join("\n\n"));
        let decomposed: String = moved.join("\n\n").nfd().collect();
        if let Decision::Changed(change) = library.import(Some(&before), &decomposed) {
            prop_assert!(change.given.is_empty() && change.gone.is_empty());
            let text_of = |key: Key| {
                let node = before.nodes.iter().find(|node| node.key == key);
                node.map(|node| node.sha256)
            };
            for node in &change.document.nodes {
                prop_assert_eq!(text_of(node.key), Some(node.sha256));
            }
        }
    }

    /// Whatever is done to one paragraph, those that are there once keep their keys.
    #[test]
    fn one_change_leaves_the_others_alone(
        count in 2..30_usize,
        from in 0..30_usize,
        to in 0..30_usize,
        kind in 0..4_usize,
    ) {
        let paragraph = |at: usize| format!("Wort{at} steht allein in Absatz {at}");
        let mut paragraphs: Vec<String> = (0..count).map(paragraph).collect();
        let mut library = Library::default();
        let before = library.first(&(paragraphs.join("\n\n") + "\n"));
        let (from, to) = (from % count, to % count);
        match kind {
            0 => paragraphs.insert(from, "Ganz neuer Absatz".to_owned()),
            1 => drop(paragraphs.remove(from)),
            2 => paragraphs[from].push_str(", geaendert"),
            _ => {
                let moved = paragraphs.remove(from);
                paragraphs.insert(to, moved);
            }
        }
        let decision = library.import(Some(&before), &(paragraphs.join("\n\n") + "\n"));
        let after = match decision {
            Decision::Unchanged => before.clone(),
            Decision::Changed(change) => change.document,
        };
        let key_of = |document: &Document, source: &str, at: usize| {
            let begin = format!("wort{at}_steht");
            let found = document.nodes.iter().find(|node| {
                node.name().identifier.as_str().starts_with(&begin)
            });
            let key = found.map(|node| node.key);
            prop_assert!(key.is_some() || source.is_empty() || kind == 1, "{}", begin);
            Ok(key)
        };
        for at in (0..count).filter(|at| kind != 1 || *at != from) {
            prop_assert_eq!(key_of(&before, "x", at)?, key_of(&after, "x", at)?);
        }
        prop_assert_eq!(before.nodes[0].key, after.nodes[0].key);
    }

    /// Any document after any other: no key is there twice, none that is gone comes back, and
    /// what is given, kept and gone adds up.
    #[test]
    fn keys_are_never_given_twice(
        sources in prop::collection::vec(super::navigation::documents(), 1..6),
    ) {
        let mut library = Library::default();
        let mut document: Option<Document> = None;
        let mut gone: Vec<Key> = Vec::new();
        for source in &sources {
            let Decision::Changed(change) = library.import(document.as_ref(), source) else {
                continue;
            };
            gone.extend(&change.gone);
            let keys = withdrawn(&change.document);
            let texts = texts(&keys);
            prop_assert!(check(texts.iter().map(String::as_str)).duplicates.is_empty());
            prop_assert!(keys.iter().all(|key| !gone.contains(key)));
            let old = document.as_ref().map_or(0, |document| document.nodes.len());
            prop_assert_eq!(old - change.gone.len() + change.given.len(), keys.len());
            document = Some(change.document);
        }
    }
}
