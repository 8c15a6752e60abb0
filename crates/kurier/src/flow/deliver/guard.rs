//! Guards: what may keep a message back, each with its reason. One list, asked in order; who
//! is kept back by one is not shown to the next.

use async_trait::async_trait;
use kurier_core::message::{Over, Reason, Request, Verdict, held, skipped};
use kurier_core::time::Timestamp;
use kurier_store::{Allowance, Claim, Lane, Result, Store};
use std::collections::HashMap;
use uuid::Uuid;

use super::Route;

/// A message in a worker's hands, and what it says.
#[derive(Debug, Clone)]
pub struct Waiting {
    pub claim: Claim,
    pub request: Request,
}

#[async_trait]
pub trait Guard: Send + Sync {
    /// Judges messages of a lane: a verdict for each that is kept back.
    async fn judge(
        &self,
        lane: &Lane,
        route: &Route,
        messages: &[Waiting],
        now: Timestamp,
    ) -> Result<Vec<Option<Verdict>>>;
}

pub fn all(store: &Store) -> Vec<Box<dyn Guard>> {
    vec![Box::new(Address), Box::new(Limit(store.clone()))]
}

/// There must be somewhere to send it to.
struct Address;

#[async_trait]
impl Guard for Address {
    async fn judge(
        &self,
        _: &Lane,
        route: &Route,
        messages: &[Waiting],
        _: Timestamp,
    ) -> Result<Vec<Option<Verdict>>> {
        let judge = |it: &Waiting| {
            let is_missing = route.needs_address && it.request.to.is_none();
            is_missing.then(|| skipped(it.request.message, Reason::NoAddress))
        };
        Ok(messages.iter().map(judge).collect())
    }
}

/// A recipient gets so many in a while. What is tried again was counted before.
struct Limit(Store);

#[async_trait]
impl Guard for Limit {
    async fn judge(
        &self,
        lane: &Lane,
        route: &Route,
        messages: &[Waiting],
        now: Timestamp,
    ) -> Result<Vec<Option<Verdict>>> {
        let Some(limit) = route.contact_limit else {
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
        let mut allowed = self.0.gates.allow(lane, limit, &wants, now).await?;
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
