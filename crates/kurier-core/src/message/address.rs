//! Addresses: one form for each, whatever a person or a program writes, so that an address
//! that must not be written to is known again however it comes back.

use std::fmt;

use crate::contact::normal_email;
use crate::id::{AddressKey, IdentityKey};

/// What kind of address it is. Each kind has hashes of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AddressKind {
    Email,
    Phone,
    /// What only its channel understands: a Slack id, say.
    Other,
}

impl AddressKind {
    pub const ALL: &[Self] = &[Self::Email, Self::Phone, Self::Other];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Phone => "phone",
            Self::Other => "other",
        }
    }

    pub fn of(text: &str) -> Option<Self> {
        let mut all = Self::ALL.iter();
        all.find(|kind| kind.as_str() == text).copied()
    }

    /// What a kind of channel writes to.
    pub fn of_channel(kind: &str) -> Self {
        match kind {
            "email" => Self::Email,
            "sms" => Self::Phone,
            _ => Self::Other,
        }
    }
}

/// An address in its normal form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Address {
    kind: AddressKind,
    text: String,
}

impl Address {
    /// `None` if the text is no address of this kind.
    pub fn new(kind: AddressKind, text: &str) -> Option<Self> {
        let text = match kind {
            AddressKind::Email => normal_email(text)?,
            AddressKind::Phone => normal_phone(text)?,
            AddressKind::Other => plain(text)?,
        };
        let address = Self { kind, text };
        (!address.text.contains('\0')).then_some(address)
    }

    /// An address that says by its looks whether it is e-mail or a phone number.
    pub fn guessed(text: &str) -> Option<Self> {
        Self::new(AddressKind::Email, text).or_else(|| Self::new(AddressKind::Phone, text))
    }

    pub const fn kind(&self) -> AddressKind {
        self.kind
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn key(&self, key: &IdentityKey) -> AddressKey {
        match self.kind {
            AddressKind::Email => key.address(&self.text),
            AddressKind::Phone => key.phone(&self.text),
            AddressKind::Other => key.other_address(&self.text),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Digits alone, behind a + if the number is international: what people put between them says
/// nothing. A national number stays one, as nobody knows of which country.
fn normal_phone(text: &str) -> Option<String> {
    // +49 (0) 228: the zero is dialled only within the country.
    let text = text.trim().replace("(0)", "");
    let is_filling = |c: char| c.is_whitespace() || "-./()\u{2010}\u{2011}\u{2013}".contains(c);
    let bare: String = text.chars().filter(|c| !is_filling(*c)).collect();
    let (plus, digits) = match bare.strip_prefix('+').or_else(|| bare.strip_prefix("00")) {
        Some(digits) => ("+", digits),
        None => ("", bare.as_str()),
    };
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && (3..=15).contains(&digits.len())).then(|| format!("{plus}{digits}"))
}

fn plain(text: &str) -> Option<String> {
    let text = text.trim();
    let is_plain = !text.is_empty() && text.len() <= 320 && !text.contains(char::is_control);
    is_plain.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_one_form() {
        let cases = [
            (" Ann@Example.COM ", "email ann@example.com"),
            ("+49 228 12345", "phone +4922812345"),
            ("0049 (228) 123-45", "phone +4922812345"),
            ("+49 (0) 228 / 123 45", "phone +4922812345"),
            ("0228 12345", "phone 022812345"),
        ];
        for (text, expected) in cases {
            let address = Address::guessed(text).expect(text);
            assert_eq!(format!("{} {address}", address.kind().as_str()), expected);
        }
        let slack = Address::new(AddressKind::Other, " U024BE7LH ").expect("plain");
        assert_eq!(slack.as_str(), "U024BE7LH");
    }

    #[test]
    fn what_is_no_address_is_none() {
        for text in ["", "ann", "+", "12", "+1234567890123456", "a\0@b.de", "1a2"] {
            assert_eq!(Address::guessed(text), None, "{text}");
        }
        for text in ["", " ", "a\nb", &"x".repeat(321)] {
            assert_eq!(Address::new(AddressKind::Other, text), None, "{text}");
        }
    }

    #[test]
    fn kinds_do_not_mix() {
        let key = IdentityKey::new([1; 32]);
        let keys = AddressKind::ALL.iter().filter_map(|kind| {
            let text = if *kind == AddressKind::Email {
                "1@23"
            } else {
                "123"
            };
            Some(Address::new(*kind, text)?.key(&key))
        });
        let keys: std::collections::HashSet<_> = keys.collect();
        assert_eq!(keys.len(), 3);
        for kind in AddressKind::ALL {
            assert_eq!(AddressKind::of(kind.as_str()), Some(*kind));
        }
        assert_eq!(AddressKind::of_channel("sms"), AddressKind::Phone);
    }
}
