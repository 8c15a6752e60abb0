//! HTML as plain text: the alternative that every e-mail has.

use super::markup::{Bit, attributes, bits, decoded};

/// Elements of which nothing is read.
const SILENT: &[&str] = &["script", "style", "head", "title", "template"];
/// Elements that stand apart, by so many line ends.
const APART: &[(&str, usize)] = &[
    ("p", 2),
    ("h1", 2),
    ("h2", 2),
    ("h3", 2),
    ("h4", 2),
    ("h5", 2),
    ("h6", 2),
    ("ul", 2),
    ("ol", 2),
    ("table", 2),
    ("blockquote", 2),
    ("pre", 2),
    ("hr", 2),
    ("div", 1),
    ("tr", 1),
    ("li", 1),
    ("section", 1),
    ("article", 1),
    ("header", 1),
    ("footer", 1),
    ("body", 1),
];

/// The text of an HTML document.
pub fn text_of(html: &str) -> String {
    let mut page = Page::default();
    for bit in bits(html) {
        page.bit(bit);
    }
    let mut text = page.text.trim_end().to_owned();
    text.push('\n');
    text
}

#[derive(Default)]
struct Page {
    text: String,
    /// Line ends and spaces that come before the next word, if one comes.
    breaks: usize,
    has_gap: bool,
    /// The silent element we are in.
    silent: Option<String>,
    /// Hidden elements, such as a preheader's, and what is open in them.
    hidden: usize,
    is_verbatim: bool,
    /// The numbers of ordered lists; none for others.
    lists: Vec<Option<u32>>,
    /// Where links begin, and where they lead.
    links: Vec<(usize, String)>,
}

impl Page {
    fn bit(&mut self, bit: Bit<'_>) {
        if let Some(silent) = &self.silent {
            if matches!(bit, Bit::Close { name } if name.eq_ignore_ascii_case(silent)) {
                self.silent = None;
            }
            return;
        }
        match bit {
            Bit::Text(_) if self.hidden > 0 => {}
            Bit::Text(text) if self.is_verbatim => self.verbatim(&decoded(text)),
            Bit::Text(text) => self.words(&decoded(text)),
            Bit::Open { name, attributes } => self.open(&name.to_ascii_lowercase(), attributes),
            Bit::Close { name } => self.close(&name.to_ascii_lowercase()),
        }
    }

    fn words(&mut self, text: &str) {
        self.has_gap |= text.starts_with(char::is_whitespace);
        for word in text.split_whitespace() {
            self.word(word);
            self.has_gap = true;
        }
        self.has_gap &= text.ends_with(char::is_whitespace) || text.is_empty();
    }

