//! Reacting to the log: what a reactor appends, and how far it has come, in one transaction;
//! and the lease that lets one process do it at a time.

use std::time::Duration;

use async_trait::async_trait;
use kurier_core::event::{Event, Position};
use kurier_core::id::WorkspaceId;
use uuid::Uuid;

use crate::Result;

/// What a reactor makes of a stretch of the log.
#[derive(Debug)]
pub struct Reaction {
    pub reactor: &'static str,
    pub fence: i64,
    pub from: Position,
    pub to: Position,
    pub events: Vec<(WorkspaceId, Event)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reacted {
    Done,
    /// The lease was taken over, or the checkpoint moved: nothing was written.
    Overtaken,
}

#[async_trait]
pub trait Reactions: Send + Sync {
    /// Takes or keeps the lease of a reactor, by the database's clock. Answers the fence to
    /// react with, or `None` while another holds it. The lease of a process that is known to
    /// be dead ends at once; of one that only sleeps or cannot be reached, with its term.
    async fn lease(
        &self,
        reactor: &'static str,
        holder: Uuid,
        term: Duration,
    ) -> Result<Option<i64>>;

    /// Gives the lease up, so that another need not wait for its end.
    async fn release(&self, reactor: &'static str, holder: Uuid) -> Result<()>;

    /// Appends and moves the checkpoint together, if lease and checkpoint are still ours.
    async fn react(&self, reaction: Reaction) -> Result<Reacted>;
}
