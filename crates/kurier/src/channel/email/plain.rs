//! HTML as text, for mails whose template has no text of its own.

/// Elements whose content nobody reads.
const SILENT: &[&str] = &["style", "script", "head", "title"];
/// Elements that begin a line.
const BLOCKS: &[&str] = &[
    "p",
    "div",
    "br",
    "tr",
    "table",
    "ul",
    "ol",
    "li",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "blockquote",
    "section",
    "article",
    "header",
    "footer",
    "hr",
];

/// What a reader would read; a link is followed by where it leads.
pub fn text_of(html: &str) -> String {
    let mut writer = Writer::default();
    let mut rest = html;
    while let Some(at) = writer.next_tag(rest) {
        writer.say(&rest[..at]);
        rest = &rest[at..];
        rest = match comment_end(rest).or_else(|| rest.find('>').map(|end| end + 1)) {
            Some(end) => {
                writer.tag(&rest[1..end - 1]);
                &rest[end..]
            }
            None => "",
        };
    }
    writer.say(rest);
    writer.finished()
}

fn comment_end(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix("<!--")?;
    Some(inside.find("-->").map_or(rest.len(), |at| at + 7))
}

#[derive(Default)]
struct Writer {
    out: String,
    silent: Option<String>,
    link: Option<String>,
}

impl Writer {
    /// Where the next tag begins; inside what nobody reads only its end counts.
    fn next_tag(&self, rest: &str) -> Option<usize> {
        let Some(silent) = &self.silent else {
            return rest.find('<');
        };
        let is_end = |at: &usize| {
            let name = rest.as_bytes().get(at + 2..at + 2 + silent.len());
            name.is_some_and(|name| name.eq_ignore_ascii_case(silent.as_bytes()))
        };
        rest.match_indices("</").map(|(at, _)| at).find(is_end)
    }

    fn say(&mut self, text: &str) {
        if self.silent.is_some() {
            return;
        }
        for (index, word) in text.split(char::is_whitespace).enumerate() {
            let needs_space = index > 0 && !self.out.is_empty() && !self.out.ends_with(['\n', ' ']);
            if needs_space {
                self.out.push(' ');
            }
            self.out.push_str(&decoded(word));
        }
    }

    fn tag(&mut self, tag: &str) {
        let (is_end, tag) = match tag.strip_prefix('/') {
            Some(tag) => (true, tag),
            None => (false, tag),
        };
        let name = tag.split(|c: char| c.is_whitespace() || c == '/').next();
        let name = name.unwrap_or_default().to_ascii_lowercase();
        if let Some(silent) = &self.silent {
            if is_end && *silent == name {
                self.silent = None;
            }
            return;
        }
        if !is_end && SILENT.contains(&name.as_str()) {
            self.silent = Some(name);
        } else if BLOCKS.contains(&name.as_str()) {
            self.line();
        } else if name == "a" {
            self.link(is_end, tag);
        }
    }

    fn link(&mut self, is_end: bool, tag: &str) {
        if !is_end {
            self.link = attribute(tag, "href").filter(|url| url.starts_with("http"));
        } else if let Some(url) = self.link.take()
            && !self.out.ends_with(&url)
        {
            self.out.push_str(&format!(" ({url})"));
        }
    }

    /// At most one empty line between two.
    fn line(&mut self) {
        self.out.truncate(self.out.trim_end_matches(' ').len());
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn finished(self) -> String {
        self.out.trim().to_owned() + "\n"
    }
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let lower = tag.to_ascii_lowercase();
    let at = lower.find(&format!("{name}="))? + name.len() + 1;
    let value = tag.get(at..)?;
    let quote = value.chars().next()?;
    let value = match quote {
        '"' | '\'' => value[1..].split(quote).next()?,
        _ => value.split(char::is_whitespace).next()?,
    };
    Some(decoded(value))
}

fn decoded(text: &str) -> String {
    const NAMED: &[(&str, &str)] = &[
        ("&nbsp;", " "),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&apos;", "'"),
        // Last, so that what it uncovers stays as it is.
        ("&amp;", "&"),
    ];
    let mut text = text.to_owned();
    for (name, meaning) in NAMED {
        if text.contains('&') {
            text = text.replace(name, meaning);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_reads_the_same() {
        for (html, text) in [
            (
                "<p>Hello <b>Ann</b>,</p><p>a &amp; b</p>",
                "Hello Ann,\n\na & b\n",
            ),
            ("<style>p{}</style><script>x<y</script>Hi", "Hi\n"),
            ("a<br>b<br/>c", "a\nb\nc\n"),
            (
                "<a href=\"https://x.y/?a=1&amp;b=2\">Go</a>!",
                "Go (https://x.y/?a=1&b=2)!\n",
            ),
            ("<a href='mailto:a@b'>mail</a>", "mail\n"),
            ("<!-- <p>no</p> -->yes", "yes\n"),
            ("1 &lt; 2 &amp;lt; 3", "1 < 2 &lt; 3\n"),
            ("a <b", "a\n"),
            ("   \n  x \n y  ", "x y\n"),
        ] {
            assert_eq!(text_of(html), text, "{html}");
        }
    }

    #[test]
    fn odd_html_ends() {
        for html in [
            "<",
            "<!--",
            "<a href=",
            "<a href=\"",
            "<style>",
            "</",
            "&",
            "<a href=ä>ä</a>",
            "<!-->x",
        ] {
            let _ = text_of(html);
        }
        let deep = "<div>".repeat(100_000);
        assert_eq!(text_of(&deep), "\n");
    }
}
