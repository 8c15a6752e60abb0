//! Queries over templates.

use async_trait::async_trait;
use kurier_core::id::TemplateId;
use kurier_core::projection::{TemplateSummary, TemplateVersion};

use crate::{Result, Scope};

#[async_trait]
pub trait TemplateViews: Send + Sync {
    /// All templates, by name, those that were retired among them.
    async fn templates(&self, scope: Scope) -> Result<Vec<TemplateSummary>>;

    async fn template(&self, scope: Scope, id: TemplateId) -> Result<Option<TemplateSummary>>;

    /// All versions of a template, the first one first.
    async fn template_versions(&self, scope: Scope, id: TemplateId)
    -> Result<Vec<TemplateVersion>>;

    async fn template_version(
        &self,
        scope: Scope,
        id: TemplateId,
        version: u32,
    ) -> Result<Option<TemplateVersion>>;
}
