//! How the kinds of text differ.

/// The marks of a kind of text.
pub struct Style {
    /// The line ends between blocks.
    pub gap: usize,
    pub bullet: &'static str,
    pub quote: &'static str,
    pub strong: &'static str,
    pub emphasis: &'static str,
    pub strike: &'static str,
    pub code: &'static str,
    pub fence: &'static str,
    pub rule: &'static str,
    /// Around the text of a heading.
    pub heading: &'static str,
    pub link: Link,
    /// How a character is written, if not as itself.
    pub replaced: fn(char) -> Option<&'static str>,
}

/// How a link says where it leads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// `text (address)`
    Behind,
    /// `<address|text>`
    Around,
    /// `text: address`
    Colon,
}

pub const TEXT: Style = Style {
    gap: 2,
    bullet: "- ",
    quote: "> ",
    strong: "",
    emphasis: "",
    strike: "",
    code: "",
    fence: "",
    rule: "---",
    heading: "",
    link: Link::Behind,
    replaced: |_| None,
};

pub const SLACK: Style = Style {
    gap: 2,
    bullet: "• ",
    quote: "> ",
    strong: "*",
    emphasis: "_",
    strike: "~",
    code: "`",
    fence: "```",
    rule: "---",
    heading: "*",
    link: Link::Around,
    replaced: |character| match character {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        _ => None,
    },
};

pub const SMS: Style = Style {
    gap: 1,
    bullet: "- ",
    quote: "",
    strong: "",
    emphasis: "",
    strike: "",
    code: "",
    fence: "",
    rule: "",
    heading: "",
    link: Link::Colon,
    replaced: typed,
};

/// One character outside of the alphabet of short messages makes all of a message's characters
/// take twice the room: what is typographic only is written as typed.
const fn typed(character: char) -> Option<&'static str> {
    match character {
        '‘' | '’' | '‚' | '‹' | '›' | '´' | '`' => Some("'"),
        '“' | '”' | '„' | '«' | '»' => Some("\""),
        '‐' | '‑' | '‒' | '–' | '—' | '−' => Some("-"),
        '…' => Some("..."),
        '•' | '·' => Some("-"),
        '\u{a0}' | '\u{2009}' | '\u{202f}' | '\t' => Some(" "),
        '\u{ad}' | '\u{200b}' | '\u{200d}' | '\u{feff}' => Some(""),
        _ => None,
    }
}
