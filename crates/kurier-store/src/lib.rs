//! What Kurier keeps. One vocabulary trait for each kept thing, with two backends behind
//! each; SQL, Redis verbs and files are spoken nowhere else. Nothing here reads a clock.

pub mod access;
pub mod bundle_audit;
pub mod channels;
pub mod documents;
pub mod edge;
pub mod error;
pub mod fault;
mod filter;
mod flood;
pub mod gates;
mod indexed;
pub mod journeys;
pub mod kv;
pub mod log;
pub mod messages;
mod migration;
pub mod postgres;
pub mod projections;
pub mod queue;
pub mod reactions;
pub mod records;
pub mod segments;
pub mod snapshots;
pub mod sqlite;
pub mod suppressions;
mod tail;
pub mod templates;
pub mod users;
pub mod versions;
pub mod views;

use std::sync::Arc;

use kurier_core::id::WorkspaceId;

pub use access::{Access, ApiKey, NewApiKey, Scopes, Workspace};
pub use bundle_audit::{BundleAudit, NotedVerdict, Verdict};
pub use channels::{Channels, KeptChannel, NewChannel};
pub use error::{Error, Result};
pub use gates::{Allowance, Gates};
pub use journeys::{InstanceFilter, InstancePage, InstanceQuery, JourneyViews};
pub use log::{Appended, Log, Scrub};
pub use messages::{MessageCount, MessageFilter, MessagePage, MessageQuery, MessageViews};
pub use postgres::Postgres;
pub use projections::{Progress, Projections, SetAside, Side, Swap, Swapped, Visit};
pub use queue::{
    Asked, Claim, Claimed, Claiming, Hand, Held, Lane, Lesson, Line, Once, Queue, Queued, Settled,
};
pub use reactions::{Reacted, Reaction, Reactions};
pub use records::RecordViews;
pub use segments::{Member, MemberPage, SegmentViews};
pub use snapshots::{Kept, Snapshots};
pub use sqlite::Sqlite;
pub use suppressions::{
    NewSuppression, Suppressed, SuppressionPage, SuppressionPlace, SuppressionQuery, Suppressions,
};
use tail::{Tail, Tailed};
pub use templates::TemplateViews;
pub use users::{Edited, NewSession, NewUser, Role, SignedIn, UnknownRole, User, UserEdit, Users};
pub use versions::{VersionPage, VersionQuery, VersionViews};
pub use views::{
    Applied, Batch, ContactFilter, ContactPage, ContactQuery, TimelinePage, TimelineQuery, Views,
};

/// The wall: what one workspace may see. Every read of a user's data begins with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope(pub WorkspaceId);

/// A database, behind all the traits it serves.
#[derive(Clone)]
pub struct Store {
    pub log: Arc<dyn Log>,
    pub views: Arc<dyn Views>,
    pub projections: Arc<dyn Projections>,
    pub segments: Arc<dyn SegmentViews>,
    pub messages: Arc<dyn MessageViews>,
    pub journeys: Arc<dyn JourneyViews>,
    pub templates: Arc<dyn TemplateViews>,
    pub records: Arc<dyn RecordViews>,
    pub reactions: Arc<dyn Reactions>,
    pub queue: Arc<dyn Queue>,
    pub gates: Arc<dyn Gates>,
    pub access: Arc<dyn Access>,
    pub suppressions: Arc<dyn Suppressions>,
    pub channels: Arc<dyn Channels>,
    pub versions: Arc<dyn VersionViews>,
    pub bundle_audit: Arc<dyn BundleAudit>,
    pub users: Arc<dyn Users>,
}

impl Store {
    fn of<T>(backend: T, tail: Arc<Tail>) -> Self
    where
        T: Log
            + Views
            + Projections
            + SegmentViews
            + JourneyViews
            + MessageViews
            + TemplateViews
            + RecordViews,
        T: Reactions + Queue + Gates + Access + Suppressions + Channels + VersionViews,
        T: BundleAudit + Users + 'static,
    {
        let backend = Arc::new(backend);
        Self {
            log: Arc::new(Tailed::new(backend.clone(), tail)),
            views: backend.clone(),
            projections: backend.clone(),
            segments: backend.clone(),
            messages: backend.clone(),
            journeys: backend.clone(),
            templates: backend.clone(),
            records: backend.clone(),
            reactions: backend.clone(),
            queue: backend.clone(),
            gates: backend.clone(),
            access: backend.clone(),
            suppressions: backend.clone(),
            channels: backend.clone(),
            versions: backend.clone(),
            bundle_audit: backend.clone(),
            users: backend,
        }
    }
}

/// A limit as databases count: `usize::MAX` means all there is, not a negative number.
fn rows_max(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

impl From<Sqlite> for Store {
    fn from(backend: Sqlite) -> Self {
        let tail = backend.tail.clone();
        Self::of(backend, tail)
    }
}

impl From<Postgres> for Store {
    fn from(backend: Postgres) -> Self {
        let tail = backend.tail.clone();
        Self::of(backend, tail)
    }
}
