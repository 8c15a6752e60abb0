//! What became of messages: guarded, judged, settled.

use std::collections::BTreeMap;

use kurier_core::event::Kind;
use kurier_core::message::{
    Address, Blame, Category, OnUnknown, Outcome, Policy, Reach, Refusal, Request, Signal,
    SuppressionReason, SuppressionSource, Verdict, judge,
};
use kurier_core::time::Timestamp;
use kurier_store::{Claim, Hand, Lane, Lesson, Result, Settled, Workspace};

use super::lane::tried;
use super::{Deliverer, Route, Waiting, Watch};
use crate::flow::suppress::{Wanted, suppress};
use crate::metrics as names;

/// A claim and what becomes of it.
pub struct Ended {
    claim: Claim,
    verdict: Verdict,
    address: Option<Address>,
}

impl Ended {
    pub const fn new(claim: Claim, verdict: Verdict) -> Self {
        Self {
            claim,
            verdict,
            address: None,
        }
    }

    pub fn to(self, address: Option<Address>) -> Self {
        Self { address, ..self }
    }

    /// It can never be sent, whoever tries.
    pub fn hopeless(claim: Claim, code: &str, detail: String) -> Self {
        let refusal = Refusal {
            category: Category::Permanent,
            blame: Blame::Message,
            code: code.to_owned(),
            detail,
            retry_after: None,
        };
        let policy = Policy {
            max_retries: 0,
            on_unknown: OnUnknown::Ask,
        };
        let verdict = judge(tried(&claim), Outcome::Refused(refusal), policy);
        Self::new(claim, verdict)
    }

    fn settled(self, now: Timestamp) -> Settled {
        let Self {
            claim, mut verdict, ..
        } = self;
        let channel = &mut verdict.report.channel;
        channel.get_or_insert_with(|| claim.message.channel.clone());
        let contact = claim.message.contact;
        let event = verdict
            .report
            .event(verdict.kind, claim.fence, contact, now);
        Settled {
            claim,
            then: verdict.then,
            events: vec![event],
        }
    }
}

impl Deliverer {
    /// Shows messages to the guards; answers who may go, and what becomes of the others.
    pub(super) async fn guard(
        &self,
        watch: &Watch<'_>,
        claims: Vec<Claim>,
    ) -> Result<(Vec<Waiting>, Vec<Ended>)> {
        let mut ended = Vec::new();
        let mut waiting = Vec::with_capacity(claims.len());
        for claim in claims {
            match serde_json::from_str::<Request>(&claim.message.payload) {
                Ok(request) => waiting.push(Waiting::new(claim, request, watch.route)),
                Err(e) => ended.push(Ended::hopeless(claim, "unreadable", e.to_string())),
            }
        }
        for guard in &self.guards {
            if waiting.is_empty() {
                break;
            }
            let verdicts = guard.judge(watch, &waiting).await?;
            let mut go = Vec::with_capacity(waiting.len());
            for (it, verdict) in waiting.into_iter().zip(verdicts) {
                match verdict {
                    Some(verdict) => ended.push(Ended::new(it.claim, verdict)),
                    None => go.push(it),
                }
            }
            waiting = go;
        }
        Ok((waiting, ended))
    }

    /// Settles what has ended, and tells the log and the lane's gate. An address that does
    /// not exist is suppressed first: told twice it is told once, and never not at all.
    pub(super) async fn settle(
        &self,
        lane: &Lane,
        route: &Route,
        workspace: &Workspace,
        ended: Vec<Ended>,
    ) -> Result<()> {
        self.suppress(workspace, &ended).await?;
        let now = self.clock.now();
        let lesson = lesson(lane, route, &ended, now);
        let kinds: Vec<_> = ended.iter().map(|it| it.verdict.kind).collect();
        let settled = ended.into_iter().map(|it| it.settled(now));
        let kept = self.store.queue.settle(settled.collect(), now, lesson);
        count(&kinds, &kept.await?);
        Ok(())
    }

    async fn suppress(&self, workspace: &Workspace, ended: &[Ended]) -> Result<()> {
        let dead = ended.iter().filter(|it| it.verdict.suppresses);
        let wanted = dead.filter_map(|it| {
            Some(Wanted {
                address: it.address.clone()?,
                reach: Reach::Everything,
                reason: SuppressionReason::Bounced,
            })
        });
        let wanted: Vec<Wanted> = wanted.collect();
        if !wanted.is_empty() {
            let source = SuppressionSource::Delivery;
            suppress(&self.store, workspace, &wanted, source).await?;
        }
        Ok(())
    }
}

/// Settles what is in the hand: it went nowhere, so no gate has anything to learn.
pub async fn settle_in_hand(
    hand: Box<dyn Hand + '_>,
    ended: Vec<Ended>,
    now: Timestamp,
) -> Result<()> {
    let kinds: Vec<_> = ended.iter().map(|it| it.verdict.kind).collect();
    let settled = ended.into_iter().map(|it| it.settled(now));
    let kept = hand.settle(settled.collect(), now).await?;
    count(&kinds, &kept);
    Ok(())
}

/// Counts what became of messages; once for each kind, since a counter is searched for.
fn count(kinds: &[Kind], kept: &[bool]) {
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    for (kind, _) in kinds.iter().zip(kept).filter(|(_, kept)| **kept) {
        *counts.entry(kind.as_str()).or_default() += 1;
    }
    for (kind, count) in counts {
        metrics::counter!(names::DECISIONS, "kind" => kind).increment(count);
        metrics::counter!(names::MESSAGES, "kind" => kind).increment(count);
    }
}

/// What the gate learns; nothing if nothing was said of the channel.
fn lesson(lane: &Lane, route: &Route, ended: &[Ended], now: Timestamp) -> Option<Lesson> {
    let lesson = Lesson {
        lane: lane.clone(),
        limits: route.gate,
        now,
        signals: ended.iter().map(|it| it.verdict.signal).collect(),
        rests_until: ended.iter().filter_map(|it| it.verdict.rests_until).max(),
    };
    let is_silent = lesson
        .signals
        .iter()
        .all(|signal| *signal == Signal::Silent);
    (!is_silent).then_some(lesson)
}
