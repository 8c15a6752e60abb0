//! R1 to R19.

use super::*;

#[test]
fn r01_keys_are_unique_predictable_and_lead_through_the_document() {
    let source = "# A b c\n\nText one two\n\n## D e f\n\nText one two\n";
    let (first, second) = (imported(source), imported(source));
    assert_eq!(first, second);
    let keys = keys(&first);
    assert_eq!(check(keys.iter().map(String::as_str)).duplicates, [""; 0]);
    let tree = Tree::new(&first);
    assert_eq!(tree.sequence(0).count(), keys.len());
}

#[test]
fn r02_a_type_for_each_level() {
    let keys = keys_of("# Eins zwei\n\n## Drei vier\n\n### Fünf sechs\n\nSieben acht\n");
    let expected = [
        "ch:eins_zwei:001",
        "para:drei_vier:001",
        "subpara:fuenf_sechs:001",
        "chunk:sieben_acht:001",
    ];
    assert_eq!(keys, expected);
    let document = imported("---\ntitle: Portfolio Guide\n---\n");
    assert_eq!(document.nodes[0].key.to_string(), "doc:portfolio_guide:001");
}

#[test]
fn r03_a_key_is_type_identifier_and_number() {
    let key: Key = "subpara:beta_coefficient_analysis:017"
        .parse()
        .expect("a key");
    assert_eq!(key.node_type(), NodeType::Subpara);
    assert_eq!(key.name.identifier.as_str(), "beta_coefficient_analysis");
    assert_eq!(key.number(), 17);
    assert_eq!(key.to_string(), "subpara:beta_coefficient_analysis:017");
    let json = serde_json::to_string(&key).expect("JSON");
    assert_eq!(json, "\"subpara:beta_coefficient_analysis:017\"");
    assert_eq!(serde_json::from_str::<Key>(&json).expect("a key"), key);
}

#[test]
fn r04_duplicates_count_up_across_parents_and_documents() {
    let mut library = Library::default();
    let first = library.first("# One x\n\n## Risk\n\n# Two x\n\n## Risk\n");
    assert_eq!(keys(&first)[1], "para:risk:001");
    assert_eq!(keys(&first)[3], "para:risk:002");
    let second = library.first("## Risk\n\n# Risk\n");
    assert_eq!(keys(&second), ["para:risk:003", "ch:risk:001"]);
}

#[test]
fn r05_headings_by_their_text_and_chunks_by_their_first_words() {
    let keys = keys_of("## Diversifikation: Der Weg\n\nEins zwei drei vier fünf sechs sieben\n");
    assert_eq!(keys[0], "para:diversifikation_der_weg:001");
    assert_eq!(keys[1], "chunk:eins_zwei_drei_vier_fuenf:001");
}

#[test]
fn r06_the_steps_in_their_order() {
    assert_eq!(
        heading("ÄRGER   mit -- Öl__und Übermaß!"),
        "aerger_mit_oel_und_uebermass"
    );
    assert_eq!(
        heading("Portfolio Management & Risk Assessment Strategies").len(),
        30
    );
    assert_eq!(
        heading("abcdefghij klmnopqrst uvwxyzab c"),
        "abcdefghij_klmnopqrst_uvwxyzab"
    );
}

#[test]
fn r07_the_first_free_number_of_a_name() {
    assert_eq!(
        keys_of("# Risk Management\n\n# Risk Management\n"),
        ["ch:risk_management:001", "ch:risk_management:002"]
    );
}

#[test]
fn r08_the_document_is_called_by_title_file_or_chapter() {
    let name = |source: &str, file: Option<&str>| {
        let decision = Library::default().import_file(None, source, file);
        changed(decision).document.nodes[0].key.to_string()
    };
    let titled = "---\ntitle: The Title\n---\n# Chapter one\n";
    assert_eq!(name(titled, Some("a/file-name.md")), "doc:the_title:001");
    assert_eq!(
        name("# Chapter one\n", Some("a/file-name.md")),
        "doc:file_name:001"
    );
    assert_eq!(name("x\n\n# Chapter one\n", None), "doc:chapter_one:001");
    assert_eq!(name("x\n", None), "doc:empty_content:001");
}

#[test]
fn r09_meaningful_words_of_chunks() {
    assert_eq!(
        chunk("Das ist der Grundstein von allem"),
        "grundstein_allem"
    );
}

#[test]
fn r10_relations_between_nodes_and_sets_of_documents() {
    let source = "---\ntitle: Guide\ncategory: Investment\nauthor: Oskar Sch\n\
                  tags: [Diversification, ai]\n---\n# Risk one\n\nFirst words\n\nSecond words\n";
    let document = imported(source);
    let slugger = Slugger::new(&Settings::default());
    let keyspace = Keyspace::new(&document, source, Siblings::Stored);
    let entries: Vec<Entry> = keyspace.entries(&slugger).collect();
    let names: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
    for key in [
        "doc:guide:001:children",
        "doc:guide:001:all_descendants",
        "ch:risk_one:001:sequence",
        "chunk:first_words:001:next",
        "chunk:second_words:001:previous",
        "chunk:first_words:001:siblings",
        "category:investment:docs",
        "author:oskar_sch:docs",
        "tag:diversification:chunks",
        "tag:ai:chunks",
        "level:ch:chunks",
        "level:chunk:chunks",
    ] {
        assert!(names.contains(&key), "{key} in {names:?}");
    }
    assert!(
        names.iter().all(|name| is_key(name) || is_set_key(name)),
        "{names:?}"
    );
}

