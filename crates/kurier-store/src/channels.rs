//! How channels are set up. Like access, it is written together with the event that says so,
//! in one transaction, because it must hold before any projection ran. Secrets come sealed.

use async_trait::async_trait;
use kurier_core::event::{Event, Position};
use kurier_core::message::channel::ChannelSettings;
use kurier_core::time::Timestamp;

use crate::log::Appended;
use crate::{Error, Result, Scope};

#[derive(Clone, PartialEq, Eq)]
pub struct NewChannel {
    pub name: String,
    pub settings: ChannelSettings,
    /// Sealed; only who holds the key can read them.
    pub secrets: Option<Vec<u8>>,
}

/// A channel as it is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct KeptChannel {
    pub name: String,
    pub settings: ChannelSettings,
    pub secrets: Option<Vec<u8>>,
    /// The position of the event that set it up so.
    pub revision: Position,
    pub changed_at: Timestamp,
}

#[async_trait]
pub trait Channels: Send + Sync {
    /// All channels of a workspace, by name.
    async fn channels(&self, scope: Scope) -> Result<Vec<KeptChannel>>;

    async fn channel(&self, scope: Scope, name: &str) -> Result<Option<KeptChannel>>;

    /// The names of all channels of a workspace, and when each was last set up.
    async fn channel_revisions(&self, scope: Scope) -> Result<Vec<(String, Position)>>;

    /// Sets a channel up, if it still stands at the revision `seen`, which is `None` for a
    /// new one; answers where that is told, or `None` if someone else was faster. What its gate
    /// knew is forgotten, and nobody passes it any more by what was set up before.
    async fn set_channel(
        &self,
        scope: Scope,
        channel: NewChannel,
        seen: Option<Position>,
        event: Event,
    ) -> Result<Option<Position>>;

    /// Removes a channel with its secrets; false if there is none of that name.
    async fn remove_channel(&self, scope: Scope, name: &str, event: Event) -> Result<bool>;
}

pub(crate) fn written(settings: &ChannelSettings) -> Result<String> {
    serde_json::to_string(settings).map_err(|e| Error::Damaged(e.to_string()))
}

pub(crate) fn read(settings: &str) -> Result<ChannelSettings> {
    let damaged = |e: serde_json::Error| Error::Damaged(format!("a channel's settings: {e}"));
    serde_json::from_str(settings).map_err(damaged)
}

/// Where the one event stands that was appended.
pub(crate) fn position(appended: &[Appended]) -> Result<Position> {
    match appended {
        [Appended::At(position)] => Ok(*position),
        _ => Err(Error::Damaged("a fresh event id was taken".into())),
    }
}
