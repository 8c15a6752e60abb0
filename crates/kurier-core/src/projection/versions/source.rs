//! Which events publish something, and what: one function for each kind of artefact.

use std::collections::BTreeSet;

use super::Named;
use crate::bundle::Kind as Artefact;
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
    pub head: Option<Named>,
}

impl Source {
    /// Whether events of this kind publish something.
    pub const fn is_told_by(kind: Kind) -> bool {
        matches!(kind, Kind::JourneyPublished | Kind::TemplatePublished)
    }

    pub fn of(recorded: &Recorded) -> Result<Option<Self>, String> {
        let payload = &recorded.event.payload;
        match recorded.event.kind {
            Kind::JourneyPublished => journey_of(payload).map(Some),
            Kind::TemplatePublished => template_of(payload).map(Some),
            _ => Ok(None),
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
        head: None,
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
        uses: BTreeSet::new(),
        head: Some((Artefact::Template, published.name)),
    })
}
