//! The queue: what is to be handed out, claimed by one worker at a time.
//!
//! A row stands in one of four stages. What is due is ready, and only that is looked at when
//! somebody claims; what is scheduled waits, and is moved when its time has come; what is
//! claimed is a worker's until its lease ends; what came to an end that is not a good one is
//! put aside, until somebody acts.

use async_trait::async_trait;
use kurier_core::event::{Event, Kind};
use kurier_core::id::{ContactId, MessageId, WorkspaceId};
use kurier_core::message::{Closed, GateLimits, Reason, Report, Request, Signal, Then};
use kurier_core::time::Timestamp;

use crate::{Appended, Result, Scope};

/// A message overtakes another of the next higher priority when it is due so much longer,
/// unless it is set otherwise.
pub const AGEING_MICROS: i64 = 60_000_000;

pub(crate) mod stage {
    pub const READY: i16 = 0;
    pub const WAITING: i16 = 1;
    // 2 is claimed; only SQL says it.
    pub const ASIDE: i16 = 3;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued {
    pub id: MessageId,
    pub contact: Option<ContactId>,
    pub channel: String,
    /// 1 to 10; 10 goes first.
    pub priority: u8,
    pub due_at: Timestamp,
    pub payload: String,
}

/// One channel of one workspace: messages stand in line for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lane {
    pub workspace: WorkspaceId,
    pub channel: String,
}

impl Lane {
    pub fn new(scope: Scope, channel: &str) -> Self {
        Self {
            workspace: scope.0,
            channel: channel.to_owned(),
        }
    }
}

/// Where something stands in line, and when to look again if nothing is heard.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    pub lanes: Vec<Lane>,
    /// The first instant at which something becomes due, or a lease ends.
    pub next: Option<Timestamp>,
}

/// How a lane is to be claimed from.
#[derive(Debug, Clone, Copy)]
pub struct Claiming {
    pub now: Timestamp,
    /// Who has not settled by then is taken for dead.
    pub lease_until: Timestamp,
    pub limit: usize,
    /// What goes out into the world passes a gate, and the log is told beforehand.
    pub gate: Option<GateLimits>,
}

/// A row in a worker's hands until its lease ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub workspace: WorkspaceId,
    pub message: Queued,
    /// Grows with every claim: a settlement that names an older one is refused.
    pub fence: i64,
    pub attempts: u32,
    /// Of the attempts, those from before it was queued again.
    pub before: u32,
    /// The worker before this one died with it in its hands, and may have handed it over.
    pub is_interrupted: bool,
}

/// What was claimed, or why nothing could be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claimed {
    pub claims: Vec<Claim>,
    pub closed: Option<Closed>,
}

/// A claim that is dealt with, and what the log is told of it: both, or neither.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    pub claim: Claim,
    pub then: Then,
    pub events: Vec<Event>,
}

/// A caller's own name for what it asks for, and what that was: asking again under the same
/// name is answered as before.
#[derive(Debug, Clone)]
pub struct Once {
    pub key: String,
    pub fingerprint: [u8; 32],
    /// Names from before this are forgotten.
    pub since: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    New,
    /// It was asked for before, and is this message.
    Again(MessageId),
    /// Something else was asked for under this name.
    Otherwise,
}

/// What a name stands for: the message, if the request was the same.
pub(crate) fn recalled(once: &Once, (fingerprint, message): (&[u8], MessageId)) -> Asked {
    match fingerprint == once.fingerprint {
        true => Asked::Again(message),
        false => Asked::Otherwise,
    }
}

/// What a lane's gate learns from what is settled.
#[derive(Debug, Clone)]
pub struct Lesson {
    pub lane: Lane,
    pub limits: GateLimits,
    pub now: Timestamp,
    pub signals: Vec<Signal>,
    pub rests_until: Option<Timestamp>,
}

impl Lesson {
    /// Whether a gate that has nothing to complain of learns nothing from it.
    pub(crate) fn is_calm(&self) -> bool {
        let calm = |signal: &Signal| matches!(signal, Signal::Good | Signal::Silent);
        self.rests_until.is_none() && self.signals.iter().all(calm)
    }
}

impl Queued {
    /// The row for a message that an event asks for.
    pub fn requested(event: &Event) -> Option<Self> {
        if event.kind != Kind::MessageRequested {
            return None;
        }
        let request: Request = serde_json::from_str(&event.payload).ok()?;
        Some(Self {
            id: request.message,
            contact: event.contact,
            channel: request.channel,
            priority: request.priority,
            due_at: request.scheduled_at.unwrap_or(event.recorded_at),
            payload: event.payload.clone(),
        })
    }

    /// Lower goes first. Time counts for all alike, so who is before whom never changes: being
    /// due one ageing interval longer makes up for one priority less.
    pub(crate) fn rank(&self, ageing_micros: i64) -> i64 {
        rank(self.due_at, self.priority, ageing_micros)
    }
}

pub(crate) fn rank(due_at: Timestamp, priority: u8, ageing_micros: i64) -> i64 {
    let ahead = i64::from(priority).saturating_mul(ageing_micros);
    due_at.as_micros().saturating_sub(ahead)
}

/// A row to put, in the stage that its time asks for.
pub(crate) struct Put {
    pub workspace: WorkspaceId,
    pub row: Queued,
    pub stage: i16,
}

