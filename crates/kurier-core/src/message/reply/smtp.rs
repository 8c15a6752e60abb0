//! SMTP replies (RFC 5321) and enhanced status codes (RFC 3463, RFC 5248, RFC 7372).

use core::fmt;

use super::{refusal, words};
use crate::message::Blame::{self, Channel, Message, Recipient};
use crate::message::Category::{self, Permanent, Temporary};
use crate::message::Refusal;

/// `5.1.1`: class, subject, detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enhanced(pub u8, pub u16, pub u16);

impl Enhanced {
    /// The code at the start of a reply's text.
    pub fn of(text: &str) -> Option<Self> {
        let word = text.split_whitespace().next()?;
        let mut parts = word.split('.').map(str::parse::<u16>);
        let (Some(Ok(class @ (2 | 4 | 5))), Some(Ok(subject)), Some(Ok(detail)), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return None;
        };
        (subject < 1000 && detail < 1000).then_some(Self(class as u8, subject, detail))
    }
}

impl fmt::Display for Enhanced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// Subject, detail, category, blame, and what it means.
type Row = (u16, Option<u16>, Option<Category>, Blame, &'static str);

/// By subject and detail, whatever the class; `None` in a row stands for every detail, and
/// the category follows the reply's first digit unless the row says otherwise.
#[rustfmt::skip]
pub(super) const BY_ENHANCED: &[Row] = &[
    (1, Some(7), None, Channel, "the sender's address is faulty"),
    (1, Some(8), None, Channel, "the sender's domain is faulty"),
    (1, None, None, Recipient, "the address does not exist or is faulty"),
    (2, Some(2), Some(Temporary), Recipient, "the mailbox is full"),
    (2, Some(3), None, Message, "the message is too long for the mailbox"),
    (2, None, None, Recipient, "the mailbox takes nothing"),
    (3, Some(3), None, Message, "the server lacks a feature the message needs"),
    (3, Some(4), None, Message, "the message is too big"),
    (3, None, None, Channel, "the mail system has a fault"),
    (4, Some(3), None, Channel, "a directory does not answer"),
    (4, Some(5), None, Channel, "the network is congested"),
    (4, Some(6), None, Channel, "mail goes in a circle"),
    (4, None, None, Recipient, "the recipient's server is not reached"),
    (5, Some(3), Some(Temporary), Channel, "too many recipients"),
    (5, None, None, Message, "a command was not understood"),
    (6, None, None, Message, "the content is not taken"),
    (7, Some(2), None, Recipient, "the list takes nothing from this sender"),
    (7, Some(4), None, Message, "a security feature is missing"),
    (7, Some(7), None, Message, "the message was damaged on its way"),
    (7, Some(8), None, Channel, "user or password are wrong"),
    (7, Some(9), None, Channel, "the way to log in is too weak"),
    (7, Some(10), None, Channel, "encryption is needed"),
    (7, Some(11), None, Channel, "encryption is needed to log in"),
    (7, Some(12), None, Channel, "the password must be changed"),
    (7, Some(13), None, Channel, "the account is disabled"),
    (7, Some(14), None, Channel, "a trust relationship is needed"),
    (7, Some(15), Some(Temporary), Message, "the priority is too low"),
    (7, Some(16), None, Message, "the message is too big for its priority"),
    (7, Some(17), None, Recipient, "the mailbox has changed its owner"),
    (7, Some(18), None, Recipient, "the domain has changed its owner"),
    (7, Some(20), None, Channel, "no DKIM signature passes"),
    (7, Some(21), None, Channel, "no DKIM signature is acceptable"),
    (7, Some(22), None, Channel, "no DKIM signature is the author's"),
    (7, Some(23), None, Channel, "SPF fails"),
    (7, Some(24), None, Channel, "SPF cannot be checked"),
    (7, Some(25), None, Channel, "the server's address has no name"),
    (7, Some(26), None, Channel, "several checks of the sender fail"),
    (7, Some(27), None, Channel, "the sender's domain takes no mail"),
    (7, Some(28), Some(Temporary), Channel, "too much mail"),
    (7, Some(60), None, Channel, "this user may not send as this sender"),
    (7, None, None, Message, "a policy refuses it"),
];

/// Codes that mean the same whatever follows them.
#[rustfmt::skip]
pub(super) const FIRST: &[(u16, Category, Blame, &str)] = &[
    (421, Temporary, Channel, "the server is closing the connection"),
    (432, Permanent, Channel, "the password must be changed"),
    (454, Temporary, Channel, "logging in or encryption do not work now"),
    (521, Permanent, Channel, "the server takes no mail"),
    (530, Permanent, Channel, "logging in or encryption are needed"),
    (534, Permanent, Channel, "the way to log in is too weak"),
    (535, Permanent, Channel, "user or password are wrong"),
    (538, Permanent, Channel, "encryption is needed to log in"),
    (556, Permanent, Recipient, "the recipient's domain takes no mail"),
];

/// Codes without an enhanced one.
#[rustfmt::skip]
pub(super) const PLAIN: &[(u16, Category, Blame, &str)] = &[
    (450, Temporary, Recipient, "the mailbox is busy"),
    (451, Temporary, Channel, "the server has a fault"),
    (452, Temporary, Channel, "the server is out of storage"),
    (455, Temporary, Message, "a parameter is not taken now"),
    (523, Permanent, Message, "the message is too big"),
    (550, Permanent, Recipient, "the mailbox is not there"),
    (551, Permanent, Recipient, "the recipient has moved"),
    (552, Temporary, Recipient, "the mailbox is full"),
    (553, Permanent, Recipient, "the mailbox's name is not allowed"),
];

/// What a negative reply means. `text` is what follows the code, the enhanced code included.
pub fn smtp(code: u16, enhanced: Option<Enhanced>, text: &str) -> Refusal {
    let verdict = first(code)
        .or_else(|| enhanced.map(|it| by_enhanced(code, it)))
        .or_else(|| plain(code, text))
        .unwrap_or((category_of(code), Message));
    let name = match enhanced {
        Some(enhanced) => format!("smtp {code} {enhanced}"),
        None => format!("smtp {code}"),
    };
    refusal(verdict, name, text)
}

fn first(code: u16) -> Option<(Category, Blame)> {
    let found = FIRST.iter().find(|row| row.0 == code);
    found.map(|row| (row.1, row.2))
}

fn by_enhanced(code: u16, Enhanced(_, subject, detail): Enhanced) -> (Category, Blame) {
    let fits = |row: &&Row| row.0 == subject && row.1.is_none_or(|it| it == detail);
    let found = BY_ENHANCED.iter().find(fits);
    match found {
        Some((_, _, category, blame, _)) => (category.unwrap_or(category_of(code)), *blame),
        None => (category_of(code), Message),
    }
}

/// A plain 550 says that a mailbox is not there, or that someone did not like the message:
/// an address is not to be suppressed for the latter.
fn plain(code: u16, text: &str) -> Option<(Category, Blame)> {
    if code == 550 && words::speaks_of_policy(text) {
        return Some((Permanent, Message));
    }
    let found = PLAIN.iter().find(|row| row.0 == code);
    found.map(|row| (row.1, row.2))
}

const fn category_of(code: u16) -> Category {
    if code >= 500 { Permanent } else { Temporary }
}
