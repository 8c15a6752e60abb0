//! Every word of the language, for whoever has to tell of all of them.

use super::ast::{Function, Root, TextOp};
use super::lex::{Symbol, UNITS};

/// Words between conditions and values, beside those that tables name.
const JOINING: &[&str] = &[
    "AND",
    "OR",
    "NOT",
    "EXISTS",
    "WHERE",
    "IS NULL",
    "IS NOT NULL",
];
const NEGATABLE: &[&str] = &["IN", "BETWEEN"];

/// Operators, as they stand between spaces.
pub fn operators() -> Vec<String> {
    let symbols = Symbol::ALL.iter().filter(|symbol| symbol.is_operator());
    let tests = TextOp::ALL.iter().map(|op| op.text());
    let negatable = || tests.clone().chain(NEGATABLE.iter().copied());
    symbols
        .map(|symbol| symbol.text().to_owned())
        .chain(JOINING.iter().map(|word| (*word).to_owned()))
        .chain(negatable().map(str::to_owned))
        .chain(negatable().map(|word| format!("NOT {word}")))
        .collect()
}

/// Functions, as they are called.
pub fn functions() -> Vec<String> {
    let functions = Function::ALL.iter().map(|it| format!("{}(", it.text()));
    functions.chain(["now()".to_owned()]).collect()
}

/// Where values come from, as a path begins.
pub fn roots() -> Vec<String> {
    let roots = Root::ALL.iter();
    roots.map(|root| format!("{}.", root.text())).collect()
}

/// What durations end with.
pub fn units() -> Vec<&'static str> {
    UNITS.iter().map(|(unit, _)| *unit).collect()
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    const PAGE: &str = include_str!("../../../../docs/reference/expressions.md");

    fn is_duration(text: &str) -> bool {
        let number = text.get(..text.len().saturating_sub(1)).unwrap_or_default();
        !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit())
    }

    /// Every operator and function in an example that is run; where values come from, and units,
    /// at least named.
    #[test]
    fn every_word_is_in_the_reference() {
        let asked = PAGE.lines().filter_map(|line| line.strip_prefix("$ ask "));
        let asked = asked.collect::<Vec<_>>().join(" ; ").replace('"', " ");
        let is_asked = |word: &String| asked.contains(&format!(" {word} "));
        let is_unit = |unit: &str| {
            PAGE.split('`')
                .any(|it| it.ends_with(unit) && is_duration(it))
        };
        let mut missing = operators();
        missing.retain(|word| !is_asked(word));
        missing.extend(functions().into_iter().filter(|word| !asked.contains(word)));
        let is_root = |root: &String| PAGE.contains(&format!("`{root}"));
        missing.extend(roots().into_iter().filter(|root| !is_root(root)));
        missing.extend(
            units()
                .into_iter()
                .filter(|it| !is_unit(it))
                .map(str::to_owned),
        );
        assert!(
            missing.is_empty(),
            "expressions.md does not show {missing:?}"
        );
    }

    /// What is named here is what the parser takes.
    #[test]
    fn every_word_is_one_that_the_parser_knows() {
        for op in operators() {
            let text = match op.as_str() {
                "AND" | "OR" => format!("TRUE {op} FALSE"),
                "NOT" => "NOT TRUE".to_owned(),
                "EXISTS" | "WHERE" => "EXISTS (event WHERE TRUE)".to_owned(),
                "IS NULL" | "IS NOT NULL" => format!("contact.a {op}"),
                "+" | "-" => format!("now() {op} 1d > now()"),
                _ if op.ends_with("IN") => format!("contact.a {op} (1)"),
                _ if op.ends_with("BETWEEN") => format!("contact.a {op} 1 AND 2"),
                _ => format!("contact.a {op} 'x'"),
            };
            parse(&text).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
        }
        for unit in units() {
            parse(&format!("now() - 1{unit} < now()")).expect("a duration");
        }
        assert_eq!(functions().len(), Function::ALL.len() + 1);
        assert_eq!(roots().len(), Root::ALL.len());
    }
}
