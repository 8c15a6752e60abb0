//! Which events publish something, and what: one function for each kind of artefact.

use std::collections::BTreeSet;

use super::Named;
use crate::bundle::{Kind as Artefact, Summary};
use crate::content;
use crate::event::{Kind, Recorded};
use crate::journey;
use crate::template;
use crate::value::Value;

/// An artefact as an event publishes it.
pub struct Source {
    pub kind: Artefact,
    /// Its name and the number of its version.
    pub title: String,
    /// Its canonical bytes.
    pub content: Vec<u8>,
    /// What it came from: of each the newest version.
    pub uses: BTreeSet<Named>,
    /// What others know it by, if others can come from it.
    pub heads: Vec<Named>,
}

impl Source {
    /// Whether events of this kind publish something.
    pub const fn is_told_by(kind: Kind) -> bool {
        matches!(
            kind,
            Kind::JourneyPublished
                | Kind::TemplatePublished
                | Kind::ContentImported
                | Kind::EvidenceGathered
        )
    }

    /// All that an event publishes.
    pub fn of(recorded: &Recorded) -> Result<Vec<Self>, String> {
        let payload = &recorded.event.payload;
        match recorded.event.kind {
            Kind::JourneyPublished => journey_of(payload).map(|it| vec![it]),
            Kind::TemplatePublished => template_of(payload).map(|it| vec![it]),
            Kind::ContentImported => documents_of(payload),
            Kind::EvidenceGathered => evidence_of(payload).map(|it| vec![it]),
            _ => Ok(Vec::new()),
        }
    }
}

fn read<'a, T: serde::Deserialize<'a>>(payload: &'a str) -> Result<T, String> {
    serde_json::from_str(payload).map_err(|error| error.to_string())
}

/// The same for the same fields, whatever their order.
fn canonical(document: &Value) -> Result<Vec<u8>, String> {
    serde_json::to_vec(document).map_err(|error| error.to_string())
}

fn journey_of(payload: &str) -> Result<Source, String> {
    let published: journey::Publication = read(payload)?;
    let definition = published.definition.as_object();
    let name = definition.and_then(|it| it.get("name")?.as_text());
    let name = name.ok_or("the definition has no name")?;
    Ok(Source {
        kind: Artefact::Journey,
        title: format!("{name}@{}", published.version),
        content: canonical(&published.definition)?,
        uses: templates_in(&published.definition),
        heads: Vec::new(),
    })
}

/// The templates that a definition sends. Read from the document as it stands, not as the
/// checks of the day read it: what was once published stays what it was.
fn templates_in(definition: &Value) -> BTreeSet<Named> {
    let nodes = definition.as_object().and_then(|it| it.get("nodes"));
    let Some(Value::List(nodes)) = nodes else {
        return BTreeSet::new();
    };
    let named = nodes.iter().filter_map(|node| {
        let name = node.as_object()?.get("template")?.as_text()?;
        Some((Artefact::Template, name.to_owned()))
    });
    named.collect()
}

fn template_of(payload: &str) -> Result<Source, String> {
    let published: template::Publication = read(payload)?;
    Ok(Source {
        kind: Artefact::Template,
        title: format!("{}@{}", published.name, published.version),
        content: canonical(&published.document)?,
        uses: content_in(&published.document),
        heads: vec![(Artefact::Template, published.name)],
    })
}

/// The nodes of content that a template quotes.
fn content_in(template: &Value) -> BTreeSet<Named> {
    let Ok(compiled) = template::Compiled::new(template) else {
        return BTreeSet::new();
    };
    let quotes = compiled.quotes();
    quotes.map(|(_, key, _)| node_of(&key)).collect()
}

/// Nothing comes from it, and it comes from the log itself.
fn evidence_of(payload: &str) -> Result<Source, String> {
    let summary: Summary = read(payload)?;
    Ok(Source {
        kind: Artefact::Evidence,
        title: summary.title(),
        content: summary.canonical(),
        uses: BTreeSet::new(),
        heads: Vec::new(),
    })
}

/// A document is known by each of its nodes.
fn node_of(key: &content::Key) -> Named {
    (Artefact::Content, key.to_string())
}

fn documents_of(payload: &str) -> Result<Vec<Source>, String> {
    let import: content::Import = read(payload)?;
    let number = import.number;
    let documents = import.documents.into_iter().map(|imported| {
        let nodes = imported.document.nodes.iter();
        Source {
            kind: Artefact::Content,
            title: format!("{}@{number}", imported.document.source_id),
            heads: nodes.map(|node| node_of(&node.key)).collect(),
            content: imported.source.into_bytes(),
            uses: BTreeSet::new(),
        }
    });
    Ok(documents.collect())
}
