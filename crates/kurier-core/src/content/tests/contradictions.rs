//! C1 to C26.

use super::*;

#[test]
fn c01_a_counter_for_each_type_and_identifier() {
    let keys = keys_of("# Eins\n\n# Zwei\n\n# Eins\n\n## Eins\n");
    assert_eq!(
        keys,
        ["ch:eins:001", "ch:zwei:001", "ch:eins:002", "para:eins:001"]
    );
}

#[test]
fn c02_thirty_characters_win() {
    let cut = heading("Portfolio Management & Risk Assessment");
    assert_eq!(cut, "portfolio_management_risk_asse");
    // The cut falls behind a word: no `_` stays at the end.
    assert_eq!(
        heading("abcdefghijklmnopqrstuvwxyzabc defg"),
        "abcdefghijklmnopqrstuvwxyzabc"
    );
}

#[test]
fn c03_a_free_ampersand_is_dropped_and_a_glued_one_is_and() {
    assert_eq!(heading("Risk & Return"), "risk_return");
    assert_eq!(heading("& Return"), "return");
    assert_eq!(heading("R&D Budget"), "r_and_d_budget");
    assert_eq!(heading("A &B"), "a_and_b");
}

#[test]
fn c04_stop_words_stay_in_headings() {
    assert_eq!(heading("Der Weg zum Ziel"), "der_weg_zum_ziel");
    assert_eq!(chunk("Der Weg zum Ziel"), "weg_ziel");
}

#[test]
fn c05_forms_of_articles_are_stop_words_and_not_everything_goes() {
    assert_eq!(
        chunk("Die Korrelation zwischen den Assets ist wichtig"),
        "korrelation_zwischen_assets_wi"
    );
    for word in ["den", "dem", "des", "einen", "einem", "einer", "eines"] {
        assert_eq!(chunk(&format!("{word} Ziel")), "ziel");
    }
    assert_eq!(chunk("Für die Über"), "fuer_die_ueber");
    assert_eq!(chunk("der die das an zu in auf"), "der_die_das_an_zu");
}

#[test]
fn c06_five_meaningful_words_or_whole_ones() {
    assert_eq!(chunk("aa bb cc dd ee ff"), "aa_bb_cc_dd_ee");
    let settings = Settings {
        cut: Cut::WholeWords,
        ..Settings::default()
    };
    let text = "Diversifikation ist der Grundstein erfolgreicher Investments.";
    let slugger = Slugger::new(&settings);
    let identifier = slugger.identifier(text, NodeType::Chunk, Language::De);
    assert_eq!(identifier.as_str(), "diversifikation_grundstein");
    assert_eq!(chunk(text), "diversifikation_grundstein_erf");
}

#[test]
fn c07_numbers_whose_words_fit() {
    assert_eq!(heading("2024 Analysis"), "zweitausendvierundzwanzig_anal");
    assert_eq!(heading("1999 Analysis"), "nr_1999_analysis");
    assert_eq!(heading("007 Bond"), "nr_007_bond");
    assert_eq!(heading("10000 Nutzer"), "nr_10000_nutzer");
    assert_eq!(heading("0 Fehler"), "null_fehler");
    let fits = |number: &u16| number_words::spelled(*number, Language::De).len() <= 30;
    assert_eq!((0..number_words::SPELLED_BELOW).filter(fits).count(), 3_644);
}

#[test]
fn c08_the_language_of_numbers_is_the_documents() {
    let english = "---\nlang: en-GB\n---\n# 24 Hours\n";
    assert_eq!(keys_of(english), ["ch:twenty_four_hours:001"]);
    assert_eq!(keys_of("# 24 Hours\n"), ["ch:vierundzwanzig_hours:001"]);
    // A language without number words here: the workspace's.
    assert_eq!(
        keys_of("---\nlang: fr\n---\n# 24 Heures\n"),
        ["ch:vierundzwanzig_heures:001"]
    );
    let mut library = Library::default();
    library.settings.lang = Language::En;
    assert_eq!(
        keys(&library.first("# 50% Rabatt\n")),
        ["ch:fifty_prozent_rabatt:001"]
    );
}

#[test]
fn c09_an_abbreviation_whose_full_form_is_there_stays() {
    assert_eq!(heading("VaR Berechnung"), "value_at_risk_berechnung");
    assert_eq!(
        heading("Value at Risk (VaR) Berechnungen"),
        "value_at_risk_var_berechnungen"
    );
    assert_eq!(heading("Value-at-Risk: VaR"), "value_at_risk_var");
    assert_eq!(heading("VAR Berechnung"), "var_berechnung");
    assert_eq!(heading("VaRs"), "vars");
    // The full form stands far behind.
    let text = format!("VaR ist {} Value at Risk", "wirklich ".repeat(200));
    assert_eq!(chunk(&text), "var_wirklich_wirklich_wirklich");
    let keys = keys_of(&format!("{text}\n"));
    assert_eq!(keys, ["chunk:var_wirklich_wirklich_wirklich:001"]);
}

