use super::super::tests::check;
use super::*;

#[test]
fn filters_do_what_they_say() {
    for (text, expected) in [
        ("{{ contact.none | default: 'friend' }}", "friend"),
        (
            "{{ '' | default: 'x' }}{{ false | default: 'y' }}{{ 0 | default: 'z' }}",
            "xy0",
        ),
        (
            "{{ 'straße' | upcase }} {{ 'ÄB' | downcase }} {{ 'hELLO wORLD' | capitalize }}",
            "STRASSE äb Hello world",
        ),
        ("[{{ '  a b ' | strip }}]", "[a b]"),
        ("{{ '<a&\"' | escape }}", "&lt;a&amp;&quot;"),
        ("{{ 'a b/ü' | url_encode }}", "a%20b%2F%C3%BC"),
        (
            "{{ contact.tags | json }} {{ contact.none | json }} {{ 'a\"' | json }}",
            r#"["a","b"] null "a\"""#,
        ),
        (
            "{{ 'abcdef' | truncate: 4 }} {{ 'abc' | truncate: 3 }} {{ 'abcdef' | truncate: 3, '' }}",
            "abc… abc abc",
        ),
        (
            "{{ 'a b c d' | truncatewords: 2 }} {{ 'a b' | truncatewords: 2 }} {{ 'a b' | truncatewords: 1, '!' }}",
            "a b… a b a!",
        ),
        (
            "{{ 'aXbX' | replace: 'X', '--' }} {{ 'ab' | replace: '', 'x' }}",
            "a--b-- ab",
        ),
        ("{{ 'a' | append: 'b' | prepend: 'c' }}", "cab"),
        (
            "{{ 'a,b' | split: ',' | join: '+' }} {{ 'äb' | split: '' | join: '.' }}",
            "a+b ä.b",
        ),
    ] {
        check(text, expected);
    }
}

#[test]
fn filters_count_reckon_and_tell_the_time() {
    for (text, expected) in [
        (
            "{{ contact.tags | first }}{{ contact.tags | last }}{{ 'xyz' | first }}{{ 'xyz' | last }}",
            "abxz",
        ),
        (
            "{{ contact.tags | size }} {{ 'äöü' | size }} {{ contact.none | size }}",
            "2 3 0",
        ),
        (
            "{{ 1 | plus: 2 }} {{ 1.5 | minus: 1 }} {{ '3' | times: 2 }} {{ 7 | divided_by: 2 }}",
            "3 0.5 6 3.5",
        ),
        ("[{{ 1 | divided_by: 0 }}{{ 'x' | plus: 1 }}]", "[]"),
        (
            "{{ 2.675 | round: 1 }} {{ 2.5 | round }} {{ -0.4 | round }}",
            "2.7 2 0",
        ),
        (
            "{{ 1234567.891 | number: 2 }} {{ 1234.5 | number: 1, '.', ',' }} {{ 12 | number }}",
            "1,234,567.89 1.234,5 12",
        ),
        (
            "{{ -1234 | number }} {{ -0.001 | number: 2 }}",
            "-1,234 0.00",
        ),
        (
            "{{ 1234.5 | money: '€' }} {{ 3 | money: 'EUR' }} {{ -2 | money: '$' }}",
            "€1,234.50 EUR 3.00 -$2.00",
        ),
        (
            "{{ contact.created_at | date: '%d.%m.%Y %H:%M' }}",
            "31.01.2026 09:30",
        ),
        (
            "{{ contact.created_at | date: '%H:%M', '+02:30' }} {{ 'now' | date: '%Y' }} {{ now | date: '%B' }}",
            "12:00 2026 June",
        ),
        (
            "{{ 86400 | date: '%F' }} {{ 'soon' | date: '%F' }}",
            "1970-01-02 soon",
        ),
    ] {
        check(text, expected);
    }
}

#[test]
fn every_filter_is_found_by_its_name_and_shows_its_use() {
    for filter in Filter::ALL {
        assert_eq!(Filter::named(filter.name()), Some(*filter));
        let text = format!("{{{{ 'x' | {} }}}}", filter.usage());
        assert!(
            super::super::tests::compile("text", &text).is_ok(),
            "{text}"
        );
    }
    assert_eq!(Filter::named("Upcase"), None);
}
