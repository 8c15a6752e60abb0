//! Whole numbers as words, in German and in English, in the letters of identifiers.

use super::settings::Language;

/// Numbers from here on stay digits.
pub const SPELLED_BELOW: u16 = 10_000;

/// A number below 10,000 as one word; English parts are joined by `_`.
pub fn spelled(number: u16, language: Language) -> String {
    match language {
        Language::De => german(number),
        Language::En => english(number),
    }
}

const GERMAN: [&str; 20] = [
    "null",
    "eins",
    "zwei",
    "drei",
    "vier",
    "fuenf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwoelf",
    "dreizehn",
    "vierzehn",
    "fuenfzehn",
    "sechzehn",
    "siebzehn",
    "achtzehn",
    "neunzehn",
];
const GERMAN_TENS: [&str; 10] = [
    "", "", "zwanzig", "dreissig", "vierzig", "fuenfzig", "sechzig", "siebzig", "achtzig",
    "neunzig",
];

fn german(number: u16) -> String {
    let (thousands, rest) = (number / 1_000, number % 1_000);
    let (hundreds, below) = (rest / 100, rest % 100);
    let mut word = String::new();
    if thousands > 0 {
        word.push_str(german_before(thousands));
        word.push_str("tausend");
    }
    if hundreds > 0 {
        word.push_str(german_before(hundreds));
        word.push_str("hundert");
    }
    if below > 0 || number == 0 {
        german_below_hundred(&mut word, below);
    }
    word
}

/// One is `ein` before another word.
fn german_before(digit: u16) -> &'static str {
    match digit {
        1 => "ein",
        digit => GERMAN[usize::from(digit)],
    }
}

fn german_below_hundred(word: &mut String, number: u16) {
    let (tens, ones) = (number / 10, number % 10);
    match (tens, ones) {
        (0 | 1, _) => word.push_str(GERMAN[usize::from(number)]),
        (tens, 0) => word.push_str(GERMAN_TENS[usize::from(tens)]),
        (tens, ones) => {
            word.push_str(german_before(ones));
            word.push_str("und");
            word.push_str(GERMAN_TENS[usize::from(tens)]);
        }
    }
}

const ENGLISH: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const ENGLISH_TENS: [&str; 10] = [
    "", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
];

fn english(number: u16) -> String {
    let (thousands, rest) = (number / 1_000, number % 1_000);
    let (hundreds, below) = (rest / 100, rest % 100);
    let mut parts: Vec<&str> = Vec::with_capacity(8);
    if thousands > 0 {
        parts.extend([ENGLISH[usize::from(thousands)], "thousand"]);
    }
    if hundreds > 0 {
        parts.extend([ENGLISH[usize::from(hundreds)], "hundred"]);
    }
    if below > 0 && !parts.is_empty() {
        parts.push("and");
    }
    match (below / 10, below % 10) {
        (0, 0) if number > 0 => {}
        (0 | 1, _) => parts.push(ENGLISH[usize::from(below)]),
        (tens, 0) => parts.push(ENGLISH_TENS[usize::from(tens)]),
        (tens, ones) => parts.extend([ENGLISH_TENS[usize::from(tens)], ENGLISH[usize::from(ones)]]),
    }
    parts.join("_")
}
