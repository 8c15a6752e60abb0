//! Guards: what may keep a message back, each with its reason. One list, asked in order; who
//! is kept back by one is not shown to the next.

use std::collections::HashMap;

use async_trait::async_trait;
use kurier_core::message::{Address, Over, Reason, Request, Topic, Verdict, held, skipped};
use kurier_core::time::Timestamp;
use kurier_store::{Allowance, Claim, Lane, Result, Scope, Store, Workspace};
use uuid::Uuid;

use super::Route;

/// A message in a worker's hands, what it says, and where it goes.
#[derive(Debug, Clone)]
pub struct Waiting {
    pub claim: Claim,
    pub request: Request,
    pub address: Option<Address>,
    pub topic: Option<Topic>,
}

impl Waiting {
    pub fn new(claim: Claim, request: Request, route: &Route) -> Self {
        let to = request.to.as_deref();
        // A topic that is none is what nobody can have opted out of.
        let topic = request.topic.as_deref();
        Self {
            address: to.and_then(|to| Address::new(route.address_kind, to)),
            topic: topic.and_then(|topic| topic.parse().ok()),
            claim,
            request,
        }
    }
}

/// What guards are told of the lane they look at.
pub struct Watch<'a> {
    pub lane: &'a Lane,
    pub route: &'a Route,
    pub workspace: &'a Workspace,
    pub now: Timestamp,
}

#[async_trait]
pub trait Guard: Send + Sync {
    /// Judges messages of a lane: a verdict for each that is kept back.
    async fn judge(&self, watch: &Watch<'_>, messages: &[Waiting]) -> Result<Vec<Option<Verdict>>>;
}

pub fn all(store: &Store) -> Vec<Box<dyn Guard>> {
    vec![
        Box::new(Somewhere),
        Box::new(Consent(store.clone())),
        Box::new(Limit(store.clone())),
    ]
}

/// There must be somewhere to send it to.
struct Somewhere;

#[async_trait]
impl Guard for Somewhere {
    async fn judge(&self, watch: &Watch<'_>, messages: &[Waiting]) -> Result<Vec<Option<Verdict>>> {
        let judge = |it: &Waiting| {
            let is_missing = watch.route.needs_address && it.address.is_none();
            is_missing.then(|| skipped(it.request.message, Reason::NoAddress))
        };
        Ok(messages.iter().map(judge).collect())
    }
}

/// Nothing goes to who does not want it.
struct Consent(Store);

#[async_trait]
impl Guard for Consent {
    async fn judge(&self, watch: &Watch<'_>, messages: &[Waiting]) -> Result<Vec<Option<Verdict>>> {
        let key = |it: &Waiting| Some(it.address.as_ref()?.key(&watch.workspace.key));
        let keys: Vec<_> = messages.iter().map(key).collect();
        let asked = messages.iter().zip(&keys);
        let asked = asked.filter_map(|(it, key)| Some(((*key)?, it.topic.clone())));
        let asked: Vec<_> = asked.collect();
        if asked.is_empty() {
            return Ok(vec![None; messages.len()]);
        }
        let scope = Scope(watch.workspace.id);
        let standing = self.0.suppressions.standing(scope, asked).await?;
        let mut standing = standing.into_iter();
        let judge = |(it, key): (&Waiting, &Option<_>)| {
            let reason = key.as_ref().and_then(|_| standing.next().flatten())?;
            Some(skipped(it.request.message, reason.into()))
        };
        Ok(messages.iter().zip(&keys).map(judge).collect())
    }
}

/// A recipient gets so many in a while. What is tried again was counted before.
struct Limit(Store);

#[async_trait]
impl Guard for Limit {
    async fn judge(&self, watch: &Watch<'_>, messages: &[Waiting]) -> Result<Vec<Option<Verdict>>> {
        let Some(limit) = watch.route.contact_limit else {
            return Ok(vec![None; messages.len()]);
        };
        let mut wants: Vec<(Uuid, u32)> = Vec::new();
        let mut places: HashMap<Uuid, usize> = HashMap::new();
        for recipient in messages.iter().filter_map(counted) {
            let place = *places.entry(recipient).or_insert(wants.len());
            match wants.get_mut(place) {
                Some((_, want)) => *want += 1,
                None => wants.push((recipient, 1)),
            }
        }
        if wants.is_empty() {
            return Ok(vec![None; messages.len()]);
        }
        let mut allowed = self
            .0
            .gates
            .allow(watch.lane, limit, &wants, watch.now)
            .await?;
        let judge = |it: &Waiting| {
            let place = counted(it).and_then(|recipient| places.get(&recipient))?;
            let until = spend(&mut allowed[*place])?;
            Some(match limit.then {
                Over::Wait => held(it.request.message, Reason::ContactLimit, until),
                Over::Skip => skipped(it.request.message, Reason::ContactLimit),
            })
        };
        Ok(messages.iter().map(judge).collect())
    }
}

/// Whose limit a message counts against, if it is tried for the first time.
fn counted(waiting: &Waiting) -> Option<Uuid> {
    let is_first = waiting.claim.attempts <= waiting.claim.before + 1;
    let contact = waiting.claim.message.contact.filter(|_| is_first);
    contact.map(|contact| contact.as_uuid())
}

/// Takes one; when there is none left, says until when.
fn spend(allowance: &mut Allowance) -> Option<Timestamp> {
    match allowance.granted.checked_sub(1) {
        Some(left) => {
            allowance.granted = left;
            None
        }
        None => Some(allowance.until),
    }
}
