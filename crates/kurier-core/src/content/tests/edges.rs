//! What stands in real files, and what hostile ones hold.

use super::*;

#[test]
fn front_matter_is_taken_at_the_very_beginning_only() {
    let yaml =
        imported("---\ntitle: Ein Titel\nauthors:\n- name: A B\ntags: x, y\n...\nText hier\n");
    assert_eq!(yaml.nodes[0].title.as_deref(), Some("Ein Titel"));
    assert_eq!(yaml.front.authors, ["A B"]);
    assert_eq!(yaml.front.tags, ["x", "y"]);
    assert_eq!(keys(&yaml), ["chunk:text_hier:001"]);
    let toml = imported("+++\ntitle = \"Ein Titel\"\ntags = [\"x\"]\n+++\nText hier\n");
    assert_eq!(toml.nodes[0].key.to_string(), "doc:ein_titel:001");
    assert_eq!(toml.front.tags, ["x"]);
    // In the middle it is a rule, and nothing between two of them is lost.
    let middle = keys_of("Vorher\n\n---\n\nImportant sentence.\n\n---\n\nNachher\n");
    assert_eq!(
        middle,
        [
            "chunk:vorher:001",
            "chunk:important_sentence:001",
            "chunk:nachher:001"
        ]
    );
    let begin = keys_of("---\n\nImportant sentence.\n\n---\n\nNachher\n");
    assert_eq!(begin, ["chunk:important_sentence:001", "chunk:nachher:001"]);
    assert_eq!(keys_of("---\ntitle: x\n"), ["chunk:title_x:001"]);
    assert_eq!(
        keys_of(" ---\ntitle: x y z\n---\n"),
        ["para:title_x_y_z:001"]
    );
}

#[test]
fn front_matter_that_cannot_be_read_is_said_and_not_text() {
    let document = imported("---\ntitle: a: b: c\n  - x\n---\nText hier\n");
    assert!(document.front.fault.is_some(), "{:?}", document.front);
    assert_eq!(keys(&document), ["chunk:text_hier:001"]);
    let long = format!("---\nx: {}\n---\nText hier\n", "a".repeat(70_000));
    let document = imported(&long);
    assert!(
        document
            .front
            .fault
            .as_deref()
            .is_some_and(|fault| fault.contains("65536"))
    );
    assert_eq!(keys(&document), ["chunk:text_hier:001"]);
    let empty = imported("---\n---\nText hier\n");
    assert_eq!((keys(&empty).len(), empty.front.fault), (1, None));
}

#[test]
fn a_byte_order_mark_hides_no_heading() {
    let source = "\u{feff}# Kapitel\n\nText hier\n";
    let document = imported(source);
    assert_eq!(keys(&document), ["ch:kapitel:001", "chunk:text_hier:001"]);
    assert_eq!(document.nodes[1].span.of(source), "# Kapitel");
    assert_eq!(document.nodes[2].span.of(source), "Text hier");
    let titled = imported("\u{feff}---\ntitle: Ein Titel\n---\n# Kapitel\n");
    assert_eq!(titled.nodes[0].key.to_string(), "doc:ein_titel:001");
}

#[test]
fn carriage_returns_end_lines() {
    let source = "# Aa\r\rText hier\r\r\r\n## Bb\r\n\r\nmehr Text\r\nweiter\r\n";
    let document = imported(source);
    let expected = ["ch:short_content_aa:001", "chunk:text_hier:001"];
    assert_eq!(keys(&document)[..2], expected);
    let last = &document.nodes[4];
    assert_eq!(last.span.of(source), "mehr Text\r\nweiter");
    assert_eq!(document.text(last, source), "mehr Text\nweiter");
    assert_eq!(last.sha256, Digest::of_bytes(b"mehr Text\nweiter"));
}

#[test]
fn bytes_that_are_no_text_are_refused_or_replaced() {
    assert_eq!(
        decode(b"ab\xffc", Encoding::Strict),
        Err(Error::NotUtf8 { at: 2 })
    );
    assert_eq!(
        decode(b"ab\xffc", Encoding::Lossy).expect("text"),
        "ab\u{fffd}c"
    );
    assert_eq!(decode("ä".as_bytes(), Encoding::Strict).expect("text"), "ä");
}

