//! Messages: what is asked for, what a channel is handed, and what became of it.

mod address;
mod breaker;
mod bucket;
pub mod channel;
mod channels;
mod consent;
mod contact_limit;
mod gate;
mod letter;
mod outcome;
pub mod reply;
mod report;
mod request;
mod retry;
mod state;
mod unsubscribe;
mod verdict;

pub use address::{Address, AddressKind};
pub use breaker::{Breaker, BreakerLimits, Signal};
pub use bucket::Bucket;
pub use channels::Channels;
pub use consent::{
    BadTopic, Reach, SkipReason, Suppression, SuppressionReason, SuppressionSource, Topic, verdict,
};
pub use contact_limit::{ContactLimit, Over, Window};
pub use gate::{Closed, Gate, GateLimits, GateReason};
pub use letter::{Letter, Rendered};
pub use outcome::{Blame, Category, Outcome, Refusal};
pub use report::{Reason, Report, channel_in, channel_of};
pub use request::{Origin, Request};
pub use retry::{RETRIES_DEFAULT, delay};
pub use state::MessageState;
pub use unsubscribe::{Sealed, Unsubscribe};
pub use verdict::{OnUnknown, Policy, Then, Tried, Verdict, held, interrupted, judge, skipped};
