//! Any text: it is a document with keys, and comes back as the same one.

use kurier_core::content::{
    Decision, Document, Numbers, Outline, Plan, Settings, Slugger, Target, Tree, check, render,
};

/// What holds of every text:
/// * it is a document whose nodes stand in order at exact places;
/// * every key is valid, and none is there twice;
/// * read in portions it is the same as read whole;
/// * importing it again changes nothing, and with a byte order mark in front it has the same keys;
/// * what is below a node are its children and what is below them;
/// * every node can be shown, and in HTML nothing of it is obeyed.
///
/// Seeds stand on one line each, so `␤` is the end of a line.
pub fn content(text: &str) {
    let source = text.replace('␤', "\n");
    for max_chars in [None, Some(7)] {
        let settings = Settings {
            max_chars,
            ..Settings::default()
        };
        let document = imported(&source, &settings, None).expect("a first import is a change");
        placed(&source, &document);
        keyed(&document);
        joined(&document);
        shown(&source, &document);
        parted(&source, &settings);
        let again = imported(&source, &settings, Some(&document));
        assert_eq!(again, None, "{source:?} changed");
        if !source.starts_with('\u{feff}') {
            let marked = imported(&format!("\u{feff}{source}"), &settings, None);
            let marked = marked.expect("a first import is a change");
            assert_eq!(keys(&marked), keys(&document), "{source:?}");
        }
    }
}

fn imported(source: &str, settings: &Settings, old: Option<&Document>) -> Option<Document> {
    let slugger = Slugger::new(settings);
    let outline = Outline::read(source, None, &slugger).expect("short enough");
    match Plan::new("source", old, &outline).decide(&mut Numbers::default()) {
        Decision::Changed(change) => Some(change.document),
        Decision::Unchanged => None,
    }
}

/// So short portions end in the middle of everything; a text of a few of them is read from two
/// places at once.
const PORTIONS_BYTES: [usize; 3] = [1, 7, 40];

fn parted(source: &str, settings: &Settings) {
    let slugger = Slugger::new(settings);
    let read = |bytes: usize| {
        let outline = Outline::read_in(bytes, source, None, &slugger);
        outline.expect("short enough")
    };
    let whole = read(usize::MAX);
    for bytes in PORTIONS_BYTES {
        let parts = read(bytes);
        assert_eq!(
            whole.nodes.len(),
            parts.nodes.len(),
            "{source:?} in {bytes}"
        );
        for (one, other) in whole.nodes.iter().zip(&parts.nodes) {
            assert_eq!(one, other, "{source:?} in {bytes}");
            assert_eq!(
                whole.title(one),
                parts.title(other),
                "{source:?} in {bytes}"
            );
            assert_eq!(whole.minor_titles(one), parts.minor_titles(other));
        }
    }
}

fn keys(document: &Document) -> Vec<String> {
    let nodes = document.nodes.iter();
    nodes.map(|node| node.key.to_string()).collect()
}

fn placed(source: &str, document: &Document) {
    let mut end = 0;
    for node in document.nodes.iter().skip(1) {
        let range = node.span.start as usize..node.span.end as usize;
        assert!(range.start >= end, "{source:?} at {range:?}");
        assert!(
            source.get(range.clone()).is_some(),
            "{source:?} at {range:?}"
        );
        end = range.end;
    }
}

fn keyed(document: &Document) {
    let keys = keys(document);
    let report = check(keys.iter().map(String::as_str));
    assert!(report.format_violations.is_empty(), "{report:?}");
    assert!(report.length_violations.is_empty(), "{report:?}");
    assert!(report.duplicates.is_empty(), "{report:?}");
}

fn joined(document: &Document) {
    let tree = Tree::new(document);
    for at in 0..tree.len() {
        let below: usize = tree
            .children(at)
            .map(|child| 1 + tree.all_descendants(child).len())
            .sum();
        assert_eq!(below, tree.all_descendants(at).len());
        let back = tree.next(at).map(|next| tree.previous(next));
        assert!(back.is_none_or(|back| back == Some(at)));
    }
}

fn shown(source: &str, document: &Document) {
    const TARGETS: [Target; 4] = [Target::Html, Target::Text, Target::Slack, Target::Sms];
    for node in &document.nodes {
        let text = document.text(node, source);
        for target in TARGETS {
            let shown = render(&text, &document.references, target).expect("short enough");
            let lower = shown.to_ascii_lowercase();
            let is_obeyed = lower.contains("<script") || lower.contains("href=\"javascript:");
            assert!(
                target != Target::Html || !is_obeyed,
                "{text:?} is shown as {shown}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One document a line: where the fuzzer begins, and what it found.
    const SEEDS: &str = include_str!("../content.seeds");

    #[test]
    fn the_seeds_hold() {
        SEEDS.lines().for_each(content);
        assert!(SEEDS.lines().count() > 20, "seeds lead into every rule");
    }

    #[test]
    #[should_panic(expected = "a b")]
    fn a_place_that_is_beside_the_text_is_found() {
        let settings = Settings::default();
        let mut document = imported("a b c d\n", &settings, None).expect("a change");
        document.nodes[1].span.end += 10;
        placed("a b c d\n", &document);
    }

    proptest! {
        /// Seeds cut, doubled and put together at any place.
        #[test]
        fn crossed_seeds_hold(
            pieces in prop::collection::vec((0..SEEDS.lines().count(), 0..40usize, 0..60usize), 1..5),
        ) {
            let text: String = pieces.iter().map(|(line, skip, take)| {
                let line = SEEDS.lines().nth(*line).expect("a line");
                line.chars().skip(*skip).take(*take).collect::<String>()
            }).collect();
            content(&text);
        }
    }
}