#[test]
fn what_no_database_keeps_is_mended() {
    let document = imported("# A\0b c\n\nx\0y z\n");
    assert_eq!(document.nodes[1].title.as_deref(), Some("A\u{fffd}b c"));
    assert_eq!(
        document.text(&document.nodes[2], "# A\0b c\n\nx\0y z\n"),
        "x\u{fffd}y z"
    );
}

#[test]
fn comments_fences_and_quotes_hold_no_headings() {
    assert_eq!(
        keys_of("<!--\n# Not this\n\n# Nor this\n-->\n\nText hier\n"),
        ["chunk:text_hier:001"]
    );
    assert_eq!(
        keys_of("```sh\n# comment here\n```\n"),
        ["chunk:hash_comment_here:001"]
    );
    assert_eq!(keys_of("~~~\n# open to the end\n\n# still code\n").len(), 1);
    assert_eq!(keys_of("> # quoted words\n\n- # listed words\n").len(), 2);
    assert_eq!(keys_of("<h1>Html Titel</h1>\n"), ["chunk:html_titel:001"]);
    assert_eq!(
        keys_of("    # indented code\n"),
        ["chunk:hash_indented_code:001"]
    );
}

#[test]
fn an_invisible_block_belongs_to_the_chunk_before_it() {
    let source =
        "# Aa bb\n\n<a name=\"x\"></a>\n\nText hier\n\n<!-- note -->\n\nMehr Text\n\n---\n";
    let document = imported(source);
    let texts: Vec<_> = document
        .nodes
        .iter()
        .skip(1)
        .map(|node| node.span.of(source))
        .collect();
    assert_eq!(
        texts,
        ["# Aa bb", "Text hier\n\n<!-- note -->", "Mehr Text\n\n---"]
    );
    let joined = Digest::of_bytes(b"Mehr Text\n\n---");
    assert_eq!(document.nodes[3].sha256, joined);
    assert_eq!(keys_of("![](x.png)\n"), ["chunk:empty_content:001"]);
    assert_eq!(keys_of("![Ein Bild](x.png)\n"), ["chunk:bild:001"]);
    assert_eq!(
        keys_of("<div>\nSichtbar &amp; hier\n</div>\n"),
        ["chunk:sichtbar_hier:001"]
    );
    assert_eq!(keys_of("<script>\nvar x = 1;\n</script>\n"), [""; 0]);
}

#[test]
fn headings_of_all_kinds() {
    assert_eq!(
        shape("Titel oben\n===\n\nTeil davon\n---\n"),
        ["ch titel_oben < doc", "para teil_davon < ch",]
    );
    assert_eq!(keys_of("# Eins ##\n")[0], "ch:eins:001");
    assert_eq!(keys_of("# \\# Eins\n")[0], "ch:hash_eins:001");
    assert_eq!(keys_of("#\tEins\n")[0], "ch:eins:001");
    assert_eq!(keys_of("#NoSpace\n")[0], "chunk:hash_nospace:001");
    assert_eq!(keys_of("#\u{a0}Aa bb\n")[0], "chunk:hash_aa_bb:001");
    assert_eq!(
        keys_of("## `Code` und [Link](x) **fett**\n")[0],
        "para:code_und_link_fett:001"
    );
    assert_eq!(keys_of("## Mit Name {#the-id}\n")[0], "para:mit_name:001");
    assert_eq!(
        keys_of("## {{% heading \"whatsnext\" %}}\n")[0],
        "para:heading_whatsnext:001"
    );
    assert_eq!(keys_of("####### sieben Rauten\n").len(), 1);
}

/// Most files have their title in the front matter and begin with `##`, or have no heading.
#[test]
fn files_without_chapters_or_headings_hang_on_the_document() {
    assert_eq!(
        shape("---\ntitle: Ein Titel\n---\nVorab Text\n\n## Zwei x\n\nText hier\n\n### Drei x\n"),
        [
            "chunk vorab_text < doc",
            "para zwei_x < doc",
            "chunk text_hier < para",
            "subpara drei_x < para",
        ]
    );
    assert_eq!(
        shape("Erster Text\n\nZweiter Text\n"),
        ["chunk erster_text < doc", "chunk zweiter_text < doc"]
    );
    assert_eq!(keys_of(""), [""; 0]);
}