#[test]
fn r11_stop_words_leave_chunks_and_the_workspace_may_name_more() {
    assert_eq!(chunk("The cost of a trade over time"), "cost_trade_time");
    let settings = Settings {
        stop_words: vec!["Kosten".into(), "Größe".into()],
        ..Settings::default()
    };
    let slugger = Slugger::new(&settings);
    let called = |text| {
        slugger
            .identifier(text, NodeType::Chunk, Language::De)
            .to_string()
    };
    assert_eq!(called("Die Kosten und die Größe der Depots"), "depots");
}

#[test]
fn r12_numbers_and_abbreviations_are_written_out() {
    assert_eq!(heading("5 Strategien"), "fuenf_strategien");
    assert_eq!(heading("ROI Analysis"), "return_on_investment_analysis");
    assert_eq!(heading("API Documentation"), "api_documentation");
    let settings = Settings {
        numbers: Numerals::Digits,
        abbreviations: [("KI".to_owned(), "künstliche Intelligenz".to_owned())].into(),
        ..Settings::default()
    };
    assert_eq!(settings.faults(), [""; 0]);
    let slugger = Slugger::new(&settings);
    let called = |text| {
        slugger
            .identifier(text, NodeType::Ch, Language::De)
            .to_string()
    };
    assert_eq!(called("2026 mit KI"), "nr_2026_mit_kuenstliche_intell");
    assert_eq!(called("Kino"), "kino");
}

/// What another implementation writes for all numbers from 0 to 9999, by its hash.
#[test]
fn r12_all_number_words_are_those_of_another_implementation() {
    let hash = |language| {
        let all: Vec<String> = (0..number_words::SPELLED_BELOW)
            .map(|number| number_words::spelled(number, language))
            .collect();
        Digest::of_bytes(all.join("\n").as_bytes()).to_string()[..16].to_owned()
    };
    assert_eq!(hash(Language::De), "1695747bccbb0359");
    assert_eq!(hash(Language::En), "342363b0b1615237");
}

#[test]
fn r13_symbols_are_words() {
    let text = "a&b 5% €x $y c@d C# e+f g=h i<j k>l";
    let words: Vec<String> = text.split(' ').map(heading).collect();
    let expected = [
        "a_and_b",
        "fuenf_prozent",
        "euro_x",
        "dollar_y",
        "c_at_d",
        "c_hash",
        "e_plus_f",
        "g_equals_h",
        "i_less_than_j",
        "k_greater_than_l",
    ];
    assert_eq!(words, expected);
}

#[test]
fn r14_the_form_of_keys() {
    for key in ["doc:portfolio_strategies:001", "ch:ab:999", "chunk:a1:000"] {
        assert!(is_key(key), "{key}");
    }
    for key in [
        "Doc:x1:001",
        "doc:portfolio-strategies:001",
        "doc:portfolio_strategies:1",
        "doc:1ab:001",
        "doc:a:001",
        "page:abc:001",
        "doc:abc:001:children",
        "doc:abc",
        "",
    ] {
        assert!(!is_key(key), "{key}");
    }
}

#[test]
fn r15_long_identifiers_are_cut_not_thinned() {
    let cut = heading("portfolio management risk assessment strategies");
    assert_eq!(cut, "portfolio_management_risk_asse");
}

#[test]
fn r16_texts_without_words_have_names() {
    assert_eq!(heading(""), "empty_content");
    assert_eq!(heading(" \t\n"), "empty_content");
    assert_eq!(heading("Go"), "short_content_go");
    assert_eq!(heading("x"), "short_content_x");
    assert_eq!(heading("???"), "special_chars_only_a03b221c");
    assert_ne!(heading("???"), heading("!!!"));
}

#[test]
fn r17_full_counters_roll_on_without_a_clock() {
    let mut numbers = Numbers::default();
    let name = Name {
        node_type: NodeType::Ch,
        identifier: "risk".parse().expect("an identifier"),
    };
    numbers.set(name, 999);
    assert_eq!(numbers.take(name).to_string(), "ch:risk_2:001");
}

#[test]
fn r18_underscores_instead_of_hyphens_and_spaces() {
    assert_eq!(
        heading("risk-adjusted  return/loss"),
        "risk_adjusted_return_loss"
    );
    assert_eq!(heading("snake_case_name"), "snake_case_name");
}

#[test]
fn r19_a_report_on_quality() {
    let long = "subpara:abcdefghijklmnopqrstuvwxyz1234:001:all_descendants";
    let keys = [
        "ch:risk:001",
        "ch:risk:001",
        "chunk:risk:001",
        "Ch:x:1",
        long,
    ];
    let report = check(keys);
    assert_eq!(report.total_keys, 5);
    assert!((report.average_length - 20.0).abs() < 1e-9, "{report:?}");
    assert_eq!(report.format_violations, ["Ch:x:1"]);
    assert_eq!(report.length_violations, [long]);
    assert_eq!(report.duplicates, ["ch:risk:001"]);
    assert_eq!(report.cross_type.len(), 1);
    assert_eq!(report.severity(), Some(Severity::Error));
    let nothing = check([]);
    assert_eq!((nothing.average_length, nothing.severity()), (0.0, None));
}