#[test]
fn c10_every_special_rule_has_its_place() {
    // A template's delimiter before symbols, abbreviations before small letters.
    assert_eq!(
        heading("{{% heading \"whatsnext\" %}}"),
        "heading_whatsnext"
    );
    assert_eq!(heading("{{< note >}}"), "note");
    assert_eq!(heading("{% include x %} 5%"), "include_x_fuenf_prozent");
    assert_eq!(heading("ROI: 5 €"), "return_on_investment_fuenf_eur");
}

#[test]
fn c11_what_parts_words_and_what_is_deleted() {
    assert_eq!(heading("a-b_c/d\u{2013}e\u{30a0}f\u{a0}g"), "a_b_c_d_e_f_g");
    assert_eq!(heading("2.1 Methoden"), "zwei_eins_methoden");
    assert_eq!(heading("1,5 Prozent"), "eins_fuenf_prozent");
    assert_eq!(heading("don't e.g. foo.bar (x)"), "dont_eg_foobar_x");
}

#[test]
fn c12_identifiers_begin_with_a_letter() {
    assert_eq!(heading("3D-Druck"), "nr_3d_druck");
    assert_eq!(heading("007"), "nr_007");
}

#[test]
fn c13_length_is_taken_after_cleaning() {
    assert_eq!(heading("Go"), "short_content_go");
    assert_eq!(heading("C#"), "c_hash");
    assert_eq!(heading("参数"), "canshu");
    assert_eq!(heading("5"), "fuenf");
}

#[test]
fn c14_fallbacks_have_no_clock() {
    let keys = keys_of("#\n\n#\n\n# ???\n\n# ???\n");
    let expected = [
        "ch:empty_content:001",
        "ch:empty_content:002",
        "ch:special_chars_only_a03b221c:001",
        "ch:special_chars_only_a03b221c:002",
    ];
    assert_eq!(keys, expected);
}

#[test]
fn c15_the_thousandth_rolls_into_the_identifier() {
    let source = "## Whats next\n\n".repeat(1_999);
    let keys = keys_of(&source);
    assert_eq!(keys[998], "para:whats_next:999");
    assert_eq!(keys[999], "para:whats_next_2:001");
    assert_eq!(keys[1_997], "para:whats_next_2:999");
    assert_eq!(keys[1_998], "para:whats_next_3:001");
    let long = "abcdefghijklmnopqrstuvwxyzabcd"
        .parse::<Identifier>()
        .expect("fits");
    assert_eq!(long.rolled(2).as_str(), "abcdefghijklmnopqrstuvwxyzab_2");
}

#[test]
fn c15_a_heading_that_is_called_like_a_rolled_one_shares_its_page() {
    let mut library = Library::default();
    let real = library.first("## Whats next 2\n");
    assert_eq!(keys(&real), ["para:whats_next_zwei:001"]);
    library.settings.numbers = Numerals::Digits;
    let real = library.first("## Whats next 2\n");
    assert_eq!(keys(&real), ["para:whats_next_2:001"]);
    let rolled = library.first(&"## Whats next\n\n".repeat(1_000));
    assert_eq!(keys(&rolled)[999], "para:whats_next_2:002");
}

#[test]
fn c16_vowels_stay() {
    assert!(heading("portfolio management risk assessment strategies").contains("portfolio"));
}

#[test]
fn c17_set_keys_are_exact() {
    for key in [
        "doc:abc:001:all_descendants",
        "chunk:abc:001:next",
        "category:investment:docs",
        "tag:ai:chunks",
        "level:subpara:chunks",
    ] {
        assert!(is_set_key(key), "{key}");
    }
    for key in [
        "any:abc:001:children",
        "doc:abc::children",
        "doc:abc:001:docs",
        "category:investment:chunks",
        "author:oskar:children",
        "level:page:chunks",
        "tag::chunks",
        "children",
    ] {
        assert!(!is_set_key(key), "{key}");
    }
}

#[test]
fn c18_the_longest_keys() {
    let longest = "a".repeat(30);
    let lengths = NodeType::ALL.map(|kind| format!("{}:{longest}:001", kind.as_str()).len());
    assert_eq!(lengths, [38, 37, 39, 42, 40]);
    let set = format!("subpara:{longest}:001:all_descendants");
    assert!(is_set_key(&set));
    assert_eq!(set.len(), 58);
    assert_eq!(check([set.as_str()]).severity(), Some(Severity::Warning));
}

