//! Slack workspaces: what is known of those that messages may be sent to. Their secrets, a bot
//! token and a webhook's address, come sealed and are named here alone.

use serde::{Deserialize, Serialize};

use crate::event::Position;
use crate::id::{EventId, SlackWorkspaceId};
use crate::message::channel::Problem;
use crate::time::Timestamp;

pub const NAME_CHARS_MAX: usize = 100;
pub const CATEGORY_CHARS_MAX: usize = 64;
pub const CHANNEL_CHARS_MAX: usize = 80;
/// So many secrets there are, by name.
pub const SECRETS: &[&str] = &["bot_token", "webhook_url"];
/// A workspace of ours has at most so many: all of them are kept warm together.
pub const PER_WORKSPACE_MAX: usize = 1_000;

/// What an operator says of a Slack workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub name: String,
    /// What it is for; lists can be asked for one.
    #[serde(default)]
    pub category: Option<String>,
    /// Where messages go that name no channel.
    #[serde(default)]
    pub default_channel: Option<String>,
}

impl Definition {
    /// Everything that is wrong with it.
    pub fn check(&self) -> Vec<Problem> {
        let fields = [
            ("/name", Some(&self.name), NAME_CHARS_MAX),
            ("/category", self.category.as_ref(), CATEGORY_CHARS_MAX),
            (
                "/default_channel",
                self.default_channel.as_ref(),
                CHANNEL_CHARS_MAX,
            ),
        ];
        let wrong = fields.into_iter().filter_map(|(pointer, text, max)| {
            let text = text?;
            let fits = (1..=max).contains(&text.chars().count());
            let is_line = text.trim() == text && !text.contains(|c: char| c.is_control());
            let detail = format!("one line of 1 to {max} characters, no space around it");
            (!(fits && is_line)).then(|| Problem::new(pointer, detail))
        });
        wrong.collect()
    }
}

/// `slack_workspace.created` and `slack_workspace.updated`: all that is known of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stated {
    pub id: SlackWorkspaceId,
    #[serde(flatten)]
    pub definition: Definition,
    /// The names of the secrets there are.
    #[serde(default)]
    pub secrets: Vec<String>,
    /// The secrets themselves, sealed and in base64: the log can be folded anew, and read
    /// without learning them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
}

/// `slack_workspace.archived`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Archival {
    pub id: SlackWorkspaceId,
}

/// A Slack workspace as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlackWorkspace {
    pub id: SlackWorkspaceId,
    pub definition: Definition,
    /// The names of the secrets there are.
    pub secrets: Vec<String>,
    pub created_at: Timestamp,
    pub changed_at: Timestamp,
    pub archived_at: Option<Timestamp>,
    /// The position of the event that made it so.
    pub revision: Position,
}

impl SlackWorkspace {
    /// The id of the event that changes it as it stands: of two who do so at once the log takes
    /// one.
    pub fn next_event_id(&self) -> EventId {
        let cause = EventId::from_uuid(self.id.as_uuid());
        EventId::derived(&format!("slack_workspace:{}", self.revision), cause, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(name: &str, category: Option<&str>, channel: Option<&str>) -> Vec<String> {
        let definition = Definition {
            name: name.into(),
            category: category.map(Into::into),
            default_channel: channel.map(Into::into),
        };
        let pointers = definition.check().into_iter().map(|it| it.pointer);
        pointers.collect()
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        assert!(wrong("Acme", None, None).is_empty());
        assert!(wrong(&"ä".repeat(100), Some("a:b {c}"), Some("#general")).is_empty());
        assert_eq!(
            wrong("", Some(" x"), Some("a\nb")),
            ["/name", "/category", "/default_channel"]
        );
        assert_eq!(
            wrong(&"x".repeat(101), Some(&"x".repeat(65)), None).len(),
            2
        );
    }
}
