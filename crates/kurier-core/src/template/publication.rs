//! What stands in the log about templates, and what the engine remembers of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Compiled;
use crate::event::{Kind, Recorded};
use crate::id::{EventId, TemplateId};
use crate::value::Value;

/// `template.published`: a version of a template.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Publication {
    pub id: TemplateId,
    pub name: String,
    pub version: u32,
    /// The document as it was given.
    pub document: Value,
    /// What it reads of its inputs, dotted.
    pub reads: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// SHA-256 of the document's canonical JSON.
    pub hash: String,
}

/// `template.retired`: no journey can be published with it any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retirement {
    pub id: TemplateId,
    pub name: String,
}

impl Publication {
    pub fn new(compiled: &Compiled, version: u32, document: Value) -> Self {
        Self {
            id: TemplateId::of_name(&compiled.name),
            name: compiled.name.clone(),
            version,
            hash: hash_of(&document),
            document,
            reads: compiled.reads().into_iter().collect(),
            topic: compiled.topic.clone(),
        }
    }

    /// The id of its event: of two who publish a version at once the log takes one.
    pub fn event_id(&self) -> EventId {
        let template = EventId::from_uuid(self.id.as_uuid());
        EventId::derived("template:publish", template, self.version)
    }
}

/// The hash of a document: the same for the same fields, whatever their order.
pub fn hash_of(document: &Value) -> String {
    let canonical = serde_json::to_string(document).unwrap_or_default();
    let hash = Sha256::digest(canonical.as_bytes());
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What who asks for a message knows of each template.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Templates {
    by_name: BTreeMap<String, Brief>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brief {
    pub version: u32,
    pub reads: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
}

impl Templates {
    pub fn get(&self, name: &str) -> Option<&Brief> {
        self.by_name.get(name)
    }

    /// A template that was retired stays known: journeys that name it go on.
    pub fn fold(&mut self, recorded: &Recorded) {
        if recorded.event.kind != Kind::TemplatePublished {
            return;
        }
        if let Ok(published) = serde_json::from_str::<Publication>(&recorded.event.payload) {
            let brief = Brief {
                version: published.version,
                reads: published.reads,
                topic: published.topic,
            };
            self.learn(published.name, brief);
        }
    }

    pub fn learn(&mut self, name: String, brief: Brief) {
        self.by_name.insert(name, brief);
    }

    pub fn all(&self) -> impl ExactSizeIterator<Item = (&str, &Brief)> {
        let all = self.by_name.iter();
        all.map(|(name, brief)| (name.as_str(), brief))
    }
}
