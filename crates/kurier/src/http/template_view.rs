//! Templates as the API shows them.

use kurier_core::projection::{TemplateSummary, TemplateVersion};
use kurier_core::template::Noted;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A template.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct TemplateView {
    id: String,
    #[schema(example = "cart-reminder")]
    name: String,
    /// The newest version.
    version: u32,
    /// What its messages are about; a recipient may have opted out of it.
    #[schema(example = "news")]
    topic: Option<String>,
    /// SHA-256 of the document's canonical JSON.
    #[schema(example = "5f1c9c0d6c9b7e0e4a8f4bb6a3a1f6f1d2c3b4a5968778695a4b3c2d1e0f0a1b")]
    hash: String,
    /// The values it reads.
    #[schema(example = json!(["contact.first_name"]))]
    reads: Vec<String>,
    /// No journey can be published with it any more.
    retired: bool,
    created_at: String,
    changed_at: String,
}

impl From<&TemplateSummary> for TemplateView {
    fn from(template: &TemplateSummary) -> Self {
        Self {
            id: template.id.to_string(),
            name: template.name.clone(),
            version: template.version,
            topic: template.topic.clone(),
            hash: template.hash.clone(),
            reads: template.reads.clone(),
            retired: template.retired_at.is_some(),
            created_at: template.created_at.to_string(),
            changed_at: template.changed_at.to_string(),
        }
    }
}

/// A template with its newest document.
#[derive(Debug, Serialize, ToSchema)]
pub struct TemplateDetail {
    #[serde(flatten)]
    pub template: TemplateView,
    pub document: Option<Value>,
}

/// One version of a template.
#[derive(Debug, Serialize, ToSchema)]
pub struct TemplateVersionView {
    version: u32,
    #[schema(example = "5f1c9c0d6c9b7e0e4a8f4bb6a3a1f6f1d2c3b4a5968778695a4b3c2d1e0f0a1b")]
    hash: String,
    published_at: String,
    document: Option<Value>,
}

impl From<TemplateVersion> for TemplateVersionView {
    fn from(version: TemplateVersion) -> Self {
        Self {
            version: version.version,
            hash: version.hash,
            published_at: version.published_at.to_string(),
            document: serde_json::from_str(&version.document).ok(),
        }
    }
}

/// What a template became.
#[derive(Debug, Serialize, ToSchema)]
pub struct RenderedView {
    #[schema(example = "Welcome")]
    subject: Option<String>,
    #[schema(example = "<p>Hello Ann</p>")]
    html: Option<String>,
    #[schema(example = "Hello Ann")]
    text: Option<String>,
    #[schema(example = "{\"text\":\"Hello Ann\"}")]
    json: Option<String>,
    /// What it shows and what had no value.
    #[schema(example = json!(["contact.name"]))]
    missing: Vec<String>,
}

impl From<Noted> for RenderedView {
    fn from(noted: Noted) -> Self {
        let rendered = noted.rendered;
        Self {
            subject: rendered.subject,
            html: rendered.html,
            text: rendered.text,
            json: rendered.json,
            missing: noted.missing.into_iter().collect(),
        }
    }
}