    fn word(&mut self, word: &str) {
        self.flush();
        self.text.push_str(word);
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            let ends = self.text.len() - self.text.trim_end_matches('\n').len();
            let missing = self.breaks.saturating_sub(ends);
            self.text.push_str(&"\n".repeat(missing));
            let begins = self.text.ends_with(['\n', ' ']);
            if self.has_gap && !begins {
                self.text.push(' ');
            }
        }
        (self.breaks, self.has_gap) = (0, false);
    }

    fn verbatim(&mut self, text: &str) {
        self.flush();
        self.text.push_str(text);
    }

    fn apart(&mut self, name: &str) {
        if let Some((_, ends)) = APART.iter().find(|(apart, _)| *apart == name) {
            self.breaks = self.breaks.max(*ends);
        }
    }

    fn open(&mut self, name: &str, attributes_text: &str) {
        if self.hidden > 0 {
            self.hidden += usize::from(name == "div");
            return;
        }
        if !self.is_nested(name) {
            self.apart(name);
        }
        match name {
            name if SILENT.contains(&name) => self.silent = Some(name.to_owned()),
            "br" => self.line_end(),
            "hr" => self.word("---"),
            "pre" => self.is_verbatim = true,
            "ul" => self.lists.push(None),
            "ol" => self.lists.push(Some(0)),
            "li" => self.item(),
            "td" | "th" => self.has_gap = true,
            "a" => self.link(attributes_text),
            "img" => self.picture(attributes_text),
            "div" if is_hidden(attributes_text) => self.hidden = 1,
            _ => {}
        }
        if name == "hr" {
            self.breaks = 2;
        }
    }

    fn close(&mut self, name: &str) {
        if self.hidden > 0 {
            self.hidden -= usize::from(name == "div");
            return;
        }
        match name {
            "pre" => self.is_verbatim = false,
            "ul" | "ol" => drop(self.lists.pop()),
            "a" => self.end_link(),
            _ => {}
        }
        if !self.is_nested(name) {
            self.apart(name);
        }
    }

    /// A list in a list does not stand apart.
    fn is_nested(&self, name: &str) -> bool {
        matches!(name, "ul" | "ol") && !self.lists.is_empty()
    }

    fn line_end(&mut self) {
        self.flush();
        self.text.push('\n');
    }

    fn item(&mut self) {
        let indent = "  ".repeat(self.lists.len().clamp(1, 16) - 1);
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{indent}{number}. ")
            }
            _ => format!("{indent}- "),
        };
        self.flush();
        self.text.push_str(&mark);
    }

    fn link(&mut self, text: &str) {
        let href = attributes(text)
            .into_iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("href"));
        let href = href.map_or_else(String::new, |(_, href)| decoded(href).into_owned());
        self.flush();
        self.links.push((self.text.len(), href));
    }

    /// Where a link leads stands behind it, unless it says so itself.
    fn end_link(&mut self) {
        let Some((start, href)) = self.links.pop() else {
            return;
        };
        let said = self.text.get(start..).unwrap_or_default().trim();
        let bare = href.strip_prefix("mailto:").unwrap_or(&href);
        if href.is_empty() || href.starts_with('#') || said == bare {
            return;
        }
        let shown = match said.is_empty() {
            true => bare.to_owned(),
            false => format!(" ({bare})"),
        };
        self.text.push_str(&shown);
    }

    fn picture(&mut self, text: &str) {
        let alt = attributes(text)
            .into_iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("alt"));
        if let Some((_, alt)) = alt.filter(|(_, alt)| !alt.is_empty()) {
            self.words(&decoded(alt));
        }
    }
}

fn is_hidden(text: &str) -> bool {
    attributes(text).iter().any(|(name, value)| {
        name.eq_ignore_ascii_case("style") && value.replace(' ', "").contains("display:none")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(html: &str, expected: &str) {
        assert_eq!(text_of(html), expected, "{html}");
    }

    #[test]
    fn paragraphs_lists_and_links_read_as_text() {
        check(
            "<h1>Hi</h1>\n<p>a  <b>b</b>\nc</p><p>d<br>e</p>",
            "Hi\n\na b c\n\nd\ne\n",
        );
        check("<ul><li>x</li><li>y <i>z</i></li></ul>", "- x\n- y z\n");
        check(
            "<ol><li>x<ul><li>y</li></ul></li><li>z</li></ol>",
            "1. x\n  - y\n2. z\n",
        );
        check(
            "<p><a href='https://e.org/?a=1&amp;b'>Go</a> on</p>",
            "Go (https://e.org/?a=1&b) on\n",
        );
        check(
            "<a href=\"https://e.org\">https://e.org</a>",
            "https://e.org\n",
        );
        check("<p>1 &lt; 2 &amp; 3</p>", "1 < 2 & 3\n");
        check(
            "<style>p{}</style><title>t</title><p>x</p><script>y</script>",
            "x\n",
        );
        check(
            "<div style=\"display: none\">pre<div>x</div></div><p>y</p>",
            "y\n",
        );
        check("<pre>a\n  b</pre>", "a\n  b\n");
        check(
            "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>",
            "a b\nc\n",
        );
        check("<img src=x alt=\"A cat\">", "A cat\n");
    }
}