#[test]
fn several_chapters_duplicate_and_empty_headings_in_one_file() {
    assert_eq!(
        keys_of("# Eins x\n\n## Gleich\n\n# Zwei x\n\n## Gleich\n\n##\n\n## Gleich\n"),
        [
            "ch:eins_x:001",
            "para:gleich:001",
            "ch:zwei_x:001",
            "para:gleich:002",
            "para:empty_content:001",
            "para:gleich:003",
        ]
    );
}

#[test]
fn skipped_levels_hang_on_what_is_there() {
    assert_eq!(
        shape("Vorab Text\n\n## Zwei x\n\n# Eins x\n\n### Drei x\n\nText hier\n\n## Vier x\n"),
        [
            "chunk vorab_text < doc",
            "para zwei_x < doc",
            "ch eins_x < doc",
            "subpara drei_x < ch",
            "chunk text_hier < subpara",
            "para vier_x < ch",
        ]
    );
}

#[test]
fn low_headings_name_the_chunk_they_begin() {
    let source =
        "# Aa bb\n\n#### Der Name\n\nErster Text\n\nZweiter Text\n\n##### Tief\n\n#### Leer\n";
    let document = imported(source);
    let expected = [
        "ch:aa_bb:001",
        "chunk:name:001",
        "chunk:zweiter_text:001",
        "chunk:tief:001",
        "chunk:leer:001",
    ];
    assert_eq!(keys(&document), expected);
    assert_eq!(
        document.nodes[2].span.of(source),
        "#### Der Name\n\nErster Text"
    );
    assert_eq!(document.heading_path(3), ["Aa bb", "Der Name"]);
    assert_eq!(document.heading_path(4), ["Aa bb", "Der Name", "Tief"]);
    assert_eq!(document.heading_path(5), ["Aa bb", "Leer"]);
    let joined = imported("#### Oben\n\n##### Darunter\n\n###### Zuunterst\n\nText hier\n");
    assert_eq!(keys(&joined), ["chunk:oben:001"]);
    assert_eq!(joined.heading_path(1), ["Oben", "Darunter", "Zuunterst"]);
}

#[test]
fn blocks_are_chunks() {
    let source = "- eins\n- zwei\n\n| Kopf a | Kopf b |\n|---|---|\n| c | d |\n\n> Zitat hier\n\n[^1]: Fussnote dort\n\nText[^1]\n";
    let expected = [
        "chunk:eins_zwei:001",
        "chunk:kopf_kopf_b_c_d:001",
        "chunk:zitat_hier:001",
        "chunk:fussnote_dort:001",
        "chunk:text:001",
    ];
    assert_eq!(keys_of(source), expected);
}

#[test]
fn other_scripts_and_signs() {
    assert_eq!(heading("مرحبا"), "mrhb");
    assert_eq!(heading("Привет мир"), "privet_mir");
    assert_eq!(heading("東京の投資"), "dongjingnotouzi");
    assert_eq!(heading("Café Größe Łódź"), "cafe_groesse_lodz");
    assert_eq!(heading("İstanbul"), "istanbul");
    assert_eq!(heading("Congreſs"), "congress");
    assert_eq!(heading("a\u{200d}b\u{ad}c"), "abc");
    assert_eq!(
        heading("½ Liter"),
        "nr_1_2_liter".replace("nr_1_2", "eins_zwei")
    );
    assert_eq!(heading("٥ كتب").split('_').next(), Some("fuenf"));
}

