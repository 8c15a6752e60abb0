//! What a provider's answer means: whether trying again may help, and whose fault it is. The
//! tables are data, read from the top; the first row that fits decides. Only where a provider
//! is unknown and gives no code, its words are looked at.

mod http;
mod provider;
mod smtp;
mod words;

pub use http::{Status, http, retry_after};
pub use provider::{slack, twilio};
pub use smtp::{Enhanced, smtp};

use super::{Blame, Category, Refusal};

/// What a person is told of an answer has at most so many characters.
const DETAIL_CHARS_MAX: usize = 300;

/// A refusal whose detail is short and on one line, whatever the provider said.
pub fn refusal((category, blame): (Category, Blame), code: String, detail: &str) -> Refusal {
    Refusal {
        category,
        blame,
        code,
        detail: one_line(detail),
        retry_after: None,
    }
}

/// Foreign text, cut, and without what a terminal or a log would act on.
pub fn one_line(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let cut: String = plain.take(DETAIL_CHARS_MAX).collect();
    cut.trim().to_owned()
}

#[cfg(test)]
mod tests;
