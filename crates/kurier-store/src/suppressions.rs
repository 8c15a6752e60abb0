//! Who is kept from what: the suppression list and the opt-outs of topics. Written together
//! with the event that says so, in one transaction, because it must hold before any
//! projection ran: the next message asks.

use async_trait::async_trait;
use kurier_core::event::Event;
use kurier_core::id::{AddressKey, ContactId};
use kurier_core::message::{
    AddressKind, Reach, SkipReason, SuppressionReason, SuppressionSource, Topic, verdict,
};
use kurier_core::time::Timestamp;

use crate::{Error, Result, Scope};

/// An address that is kept from something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppressed {
    pub address_key: AddressKey,
    pub reach: Reach,
    pub kind: AddressKind,
    /// In the clear if an operator gave it so, until a contact that has it is erased.
    pub address: Option<String>,
    /// Whose address it was, as far as was known.
    pub contact: Option<ContactId>,
    pub reason: SuppressionReason,
    pub source: SuppressionSource,
    pub created_at: Timestamp,
}

#[derive(Debug, Clone)]
pub struct NewSuppression {
    pub suppressed: Suppressed,
    /// Told only if it is new.
    pub event: Event,
}

/// Where a list goes on: a row's place in it.
pub type SuppressionPlace = (Timestamp, AddressKey, Reach);

/// Which to list. All that is given must hold.
#[derive(Debug, Clone, Default)]
pub struct SuppressionQuery {
    pub address: Option<AddressKey>,
    pub reach: Option<Reach>,
    pub reason: Option<SuppressionReason>,
    /// Newest first, after this one.
    pub after: Option<SuppressionPlace>,
    pub limit: usize,
}

#[derive(Debug)]
pub struct SuppressionPage {
    pub suppressions: Vec<Suppressed>,
    pub has_more: bool,
}

#[async_trait]
pub trait Suppressions: Send + Sync {
    /// Keeps addresses from something; answers which of these are new. What was there stays
    /// as it was, with its reason, and nothing is told of it again.
    async fn suppress(&self, scope: Scope, new: Vec<NewSuppression>) -> Result<Vec<bool>>;

    /// Lets an address have what it was kept from; false if it was not.
    async fn release(
        &self,
        scope: Scope,
        address: AddressKey,
        reach: Reach,
        event: Event,
    ) -> Result<bool>;

    /// Whether messages to these addresses about these topics are kept back, and why: as of
    /// now, for any number, in one round trip.
    async fn standing(
        &self,
        scope: Scope,
        asked: Vec<(AddressKey, Option<Topic>)>,
    ) -> Result<Vec<Option<SkipReason>>>;

    async fn suppressions(&self, scope: Scope, query: &SuppressionQuery)
    -> Result<SuppressionPage>;

    /// Forgets how these addresses read; they stay suppressed.
    async fn forget_addresses(&self, scope: Scope, addresses: &[AddressKey]) -> Result<u64>;
}

/// Judges what was asked by what was found: `found` has every row of the asked addresses.
pub(crate) fn judge(
    asked: &[(AddressKey, Option<Topic>)],
    mut found: Vec<(AddressKey, Reach)>,
) -> Vec<Option<SkipReason>> {
    found.sort_unstable();
    let standing = |(address, topic): &(AddressKey, Option<Topic>)| {
        let from = found.partition_point(|(own, _)| own < address);
        let own = found[from..].iter().take_while(|(own, _)| own == address);
        verdict(own.map(|(_, reach)| reach), topic.as_ref())
    };
    asked.iter().map(standing).collect()
}

/// What is kept as words, read back.
pub(crate) struct Words {
    pub topic: String,
    pub kind: String,
    pub reason: String,
    pub source: String,
}

impl Words {
    pub fn read(&self) -> Result<(Reach, AddressKind, SuppressionReason, SuppressionSource)> {
        Ok((
            reach(&self.topic)?,
            AddressKind::of(&self.kind).ok_or_else(unreadable)?,
            SuppressionReason::of(&self.reason).ok_or_else(unreadable)?,
            SuppressionSource::of(&self.source).ok_or_else(unreadable)?,
        ))
    }
}

pub(crate) fn reach(topic: &str) -> Result<Reach> {
    topic.parse().map_err(|_| unreadable())
}

fn unreadable() -> Error {
    Error::Damaged("a suppression's row cannot be read".into())
}

pub(crate) fn page(mut suppressions: Vec<Suppressed>, limit: usize) -> SuppressionPage {
    let has_more = suppressions.len() > limit;
    suppressions.truncate(limit);
    SuppressionPage {
        suppressions,
        has_more,
    }
}
