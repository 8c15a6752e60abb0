//! The visible text of a block, gathered while the parser goes over it: of a chunk only as much
//! as its identifier needs.

use super::identifier::Identifier;
use super::key::NodeType;
use super::settings::Language;
use super::slug::Slugger;
use super::visible::Visible;

/// So much is gathered before it is first asked whether that is enough; then twice as much.
const PROBE_BYTES: usize = 192;

pub struct Gather<'s> {
    slugger: &'s Slugger,
    language: Language,
    is_heading: bool,
    text: String,
    probe_at: usize,
    decided: Option<Identifier>,
    /// Whether anything in the block can be seen.
    is_seen: bool,
    html: Visible,
}

impl<'s> Gather<'s> {
    pub fn new(slugger: &'s Slugger, language: Language) -> Self {
        Self {
            slugger,
            language,
            is_heading: false,
            text: String::with_capacity(4 * PROBE_BYTES),
            probe_at: PROBE_BYTES,
            decided: None,
            is_seen: false,
            html: Visible::Text,
        }
    }

    pub fn begin(&mut self, is_heading: bool) {
        self.is_heading = is_heading;
        self.text.clear();
        self.probe_at = PROBE_BYTES;
        self.decided = None;
        self.is_seen = false;
        self.html = Visible::Text;
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub const fn is_seen(&self) -> bool {
        self.is_seen
    }

    /// Something that is seen, though it has no text.
    pub const fn see(&mut self) {
        self.is_seen = true;
    }

    pub fn push(&mut self, piece: &str) {
        let mut rest = piece;
        while self.decided.is_none() && !rest.is_empty() {
            // Of a long piece only what is needed is copied.
            let room = self.probe_at.saturating_sub(self.text.len()).max(1);
            let taken = match self.is_heading {
                true => rest.len(),
                false => rest.ceil_char_boundary(room),
            };
            let (part, behind) = rest.split_at(taken);
            self.take(part);
            rest = behind;
        }
    }

    fn take(&mut self, part: &str) {
        self.is_seen = self.is_seen || !part.trim_start().is_empty();
        self.text.push_str(part);
        if !self.is_heading && self.text.len() >= self.probe_at {
            self.decided = self
                .slugger
                .probe(&self.text, NodeType::Chunk, self.language);
            self.probe_at = 2 * self.text.len();
        }
    }

    pub fn gap(&mut self) {
        if self.decided.is_none() && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
    }

    pub fn begin_html(&mut self) {
        self.html = Visible::Text;
        self.gap();
    }

    pub fn html(&mut self, line: &str) {
        if self.decided.is_none() {
            let mut html = self.html;
            html.feed(line, |piece| self.push(piece));
            self.html = html;
        }
    }

    /// What the block is called, as a node of this type.
    pub fn identifier(&self, node_type: NodeType) -> Identifier {
        let whole = || {
            self.slugger
                .identifier(&self.text, node_type, self.language)
        };
        self.decided.unwrap_or_else(whole)
    }
}
