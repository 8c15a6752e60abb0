//! Forms, as `application/x-www-form-urlencoded` writes them.

use std::fmt::Write as _;

/// Pairs of names and values as a form's body.
pub fn form_encoded(pairs: &[(&str, &str)]) -> String {
    let pairs = pairs.iter();
    let encoded = pairs.map(|(name, value)| format!("{}={}", escaped(name), escaped(value)));
    encoded.collect::<Vec<_>>().join("&")
}

pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'*' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            other => write!(out, "%{other:02X}").expect("a text takes all"),
        }
    }
    out
}
