//! The channel that needs nothing: it hands nothing on and keeps messages to look at.

use kurier_core::message::Handover;
use kurier_store::Claim;

pub const NAME: &str = "outbox";

/// Takes a message. What it says stands in the log already, so there is nothing more to keep.
pub fn take(claim: &Claim) -> Handover {
    Handover {
        message: claim.message.id,
        channel: NAME.to_owned(),
    }
}
