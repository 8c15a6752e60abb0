//! Content as the API shows it.

use kurier_core::content::{Key, NodeType, Target, render};
use kurier_core::projection::ContentDocument;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::flow::content::{Held, Outcome, Standing, Used};

/// A document or a node of one, in a list.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ContentItem {
    #[schema(example = "para:refund_policy:001")]
    pub key: String,
    /// `doc`, `ch`, `para`, `subpara` or `chunk`.
    #[schema(example = "doc")]
    pub r#type: &'static str,
    /// Of a document or a heading.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "Shipping")]
    pub title: Option<String>,
    /// The key of the document that it is in.
    #[schema(example = "handbook")]
    pub document: String,
    #[schema(example = "handbook/refunds.md")]
    pub source: String,
    /// Of a document: how many nodes it has, itself included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<String>,
}

impl From<&ContentDocument> for ContentItem {
    fn from(known: &ContentDocument) -> Self {
        Self {
            key: known.key.to_string(),
            r#type: NodeType::Doc.as_str(),
            title: Some(known.title.clone()),
            document: known.key.to_string(),
            source: known.source_id.clone(),
            nodes: Some(known.nodes),
            changed_at: Some(known.changed_at.to_string()),
        }
    }
}

impl ContentItem {
    pub fn of(held: &Held, at: usize) -> Self {
        let node = &held.body.document.nodes[at];
        if node.key.node_type() == NodeType::Doc {
            return Self::from(&held.known);
        }
        Self {
            key: node.key.to_string(),
            r#type: node.key.node_type().as_str(),
            title: node.title.as_deref().map(str::to_owned),
            document: held.known.key.to_string(),
            source: held.known.source_id.clone(),
            nodes: None,
            changed_at: None,
        }
    }
}

/// How Markdown is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    Html,
    Text,
    Slack,
    Sms,
}

impl From<Shape> for Target {
    fn from(shape: Shape) -> Self {
        match shape {
            Shape::Html => Self::Html,
            Shape::Text => Self::Text,
            Shape::Slack => Self::Slack,
            Shape::Sms => Self::Sms,
        }
    }
}

/// A document or a node, with all that is known of it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ContentNodeView {
    #[serde(flatten)]
    pub item: ContentItem,
    /// Its own Markdown: a heading's line, a chunk's blocks; of a document its title.
    #[schema(example = "# Shipping")]
    pub text: String,
    /// The headings above it.
    #[schema(example = json!(["Shipping"]))]
    pub path: Vec<String>,
    #[schema(example = "handbook")]
    pub parent: Option<String>,
    /// Its place in reading order; the document is 0.
    pub position: usize,
    /// Where it stands in the source, in bytes.
    pub start: u32,
    pub end: u32,
    #[schema(example = "5f1c9c0d6c9b7e0e4a8f4bb6a3a1f6f1d2c3b4a5968778695a4b3c2d1e0f0a1b")]
    pub sha256: String,
    #[schema(example = "handbook.ch2")]
    pub next: Option<String>,
    #[schema(example = "handbook.ch1")]
    pub previous: Option<String>,
    /// How many nodes are right below it.
    pub children: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["help"]))]
    pub categories: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["Ann"]))]
    pub authors: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["delivery"]))]
    pub tags: Vec<String>,
    /// With everything below it, as it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "<h1>Shipping</h1>")]
    pub rendered: Option<String>,
}

impl ContentNodeView {
    pub fn of(held: &Held, at: usize, shape: Option<Shape>) -> Self {
        let (document, tree) = (&held.body.document, held.tree());
        let node = &document.nodes[at];
        let key = |at: usize| tree.key(at).to_string();
        let rendered = shape.map(|shape| {
            let shown = render(&held.section(at), held.references(), shape.into());
            shown.unwrap_or_else(|error| error.to_string())
        });
        let names = |names: &[kurier_core::content::Identifier]| -> Vec<String> {
            let is_document = at == 0;
            let names = names.iter().filter(|_| is_document);
            names.map(ToString::to_string).collect()
        };
        let collections = &held.known.collections;
        let path = document.heading_path(at).into_iter();
        Self {
            item: ContentItem::of(held, at),
            text: held.text(at),
            path: path.map(str::to_owned).collect(),
            parent: tree.parent(at).map(key),
            position: at,
            start: node.span.start,
            end: node.span.end,
            sha256: node.sha256.to_string(),
            next: tree.next(at).map(key),
            previous: tree.previous(at).map(key),
            children: tree.children(at).count(),
            categories: names(&collections.categories),
            authors: names(&collections.authors),
            tags: names(&collections.tags),
            rendered,
        }
    }
}

/// What became of an imported document.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct OutcomeView {
    #[schema(example = "handbook.md")]
    pub source: String,
    /// `new`, `changed`, `unchanged` or `refused`.
    #[schema(example = "new")]
    pub standing: &'static str,
    #[schema(example = "handbook")]
    pub key: Option<String>,
    /// Keys that were given.
    #[schema(example = json!(["handbook.ch2"]))]
    pub new: Vec<String>,
    /// Keys whose text is another one now.
    #[schema(example = json!(["handbook.ch1"]))]
    pub changed: Vec<String>,
    /// Keys that are gone for ever.
    #[schema(example = json!(["handbook.ch9"]))]
    pub gone: Vec<String>,
    /// How many nodes stayed as they were.
    pub kept: usize,
    /// Why it was refused, or why its front matter could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "the document is empty")]
    pub reason: Option<String>,
}

impl From<Outcome> for OutcomeView {
    fn from(outcome: Outcome) -> Self {
        let keys = |keys: &[Key]| keys.iter().map(ToString::to_string).collect();
        let (standing, refused) = match outcome.standing {
            Standing::New => ("new", None),
            Standing::Changed => ("changed", None),
            Standing::Unchanged => ("unchanged", None),
            Standing::Refused(reason) => ("refused", Some(reason)),
        };
        let warning = outcome.warning.map(|why| format!("the front matter {why}"));
        Self {
            source: outcome.source_id,
            standing,
            key: outcome.key.map(|key| key.to_string()),
            new: keys(&outcome.diff.new),
            changed: keys(&outcome.diff.changed),
            gone: keys(&outcome.diff.gone),
            kept: outcome.diff.kept,
            reason: refused.or(warning),
        }
    }
}

/// Who quotes a node, by name.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub struct UsedView {
    #[schema(example = json!(["welcome"]))]
    pub templates: Vec<String>,
    #[schema(example = json!(["welcome"]))]
    pub journeys: Vec<String>,
}

impl From<Used> for UsedView {
    fn from(used: Used) -> Self {
        Self {
            templates: used.templates.into_iter().collect(),
            journeys: used.journeys.into_iter().collect(),
        }
    }
}
