//! Markdown as teams write it: front matter, headings of all levels, paragraphs, lists, tables, code,
//! links and quotes, in English and German. The same seed gives the same text.

use std::fmt::Write as _;
use std::path::Path;

use crate::clock::Random;

const WORDS: &[&str] = &[
    "the",
    "customer",
    "may",
    "return",
    "goods",
    "within",
    "thirty",
    "days",
    "of",
    "delivery",
    "and",
    "refund",
    "policy",
    "applies",
    "to",
    "every",
    "order",
    "unless",
    "stated",
    "otherwise",
    "shipping",
    "container",
    "cluster",
    "node",
    "service",
    "runs",
    "behind",
    "load",
    "balancer",
    "which",
    "spreads",
    "requests",
    "evenly",
    "configuration",
    "is",
    "kept",
    "in",
    "version",
    "control",
    "die",
    "Lieferung",
    "erfolgt",
    "an",
    "angegebene",
    "Adresse",
    "für",
    "Rückgabe",
    "gilt",
    "eine",
    "Frist",
    "von",
    "Tagen",
    "Verfügbarkeit",
    "größer",
    "als",
    "erwartet",
    "portfolio",
    "risk",
    "assessment",
    "measures",
    "volatility",
    "API",
    "token",
    "expires",
    "after",
    "an",
    "hour",
    "retry",
    "with",
    "backoff",
];

pub struct Corpus {
    random: Random,
}

impl Corpus {
    pub fn new(seed: u64) -> Self {
        Self {
            random: Random::seeded(seed),
        }
    }

    /// One document of at least so many bytes.
    pub fn document(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 4096);
        let title = self.words(4);
        let _ = write!(
            text,
            "---\ntitle: {title}\ncategory: docs\ntags: [a, b]\n---\n\n"
        );
        while text.len() < bytes {
            self.section(&mut text);
        }
        text
    }

    /// Files of a folder, so many bytes each, until there are enough.
    pub fn folder(&mut self, folder: &Path, bytes: usize, each: usize) -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let (mut written, mut number) = (0, 0);
        while written < bytes {
            let text = self.document(each);
            std::fs::write(folder.join(format!("{number:05}.md")), &text)?;
            (written, number) = (written + text.len(), number + 1);
        }
        Ok(())
    }

    fn section(&mut self, text: &mut String) {
        let level = [1, 2, 2, 3, 3, 4][self.random.below(6)];
        let count = 2 + self.random.below(5);
        let heading = self.words(count);
        let _ = write!(text, "{} {heading}\n\n", "#".repeat(level));
        for _ in 0..1 + self.random.below(4) {
            self.block(text);
        }
    }

    fn block(&mut self, text: &mut String) {
        match self.random.below(12) {
            0 => self.list(text),
            1 => self.table(text),
            2 => self.code(text),
            3 => {
                let quoted = self.words(20);
                let _ = write!(text, "> {quoted}.\n\n");
            }
            _ => self.paragraph(text),
        }
    }

    fn paragraph(&mut self, text: &mut String) {
        for _ in 0..2 + self.random.below(5) {
            let (before, after) = (self.words(9), self.words(7));
            let _ = match self.random.below(5) {
                0 => writeln!(text, "{before} **{after}**."),
                1 => writeln!(
                    text,
                    "{before} [{after}](https://example.org/{})",
                    after.len()
                ),
                2 => writeln!(text, "{before} `{after}`."),
                _ => writeln!(text, "{before} {after}."),
            };
        }
        text.push('\n');
    }

    fn list(&mut self, text: &mut String) {
        for _ in 0..3 + self.random.below(4) {
            let item = self.words(10);
            let _ = writeln!(text, "- {item}");
        }
        text.push('\n');
    }

    fn table(&mut self, text: &mut String) {
        text.push_str("| name | what it is |\n|---|---|\n");
        for _ in 0..4 {
            let (name, what) = (self.words(1), self.words(6));
            let _ = writeln!(text, "| {name} | {what} |");
        }
        text.push('\n');
    }

    fn code(&mut self, text: &mut String) {
        text.push_str("```yaml\n# no heading\n");
        for _ in 0..4 {
            let (name, value) = (self.words(1), self.words(2));
            let _ = writeln!(text, "{name}: {value}");
        }
        text.push_str("```\n\n");
    }

    fn words(&mut self, count: usize) -> String {
        let words: Vec<&str> = (0..count)
            .map(|_| WORDS[self.random.below(WORDS.len())])
            .collect();
        words.join(" ")
    }
}