#[test]
fn c19_the_form_is_exact() {
    for key in [
        "doc:abc:001\n",
        "doc:abc:٠٠١",
        "doc:ab_:001",
        "doc:a__b:001",
        " doc:abc:001",
    ] {
        assert!(!is_key(key), "{key:?}");
        assert!(!is_set_key(&format!("{key}:children")), "{key:?}");
    }
    assert!(!is_set_key("doc:abc:001:children\n"));
}

#[test]
fn c20_one_identifier_in_several_types_is_only_said() {
    let counting = check(["ch:x1:001", "ch:x1:002"]);
    assert_eq!(counting.severity(), None);
    let across = check(["ch:x1:001", "chunk:x1:001"]);
    assert_eq!(across.severity(), Some(Severity::Info));
    let types: Vec<NodeType> = across.cross_type["x1"].iter().copied().collect();
    assert_eq!(types, [NodeType::Ch, NodeType::Chunk]);
}

#[test]
fn c21_sorted_sets_texts_and_sets() {
    let source = "# Aa bb\n\nErste Worte\n\nZweite Worte\n";
    let document = imported(source);
    let slugger = Slugger::new(&Settings::default());
    let keyspace = Keyspace::new(&document, source, Siblings::Derived);
    let entries: Vec<Entry> = keyspace.entries(&slugger).collect();
    let stored = |key: &str| {
        let found = entries.iter().find(|entry| entry.key == key);
        &found.unwrap_or_else(|| panic!("{key}")).stored
    };
    let key = |text: &str| text.parse::<Key>().expect("a key");
    let (one, two) = (key("chunk:erste_worte:001"), key("chunk:zweite_worte:001"));
    let sorted = Stored::SortedSet(vec![(2, one), (3, two)]);
    for relation in ["children", "sequence", "all_descendants"] {
        assert_eq!(stored(&format!("ch:aa_bb:001:{relation}")), &sorted);
    }
    assert_eq!(stored("chunk:erste_worte:001:next"), &Stored::Text(two));
    assert_eq!(
        stored("chunk:zweite_worte:001:previous"),
        &Stored::Text(one)
    );
    assert_eq!(stored("level:ch:chunks"), &Stored::Set(vec![one, two]));
    assert!(!entries.iter().any(|entry| entry.key.ends_with(":siblings")));
    let Stored::Hash(fields) = stored("chunk:zweite_worte:001") else {
        panic!("a node is a hash");
    };
    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "type", "text", "path", "parent", "pos", "start", "end", "sha256"
        ]
    );
    assert_eq!(fields[1].1, "Zweite Worte");
    assert_eq!(fields[2].1, "[\"Aa bb\"]");
    assert_eq!(fields[3].1, "ch:aa_bb:001");
}

#[test]
fn c22_numbers_of_nodes_that_are_gone_are_not_given_again() {
    let mut library = Library::default();
    let first = library.first("# Risk\n\n# Risk\n\n# Other\n");
    let change = changed(library.import(Some(&first), "# Other\n"));
    let gone: Vec<String> = change.gone.iter().map(Key::to_string).collect();
    assert_eq!(gone, ["ch:risk:001", "ch:risk:002"]);
    let again = changed(library.import(Some(&change.document), "# Other\n\n# Risk\n"));
    assert_eq!(keys(&again.document), ["ch:other:001", "ch:risk:003"]);
}

#[test]
fn c23_capital_and_decomposed_umlauts() {
    assert_eq!(heading("ÜÖ"), "ueoe");
    assert_eq!(heading("ÜBER"), "ueber");
    assert_eq!(heading("U\u{308}ber"), "ueber");
    assert_eq!(heading("STRAẞE"), "strasse");
}

#[test]
fn c24_an_empty_title_is_none() {
    let decision = Library::default().import_file(
        None,
        "---\ntitle: \" \"\n---\n# Kapitel\n",
        Some("datei.md"),
    );
    let document = changed(decision).document;
    assert_eq!(document.nodes[0].key.to_string(), "doc:datei:001");
}

#[test]
fn c25_fallbacks_only_when_nothing_else_is_there() {
    assert_eq!(heading("!!! Achtung !!!"), "achtung");
    assert_eq!(heading("🚀 Start"), "start");
    assert!(heading("🚀").starts_with("special_chars_only_"));
}

#[test]
fn c26_the_documented_key_is_the_id() {
    let source = "# Aa bb\n";
    let document = imported(source);
    let slugger = Slugger::new(&Settings::default());
    let keyspace = Keyspace::new(&document, source, Siblings::Derived);
    let mut entries = keyspace.entries(&slugger);
    let is_bare = |entry: Entry| is_key(&entry.key) || is_set_key(&entry.key);
    assert!(entries.all(is_bare));
}
