//! What templates quote: whether it is there, and how each channel shows it.

use std::collections::BTreeMap;
use std::sync::Arc;

use kurier_core::content::{Key, References, Target, render};
use kurier_core::id::WorkspaceId;
use kurier_core::message::channel::ChannelKind;
use kurier_core::projection::{ContentImport, ContentNode};
use kurier_core::template::{Compiled, Fault, Quotes, RenderFault, Shown, Why, quoted_in};
use kurier_store::{Result, Scope, Store};

use super::library::{Found, Held, Library};

/// So many texts are kept ready to be quoted.
const SHOWN_MAX: u64 = 10_000;

/// A node as a channel shows it, of a document as it was after an event.
type Place = (WorkspaceId, Key, i64, u8);

/// Shows what templates quote.
pub struct Quoting {
    library: Arc<Library>,
    ready: moka::sync::Cache<Place, Shown>,
}

impl Quoting {
    pub fn new(library: Arc<Library>) -> Self {
        let cache = moka::sync::Cache::builder();
        Self {
            library,
            ready: cache.max_capacity(SHOWN_MAX).build(),
        }
    }

    /// Of what is not there nothing is in the answer.
    pub async fn quotes(&self, scope: Scope, compiled: &Compiled, to: Target) -> Result<Quotes> {
        let mut keys: Vec<Key> = compiled.quotes().map(|(_, key, _)| key).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut quotes = Quotes::default();
        if keys.is_empty() {
            return Ok(quotes);
        }
        let found = self.library.find_all(scope, &keys).await?;
        for (key, found) in keys.into_iter().zip(found) {
            if let Found::Node { held, at } = found
                && let Some(shown) = self.shown(scope, (key, at), &held, to)
            {
                quotes.insert(key, shown);
            }
        }
        Ok(quotes)
    }

    fn shown(
        &self,
        scope: Scope,
        (key, at): (Key, usize),
        held: &Held,
        to: Target,
    ) -> Option<Shown> {
        let place = (scope.0, key, held.known.revision.0, to as u8);
        if let Some(shown) = self.ready.get(&place) {
            return Some(shown);
        }
        let (markdown, references) = (held.section(at), held.references());
        let shown = Shown {
            html: shown_in(&markdown, references, Target::Html)?,
            text: shown_in(&markdown, references, to)?,
        };
        self.ready.insert(place, shown.clone());
        Some(shown)
    }
}

fn shown_in(markdown: &str, references: &References, target: Target) -> Option<Arc<str>> {
    let shown = render(markdown, references, target);
    shown.ok().map(Arc::from)
}

/// How a channel shows texts.
pub const fn target_of(kind: ChannelKind) -> Target {
    match kind {
        ChannelKind::Slack => Target::Slack,
        ChannelKind::Sms => Target::Sms,
        ChannelKind::Email | ChannelKind::Webhook | ChannelKind::Outbox => Target::Text,
    }
}

/// What of a template's quotations is not there, with its place.
pub async fn faults(store: &Store, scope: Scope, compiled: &Compiled) -> Result<Vec<Fault>> {
    let quotes: Vec<_> = compiled.quotes().collect();
    let keys: Vec<Key> = quotes.iter().map(|(_, key, _)| *key).collect();
    let absences = absences(store, scope, &keys).await?;
    let faults = quotes.into_iter().zip(absences);
    let faults = faults.filter_map(|((field, _, span), absence)| {
        let mut fault = Fault::new(Some(field), absence?);
        fault.span = Some(span);
        Some(fault)
    });
    Ok(faults.collect())
}

/// Why a key cannot be shown: it is not there. `None` if it is.
pub async fn absence(store: &Store, scope: Scope, key: Key) -> Result<Option<String>> {
    let absences = absences(store, scope, &[key]).await?;
    Ok(absences.into_iter().flatten().next())
}

/// Why a template could not be rendered; of what it quotes, since when that is gone.
pub async fn explained(store: &Store, scope: Scope, fault: &RenderFault) -> Result<String> {
    let Why::NoContent(key) = fault.why else {
        return Ok(fault.to_string());
    };
    let why = absence(store, scope, key).await?;
    let why = why.unwrap_or_else(|| too_long(key));
    Ok(format!("{}: {}: {why}", fault.part, fault.code()))
}

/// Why a key that is there cannot be shown.
pub fn too_long(key: Key) -> String {
    format!("`{key}` is longer than a message may be")
}

/// Templates that quote what is not there, and why they cannot be sent.
pub async fn spoiled(store: &Store, scope: Scope) -> Result<BTreeMap<String, String>> {
    let mut spoiled = BTreeMap::new();
    for template in store.templates.templates(scope).await? {
        let keys = quoted_in(&template.reads);
        let absences = absences(store, scope, &keys).await?;
        if let Some(reason) = absences.into_iter().flatten().next() {
            let reason = format!("the template `{}` quotes: {reason}", template.name);
            spoiled.insert(template.name, reason);
        }
    }
    Ok(spoiled)
}

/// For each key why it cannot be quoted; nothing if it can.
async fn absences(store: &Store, scope: Scope, keys: &[Key]) -> Result<Vec<Option<String>>> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let library = Library::new(store.clone());
    let nodes = library.nodes(scope, keys).await?;
    let mut absences = Vec::with_capacity(keys.len());
    for key in keys {
        absences.push(match nodes.get(key) {
            None => Some(format!("there is no content `{key}`")),
            Some(node) => match node.gone {
                Some((_, number)) => {
                    let import = library.import(scope, number).await?;
                    Some(gone(node, import.as_ref()))
                }
                None => None,
            },
        });
    }
    Ok(absences)
}

/// Since when a key is gone, and by which import.
pub fn gone(node: &ContentNode, import: Option<&ContentImport>) -> String {
    let key = node.key;
    let Some((at, number)) = node.gone else {
        return format!("`{key}` is there");
    };
    let by = import.and_then(|import| import.by.as_deref());
    let by = by.map(|by| format!(", by {by}")).unwrap_or_default();
    format!("`{key}` is gone since {at}: import {number} took it away{by}")
}