#[test]
fn long_paragraphs_are_parted_between_sentences() {
    let mut library = Library::default();
    library.settings.max_chars = Some(100);
    let sentence = |n: usize| format!("Satz{n} ist etwa so lang wie vierzig Zeichen sind.");
    let source = format!(
        "#### Kopf dazu\n\n{} {} [ein Link. Mit Satz](x) {}\n",
        sentence(1),
        sentence(2),
        sentence(3)
    );
    let document = library.first(&source);
    let texts: Vec<_> = document
        .nodes
        .iter()
        .skip(1)
        .map(|node| node.span.of(&source))
        .collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(texts[0].starts_with("#### Kopf dazu\n\nSatz1") && texts[0].ends_with("sind."));
    assert!(texts[1].starts_with("Satz2") && texts[1].contains("[ein Link. Mit Satz](x)"));
    assert!(
        texts[1..].iter().all(|text| text.chars().count() <= 100),
        "{texts:?}"
    );
    let words = "wort ".repeat(100);
    let document = library.first(&words);
    assert_eq!(document.nodes.len() - 1, 5);
    let solid = "x".repeat(500);
    assert_eq!(library.first(&solid).nodes.len() - 1, 1);
    let listed = format!("- {words}\n");
    assert_eq!(library.first(&listed).nodes.len() - 1, 1);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let settings = Settings {
        abbreviations: [
            ("a b".to_owned(), "x".to_owned()),
            ("K".to_owned(), "!".to_owned()),
        ]
        .into(),
        stop_words: vec!["two words".into()],
        max_chars: Some(3),
        ..Settings::default()
    };
    assert_eq!(settings.faults().len(), 4);
    assert!(serde_json::from_str::<Settings>("{\"numbers\":\"digits\"}").is_ok());
    assert!(serde_json::from_str::<Settings>("{\"nombers\":\"digits\"}").is_err());
}

#[test]
fn hostile_documents_are_read_soon() {
    let deep = ">".repeat(50_000) + " tief\n";
    let lists = "- ".repeat(5_000) + "x\n";
    let line = "wort".repeat(2_500_000);
    let title = format!(
        "# {}\n\n{}",
        &line[..2_000_000],
        "Text hier\n\n".repeat(100)
    );
    let stops = "der die das ".repeat(100_000);
    let signs = "?!".repeat(500_000);
    let short = format!("VaR {}", "value at ".repeat(100_000));
    let open = "[".repeat(50_000) + &"<".repeat(50_000);
    let head = "|a".repeat(2_000) + "\n" + &"|-".repeat(2_000) + "\n" + &"|b\n".repeat(2_000);
    let comments = format!("Text hier\n\n{}", "<!-- x -->\n\n".repeat(50_000));
    let tags = "<div>\n<b ".repeat(20_000);
    for source in [
        deep, lists, line, title, stops, signs, short, open, head, comments, tags,
    ] {
        let document = imported(&source);
        let paths: usize = (0..document.nodes.len())
            .map(|at| document.heading_path(at).concat().len())
            .sum();
        assert!(paths <= 1_000 * document.nodes.len());
    }
}

/// What is nested as deep as the parser takes it is shown without a call for every level.
#[test]
fn what_is_deep_is_shown_by_every_channel() {
    let lists = "- ".repeat(5_000) + "x\n";
    let numbered = "1. ".repeat(5_000) + "x\n";
    let quotes = ">".repeat(50_000) + " x\n";
    let emphasis = "*a ".repeat(5_000) + "x" + &" a*".repeat(5_000) + "\n";
    for source in [lists, numbered, quotes, emphasis] {
        let document = imported(&source);
        assert_eq!(document.nodes.len(), 2, "one block below the document");
        let text = document.text(&document.nodes[1], &source);
        for target in [Target::Html, Target::Text, Target::Slack, Target::Sms] {
            let shown = render(&text, &document.references, target);
            assert!(shown.is_ok_and(|shown| shown.contains('x')), "{target:?}");
        }
    }
}

#[test]
fn places_are_exact() {
    let source = "---\ntitle: Ä\n---\n\n# Ü b\n\n  eingerückt\nweiter  \n\n    code hier\n\n* a\n* b\n\n\n> z\n";
    let document = imported(source);
    let texts: Vec<_> = document
        .nodes
        .iter()
        .skip(1)
        .map(|node| node.span.of(source))
        .collect();
    let expected = [
        "# Ü b",
        "  eingerückt\nweiter",
        "    code hier",
        "* a\n* b",
        "> z",
    ];
    assert_eq!(texts, expected);
}
