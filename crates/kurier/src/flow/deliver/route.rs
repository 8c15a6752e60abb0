//! How a lane is served.

use std::sync::Arc;

use async_trait::async_trait;
use kurier_core::message::{ContactLimit, GateLimits, OnUnknown, Policy, RETRIES_DEFAULT};
use kurier_store::{Lane, Result};

use crate::channel::Channel;

/// What takes the messages of a lane.
#[derive(Clone)]
pub enum Via {
    Outbox,
    Channel(Arc<dyn Channel>),
    /// The channel is switched off: its messages wait.
    Nobody,
}

#[derive(Clone)]
pub struct Route {
    pub via: Via,
    pub gate: GateLimits,
    pub policy: Policy,
    pub contact_limit: Option<ContactLimit>,
    /// Whether a message without an address can go.
    pub needs_address: bool,
}

impl Route {
    pub fn outbox() -> Self {
        Self {
            via: Via::Outbox,
            gate: GateLimits::default(),
            policy: Policy {
                max_retries: RETRIES_DEFAULT,
                on_unknown: OnUnknown::Resend,
            },
            contact_limit: None,
            needs_address: false,
        }
    }
}

/// Finds the way for each lane.
#[async_trait]
pub trait Routes: Send + Sync {
    async fn find(&self, lane: &Lane) -> Result<Route>;
}

/// Nothing is set up: everything is kept to look at.
pub struct EveryLaneToOutbox;

#[async_trait]
impl Routes for EveryLaneToOutbox {
    async fn find(&self, _: &Lane) -> Result<Route> {
        Ok(Route::outbox())
    }
}