impl Put {
    pub fn new(workspace: WorkspaceId, row: Queued, now: Timestamp) -> Self {
        let stage = match row.due_at <= now {
            true => stage::READY,
            false => stage::WAITING,
        };
        Self {
            workspace,
            row,
            stage,
        }
    }
}

/// The rows for what a reaction asks for. What stood in the log already was queued then, and
/// may have left the queue since.
pub(crate) fn requested(events: &[(WorkspaceId, Event)], appended: &[Appended]) -> Vec<Put> {
    let fresh = events
        .iter()
        .zip(appended)
        .filter(|(_, how)| **how != Appended::Duplicate);
    let rows = fresh.filter_map(|((workspace, event), _)| {
        let row = Queued::requested(event)?;
        Some(Put::new(*workspace, row, event.recorded_at))
    });
    rows.collect()
}

/// What the log is told of claims whose worker before died: nobody knows what became of them.
pub(crate) fn lost(claims: &[Claim], now: Timestamp) -> Vec<Event> {
    let lost = claims.iter().filter(|claim| claim.is_interrupted);
    let event = |claim: &Claim| {
        let mut report = Report::new(claim.message.id, claim.attempts.saturating_sub(1));
        report.reason = Some(Reason::AnswerLost);
        report.channel = Some(claim.message.channel.clone());
        let (contact, turn) = (claim.message.contact, claim.fence - 1);
        report.event(Kind::MessageUnknown, turn, contact, now)
    };
    lost.map(event).collect()
}

/// What the log is told before a message goes out.
pub(crate) fn sending(claim: &Claim, now: Timestamp) -> Event {
    let report = Report::new(claim.message.id, claim.attempts);
    let contact = claim.message.contact;
    report.event(Kind::MessageSending, claim.fence, contact, now)
}

/// In which stage, and when due, a claim is left.
pub(crate) fn left(claim: &Claim, then: Then, now: Timestamp) -> Option<(i16, Timestamp, u32)> {
    let later = |at: Timestamp| match at <= now {
        true => stage::READY,
        false => stage::WAITING,
    };
    let (due_at, uncounted) = (claim.message.due_at, claim.attempts.saturating_sub(1));
    match then {
        Then::Gone => None,
        Then::Again(at) => Some((later(at), at, claim.attempts)),
        Then::Uncounted(at) => Some((later(at), at, uncounted)),
        Then::Aside => Some((stage::ASIDE, due_at, claim.attempts)),
        Then::AsideUncounted => Some((stage::ASIDE, due_at, uncounted)),
    }
}

/// Messages in the hand, as `claim` would have them. Dropped, they soon stand in line as
/// before.
pub struct Held<'a> {
    pub claims: Vec<Claim>,
    pub hand: Box<dyn Hand + 'a>,
}

#[async_trait]
pub trait Hand: Send {
    /// Settles what is held and tells the log; what is not held, or was settled by another
    /// meanwhile, answers false, and nothing is told of it.
    async fn settle(self: Box<Self>, settled: Vec<Settled>, now: Timestamp) -> Result<Vec<bool>>;
}

#[async_trait]
pub trait Queue: Send + Sync {
    /// Queues what is not queued yet; answers how many were new.
    async fn put(&self, scope: Scope, messages: Vec<Queued>, now: Timestamp) -> Result<usize>;

    /// Appends events, and queues the messages they ask for, in one transaction.
    async fn request(&self, scope: Scope, events: Vec<Event>) -> Result<Vec<Appended>>;

    /// Asks for a message under a caller's own name for it, in one transaction.
    async fn request_once(&self, scope: Scope, event: Event, once: Once) -> Result<Asked>;

    /// Forgets the callers' names from before this.
    async fn prune(&self, before: Timestamp) -> Result<()>;

    /// Lets what has become due, and what a dead worker held, stand in line.
    async fn line(&self, now: Timestamp) -> Result<Line>;

    /// Claims what stands in a lane: by priority, then the longest due, where a message ages
    /// up. A gate says how many may pass.
    async fn claim(&self, lane: &Lane, claiming: Claiming) -> Result<Claimed>;

    /// Takes what stands in a lane into the hand, in the order of `claim`, to settle it at once:
    /// for what goes nowhere and so needs no lease. Of two who hold the same, one settles it.
    async fn hold<'a>(&'a self, lane: &Lane, limit: usize) -> Result<Held<'a>>;

    /// Tells the log that these are about to be handed over; answers which are still held.
    /// Should their worker die from now on, they may have been.
    async fn begin(&self, claims: &[Claim], now: Timestamp) -> Result<Vec<bool>>;

    /// Settles claims and tells the log; a claim that another worker has taken over meanwhile
    /// answers false, and nothing is told of it.
    async fn settle(
        &self,
        settled: Vec<Settled>,
        now: Timestamp,
        lesson: Option<Lesson>,
    ) -> Result<Vec<bool>>;

    /// Queues again what was put aside, under its id; answers which there were.
    async fn redrive(
        &self,
        scope: Scope,
        ids: &[MessageId],
        now: Timestamp,
    ) -> Result<Vec<MessageId>>;

    /// Takes out of the queue what was put aside; answers which there were.
    async fn discard(
        &self,
        scope: Scope,
        ids: &[MessageId],
        now: Timestamp,
    ) -> Result<Vec<MessageId>>;

    /// Removes what is queued for these contacts.
    async fn forget(&self, scope: Scope, contacts: &[ContactId]) -> Result<u64>;

    /// How many are queued, without what was put aside.
    async fn depth(&self, scope: Scope) -> Result<u64>;
}
