//! How a lane is served.

use std::sync::Arc;

use async_trait::async_trait;
use kurier_core::event::Position;
use kurier_core::message::channel::{ChannelKind, ChannelSettings};
use kurier_core::message::{AddressKind, ContactLimit, GateLimits, Policy};
use kurier_store::{Lane, Result, Scope};

use crate::channel::{Channel, Found, Registry};

/// What takes the messages of a lane.
#[derive(Clone)]
pub enum Via {
    Outbox,
    Channel(Arc<dyn Channel>),
    /// The channel is switched off: its messages wait.
    Nobody,
    /// There is no such channel: its messages fail.
    Nowhere,
}

#[derive(Clone)]
pub struct Route {
    pub via: Via,
    pub gate: GateLimits,
    pub policy: Policy,
    pub contact_limit: Option<ContactLimit>,
    pub address_kind: AddressKind,
    /// Whether a message without an address can go.
    pub needs_address: bool,
}

impl Route {
    /// The way for messages of `kind`, within the limits of settings.
    fn new(via: Via, kind: ChannelKind, settings: &ChannelSettings, revision: Position) -> Self {
        let is_handed_on = matches!(via, Via::Channel(_));
        let is_personal = matches!(kind, ChannelKind::Email | ChannelKind::Sms);
        Self {
            via,
            gate: GateLimits {
                revision,
                per_minute: settings.rate_limit_per_minute,
                breaker: settings.breaker,
            },
            policy: Policy {
                max_retries: settings.max_retries,
                on_unknown: settings.on_unknown,
            },
            contact_limit: settings.contact_limit,
            address_kind: AddressKind::of_channel(kind.as_str()),
            needs_address: is_handed_on && is_personal,
        }
    }
}

/// Finds the way for each lane.
#[async_trait]
pub trait Routes: Send + Sync {
    async fn find(&self, lane: &Lane) -> Result<Route>;
}

#[async_trait]
impl Routes for Registry {
    async fn find(&self, lane: &Lane) -> Result<Route> {
        let found = self.find(Scope(lane.workspace), &lane.channel).await?;
        let named = ChannelKind::of(&lane.channel).unwrap_or(ChannelKind::Outbox);
        let Some(found) = found else {
            let settings = ChannelSettings::of(kurier_core::message::channel::Setup::Outbox);
            return Ok(Route::new(
                Via::Nowhere,
                named,
                &settings,
                Position::default(),
            ));
        };
        let kind = match found.settings.kind() {
            // It stands in for the channel that was asked for.
            ChannelKind::Outbox => named,
            kind => kind,
        };
        let revision = found.revision.unwrap_or_default();
        Ok(Route::new(via(&found), kind, &found.settings, revision))
    }
}

fn via(found: &Found) -> Via {
    match (found.settings.enabled, found.settings.kind()) {
        (false, _) => Via::Nobody,
        (true, ChannelKind::Outbox) => Via::Outbox,
        (true, _) => Via::Channel(found.channel.clone()),
    }
}
