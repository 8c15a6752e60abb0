//! A node's Markdown as a channel shows it. Whatever it holds, it becomes no markup of its own:
//! raw HTML is shown or left out, and links lead only where a person can be sent.

mod html;
mod plain;
mod style;

use pulldown_cmark::{BrokenLink, Parser};

use super::Error;
use super::outline::OPTIONS;
use super::references::References;
use super::source::mended;

pub const OUTPUT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What a text is shown in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// HTML with raw HTML escaped.
    Html,
    /// Text as in an e-mail.
    Text,
    /// Slack's own markup.
    Slack,
    /// Short text in few characters.
    Sms,
}

/// Shows Markdown; `references` are those of the document it is taken from.
pub fn render(markdown: &str, references: &References, target: Target) -> Result<String, Error> {
    let markdown = mended(markdown);
    let mut resolve = |link: BrokenLink<'_>| references.resolve(&link);
    let events = Parser::new_with_broken_link_callback(&markdown, OPTIONS, Some(&mut resolve));
    match target {
        Target::Html => html::written(events),
        Target::Text => plain::written(events, &style::TEXT),
        Target::Slack => plain::written(events, &style::SLACK),
        Target::Sms => plain::written(events, &style::SMS),
    }
}

/// What may be reached by a link.
const SCHEMES: [&str; 4] = ["http", "https", "mailto", "tel"];

/// Where an address leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leads {
    /// To a place of the web, an inbox, a telephone.
    Away,
    /// To a place beside the document.
    Beside,
    /// Nowhere a person should go.
    Nowhere,
}

fn leads(address: &str) -> Leads {
    // Browsers leave these out when they read a scheme.
    let is_read = |c: &char| !c.is_control() && !c.is_whitespace();
    let read: String = address.chars().filter(is_read).take(64).collect();
    let end = read.find([':', '/', '?', '#']);
    let scheme = end.filter(|end| read[*end..].starts_with(':'));
    match scheme.map(|end| read[..end].to_ascii_lowercase()) {
        Some(scheme) if SCHEMES.contains(&scheme.as_str()) => Leads::Away,
        Some(_) => Leads::Nowhere,
        None if read.is_empty() => Leads::Nowhere,
        None => Leads::Beside,
    }
}
