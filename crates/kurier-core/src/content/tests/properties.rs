//! What holds of any text.

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;

use super::*;

/// Letters with and without marks, other scripts, symbols, digits, whatever.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Z]{1,12}",
        "[0-9]{1,5}",
        "[äöüÄÖÜßéÉñçøåŁ]{1,3}",
        "[\u{410}-\u{44f}\u{4e00}-\u{4e40}\u{3041}-\u{3090}]{1,4}",
        "[&%€$@#+=<>_/.,{}?!-]{1,3}",
        Just("VaR".to_owned()),
        Just("\u{1f680}".to_owned()),
        Just("i\u{307}\u{200d}".to_owned()),
        any::<char>().prop_map(|c| c.to_string()),
    ];
    let gap = prop_oneof![Just(""), Just(" "), Just("\n")];
    prop::collection::vec((piece, gap), 0..12)
        .prop_map(|pieces| pieces.into_iter().map(|(piece, gap)| piece + gap).collect())
}

fn identifiers(text: &str) -> Vec<Identifier> {
    let mut found = Vec::new();
    for numbers in [Numerals::Words, Numerals::Digits] {
        for cut in [Cut::Hard, Cut::WholeWords] {
            let slugger = Slugger::new(&Settings {
                numbers,
                cut,
                ..Settings::default()
            });
            for language in [Language::De, Language::En] {
                let types = NodeType::ALL.into_iter();
                found.extend(types.map(|kind| slugger.identifier(text, kind, language)));
                found.push(slugger.name(text, language));
            }
        }
    }
    found
}

proptest! {
    #[test]
    fn identifiers_are_valid_and_repeatable(text in texts()) {
        let found = identifiers(&text);
        for identifier in &found {
            prop_assert_eq!(&identifier.as_str().parse::<Identifier>(), &Ok(*identifier));
        }
        prop_assert_eq!(found, identifiers(&text));
    }

    #[test]
    fn identifiers_are_the_same_composed_or_not(text in texts()) {
        let (composed, decomposed): (String, String) = (text.nfc().collect(), text.nfd().collect());
        prop_assert_eq!(identifiers(&composed), identifiers(&decomposed));
    }

    /// What an identifier is made of it is made of again.
    #[test]
    fn an_identifier_is_its_own(text in texts()) {
        let settings = Settings { numbers: Numerals::Digits, ..Settings::default() };
        let slugger = Slugger::new(&settings);
        let once = slugger.identifier(&text, NodeType::Ch, Language::De);
        let twice = slugger.identifier(once.as_str(), NodeType::Ch, Language::De);
        prop_assert_eq!(once, twice);
    }

    /// The beginning of a long text decides as the whole one does.
    #[test]
    fn chunks_are_called_by_their_whole_text(words in prop::collection::vec("[a-zäöü]{1,9}|die|und|VaR|[0-9]{1,4}", 0..200)) {
        let text = words.join(" ");
        let document = imported(&format!("x {text}\n"));
        let called = document.nodes[1].key.name.identifier.to_string();
        prop_assert_eq!(called, chunk(&format!("x {text}")));
    }

    #[test]
    fn documents_are_the_same_however_they_are_saved(source in documents()) {
        let source = source.replace("\r\n", "\n");
        let plain = nodes_of(&source);
        prop_assert_eq!(&nodes_of(&source.replace('\n', "\r\n")), &plain);
        prop_assert_eq!(&nodes_of(&source.replace('\n', "\r")), &plain);
        prop_assert_eq!(&nodes_of(&format!("\u{feff}{source}")), &plain);
        prop_assert_eq!(&nodes_of(&source.nfd().collect::<String>()), &plain);
    }

    /// Any bytes are a document, every node's place is exact, and all of it can be shown.
    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let lossy = decode(&bytes, Encoding::Lossy).expect("lossy");
        let strict = decode(&bytes, Encoding::Strict);
        prop_assert_eq!(strict.is_ok(), str::from_utf8(&bytes).is_ok());
        whole(&lossy);
    }

    #[test]
    fn any_markdown_is_read(source in "([#>*+_`~|=\\[\\](){}<!&.-]|[ \t\r\n]|[a-c1]|\u{feff}|\0|---\n|\\+\\+\\+\n|a: b\n){0,80}") {
        whole(&source);
    }
}

/// The keys of all nodes with the hashes of their texts.
fn nodes_of(source: &str) -> Vec<(Key, Digest)> {
    let nodes = imported(source).nodes.into_iter();
    nodes.map(|node| (node.key, node.sha256)).collect()
}

