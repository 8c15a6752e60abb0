//! Slack workspaces as the API shows them: never their secrets.

use kurier_core::slack_workspace::SlackWorkspace;
use serde::Serialize;
use utoipa::ToSchema;

/// A Slack workspace.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SlackWorkspaceView {
    pub id: String,
    #[schema(example = "Acme")]
    pub name: String,
    #[schema(example = "sales")]
    pub category: Option<String>,
    #[schema(example = "#general")]
    pub default_channel: Option<String>,
    /// The names of the secrets there are: `bot_token`, `webhook_url`.
    #[schema(example = json!(["bot_token"]))]
    pub secrets: Vec<String>,
    pub archived: bool,
    pub created_at: String,
    pub changed_at: String,
    /// The position of the event that made it so.
    pub revision: i64,
}

impl From<&SlackWorkspace> for SlackWorkspaceView {
    fn from(known: &SlackWorkspace) -> Self {
        Self {
            id: known.id.to_string(),
            name: known.definition.name.clone(),
            category: known.definition.category.clone(),
            default_channel: known.definition.default_channel.clone(),
            secrets: known.secrets.clone(),
            archived: known.archived_at.is_some(),
            created_at: known.created_at.to_string(),
            changed_at: known.changed_at.to_string(),
            revision: known.revision.0,
        }
    }
}
