//! What becomes of a message after its channel has answered.

use super::{Blame, Category, Outcome, Reason, Refusal, Report, Signal, delay};
use crate::event::Kind;
use crate::id::MessageId;
use crate::time::Timestamp;

/// A message that was handed over, as far as its ending depends on it.
#[derive(Debug, Clone, Copy)]
pub struct Tried {
    pub message: MessageId,
    /// This time included.
    pub attempt: u32,
    /// Of these, how many count: what was tried before somebody queued it again does not.
    pub counted: u32,
    pub now: Timestamp,
    /// Any number, for the spread of retries.
    pub chance: u64,
}

/// What a channel does where there is a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// So many failures end it.
    pub max_retries: u32,
    pub on_unknown: OnUnknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnUnknown {
    /// It is handed over again with the same id: it may arrive twice, and never not at all.
    #[default]
    Resend,
    /// Somebody is to decide: it may not have arrived, and never arrives twice.
    Ask,
}

/// What the queue does with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// It is dealt with.
    Gone,
    /// It is tried again at this time.
    Again(Timestamp),
    /// It is tried again at this time, and this time did not count.
    Uncounted(Timestamp),
    /// It is put aside until somebody acts.
    Aside,
    /// The same, and this time did not count: it was not handed over.
    AsideUncounted,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub kind: Kind,
    pub report: Report,
    pub then: Then,
    pub signal: Signal,
    /// Nothing more is to be sent to this address.
    pub suppresses: bool,
    /// The provider wants to be left alone until then.
    pub rests_until: Option<Timestamp>,
}

/// Judges an answer.
pub fn judge(tried: Tried, outcome: Outcome, policy: Policy) -> Verdict {
    let report = Report::new(tried.message, tried.attempt);
    match outcome {
        Outcome::Sent { receipt } => sent(report, receipt),
        Outcome::Refused(refusal) => refused(tried, report, refusal, policy),
        Outcome::Unknown { detail } => unknown(tried, report, &detail, policy),
    }
}

fn sent(report: Report, receipt: Option<String>) -> Verdict {
    let report = Report { receipt, ..report };
    verdict(Kind::MessageSent, report, Then::Gone, Signal::Good)
}

fn refused(tried: Tried, mut report: Report, refusal: Refusal, policy: Policy) -> Verdict {
    let signal = signal(&refusal);
    let again = tried
        .now
        .shifted(delay(tried.counted, refusal.retry_after, tried.chance));
    let is_recipient = refusal.blame == Blame::Recipient;
    let suppresses = is_recipient && refusal.category == Category::Permanent;
    let rests = refusal
        .retry_after
        .filter(|_| refusal.blame == Blame::Channel);
    let rests_until =
        rests.map(|seconds| tried.now.shifted(seconds.min(86_400) as i64 * 1_000_000));
    let (kind, reason, then) = match (refusal.category, signal) {
        // The channel is down, whatever the message: it keeps its attempt.
        (_, Signal::Down) => (
            Kind::MessageHeld,
            Reason::CircuitOpen,
            Then::Uncounted(tried.now),
        ),
        (Category::Permanent, _) => (Kind::MessageFailed, Reason::Refused, Then::Aside),
        _ if tried.counted >= policy.max_retries => {
            (Kind::MessageFailed, Reason::RetriesExhausted, Then::Aside)
        }
        _ => (Kind::MessageRetried, Reason::Refused, Then::Again(again)),
    };
    report.reason = Some(reason);
    report.refusal = Some(refusal);
    report.until = until(then);
    Verdict {
        suppresses,
        rests_until,
        ..verdict(kind, report, then, signal)
    }
}

/// A lost answer: said as such, whatever is done about it.
fn unknown(tried: Tried, mut report: Report, detail: &str, policy: Policy) -> Verdict {
    let is_last = tried.counted >= policy.max_retries;
    let then = match policy.on_unknown {
        OnUnknown::Resend if !is_last => {
            Then::Again(tried.now.shifted(delay(tried.counted, None, tried.chance)))
        }
        _ => Then::Aside,
    };
    report.reason = Some(Reason::AnswerLost);
    report.refusal = Some(Refusal {
        category: Category::Retryable,
        blame: Blame::Channel,
        code: "answer lost".into(),
        detail: detail.to_owned(),
        retry_after: None,
    });
    report.until = until(then);
    verdict(Kind::MessageUnknown, report, then, Signal::Bad)
}

/// A worker died with a message in its hands: whether it was handed over nobody knows.
/// Resending is the worker's that found it, so there it is not put off.
pub fn interrupted(tried: Tried, policy: Policy) -> Verdict {
    let mut report = Report::new(tried.message, tried.attempt);
    report.reason = Some(Reason::AnswerLost);
    let then = match policy.on_unknown {
        OnUnknown::Resend => Then::Again(tried.now),
        OnUnknown::Ask => Then::Aside,
    };
    verdict(Kind::MessageUnknown, report, then, Signal::Silent)
}

/// A guard lets a message wait.
pub fn held(message: MessageId, reason: Reason, until: Timestamp) -> Verdict {
    let mut report = Report::new(message, 0);
    (report.reason, report.until) = (Some(reason), Some(until));
    let then = Then::Uncounted(until);
    verdict(Kind::MessageHeld, report, then, Signal::Silent)
}

/// A guard keeps a message back.
pub fn skipped(message: MessageId, reason: Reason) -> Verdict {
    let mut report = Report::new(message, 0);
    report.reason = Some(reason);
    let then = Then::AsideUncounted;
    verdict(Kind::MessageSkipped, report, then, Signal::Silent)
}

fn signal(refusal: &Refusal) -> Signal {
    match (refusal.blame, refusal.category) {
        (Blame::Channel, Category::Permanent) => Signal::Down,
        (Blame::Channel, _) => Signal::Bad,
        _ => Signal::Good,
    }
}

const fn until(then: Then) -> Option<Timestamp> {
    match then {
        Then::Again(at) | Then::Uncounted(at) => Some(at),
        Then::Gone | Then::Aside | Then::AsideUncounted => None,
    }
}

const fn verdict(kind: Kind, report: Report, then: Then, signal: Signal) -> Verdict {
    Verdict {
        kind,
        report,
        then,
        signal,
        suppresses: false,
        rests_until: None,
    }
}

#[cfg(test)]
mod tests;