/// Imports a text with and without parting long paragraphs, and shows every node.
#[track_caller]
fn whole(source: &str) {
    for max_chars in [None, Some(5)] {
        let mut library = Library::default();
        library.settings.max_chars = max_chars;
        let document = library.first(source);
        let mut end = 0;
        for node in document.nodes.iter().skip(1) {
            assert!(
                source
                    .get(node.span.start as usize..node.span.end as usize)
                    .is_some()
            );
            assert!(
                node.span.start as usize >= end,
                "{source:?}: {:?}",
                document.nodes
            );
            assert!(is_key(&node.key.to_string()));
            end = node.span.end as usize;
            for target in [Target::Html, Target::Text, Target::Slack, Target::Sms] {
                render(&document.text(node, source), &document.references, target).expect("short");
            }
        }
        assert_eq!(library.import(Some(&document), source), Decision::Unchanged);
    }
}

/// Front matter of each kind or none, then blocks that end in every way, and some that do not end.
pub(super) fn documents() -> impl Strategy<Value = String> {
    let front = prop_oneof![
        3 => Just(""),
        1 => Just("---\ntitle: Über uns\ntags: [Größe, b]\n---\n\n"),
        1 => Just("---\ntitle: [\n---\n# Kaputt\n\n"),
        1 => Just("+++\ntitle = \"Äpfel\"\n+++\n"),
    ];
    let blocks = prop::collection::vec(prop_oneof![ended(), fenced()], 0..40);
    (front, blocks).prop_map(|(front, blocks)| front.to_owned() + &blocks.concat())
}

/// Fences that are the end of code, and lines that only look like it.
fn fenced() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("```\nx\n```\n\n"),
        Just("```\nx\n```  \n\n"),
        Just("```\nx\n```\t\n\n"),
        Just("```\nx\n``` \t\n\n"),
        Just("```\nx\n```\u{c}\n\n"),
        Just("```\nx\n```\r\n\n"),
        Just("```\nx\n   ```\n\n"),
        Just("```\nx\n    ```\n\n"),
        Just("```\nx\n\t```\n\n"),
        Just("   ```\nx\n ```\n\n"),
        Just("  ```\nx\n     ```\n\n"),
        Just("```\nx\n`````\n\n"),
        Just("````\nx\n```\n\n"),
        Just("~~~\nx\n```\n\n"),
        Just("``` a\n``` a\n\n"),
        Just("```\n```\n\n"),
        Just("```\nx\n```\n\u{c}\n\n"),
        Just("- <!-- open\n\n"),
        Just("> <!-- open\n\n"),
        Just("1. <pre>\n\n"),
    ]
}

fn ended() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("# One\n\n"),
        Just("## Two ##\n\n"),
        Just("####### seven\n\n"),
        Just("#none\n\n"),
        Just("#\n\n"),
        Just("A text\nover lines.\n\n"),
        Just("- a\n\n  b\n\n"),
        Just("- ```\n  # in a list\n\n"),
        Just("1. x\n\n   ```\n   y\n   ```\n\n"),
        Just("> quote\n> ```\n> # in it\n\n"),
        Just("```\n\n# in code\n\n"),
        Just("```\n\n"),
        Just("~~~~ x\n\n# in code\n\n~~~~\n\n"),
        Just("  ```\n# code\n\n"),
        Just("<!-- open\n\n# in a comment\n\n"),
        Just("-->\n\n"),
        Just("<script>\n\n# in a script\n\n</script>\n\n"),
        Just("<pre>\n\n"),
        Just("<div>\n\n# in a div\n\n</div>\n\n"),
        Just("    indented\n\n# after\n\n"),
        Just("| a | b |\n|---|---|\n| c | d |\n\n"),
        Just("setext\n===\n\n"),
        Just("---\n\n"),
        Just("#### Deep\n\n"),
        Just("### Three\n\nText of it.\n\n"),
        Just("##### Deeper\n\nMore.\n\n"),
        Just("[x]\n\n"),
        Just("Ein Ölmaß für\nÜberfälle – ganz früh.\n\n"),
        Just("## Größe & Äußeres\n\n"),
        Just("| Öl | Maß |\n|:--|--:|\n| über | *ä* |\n\n"),
        Just("Über zwei\nZeilen\n---\n\n"),
        Just("#### Übrig ü\n\n"),
        Just("\n\n"),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn in_portions_of_any_size_a_document_is_the_same(text in documents(), bytes in 1_usize..64) {
        let slugger = Slugger::new(&Settings::default());
        let whole = Outline::read_in(usize::MAX, &text, None, &slugger).expect("read");
        let parts = Outline::read_in(bytes, &text, None, &slugger).expect("read");
        prop_assert_eq!(whole.nodes.len(), parts.nodes.len());
        for (one, other) in whole.nodes.iter().zip(&parts.nodes) {
            prop_assert_eq!(one, other);
            prop_assert_eq!(whole.title(one), parts.title(other));
            prop_assert_eq!(whole.minor_titles(one), parts.minor_titles(other));
        }
    }
}
