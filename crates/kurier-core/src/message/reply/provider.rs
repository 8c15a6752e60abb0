//! Providers that say more than HTTP does.

use super::words::by_words;
use super::{Refusal, refusal};
use crate::message::Blame::{self, Channel, Message, Recipient};
use crate::message::Category::{self, Permanent, Temporary};

/// Slack's `error` beside `"ok": false`.
#[rustfmt::skip]
pub(super) const SLACK: &[(&str, Category, Blame)] = &[
    ("channel_not_found", Permanent, Recipient),
    ("user_not_found", Permanent, Recipient),
    ("users_not_found", Permanent, Recipient),
    ("is_archived", Permanent, Recipient),
    ("channel_is_archived", Permanent, Recipient),
    ("not_in_channel", Permanent, Recipient),
    ("user_disabled", Permanent, Recipient),
    ("cannot_dm_bot", Permanent, Recipient),
    ("messages_tab_disabled", Permanent, Recipient),
    ("restricted_action", Permanent, Recipient),
    ("msg_too_long", Permanent, Message),
    ("no_text", Permanent, Message),
    ("invalid_blocks", Permanent, Message),
    ("invalid_blocks_format", Permanent, Message),
    ("invalid_attachments", Permanent, Message),
    ("too_many_attachments", Permanent, Message),
    ("invalid_payload", Permanent, Message),
    ("duplicate_message_not_found", Permanent, Message),
    ("invalid_auth", Permanent, Channel),
    ("not_authed", Permanent, Channel),
    ("account_inactive", Permanent, Channel),
    ("token_revoked", Permanent, Channel),
    ("token_expired", Permanent, Channel),
    ("no_permission", Permanent, Channel),
    ("missing_scope", Permanent, Channel),
    ("ekm_access_denied", Permanent, Channel),
    ("org_login_required", Permanent, Channel),
    ("access_denied", Permanent, Channel),
    ("invalid_token", Permanent, Channel),
    ("no_service", Permanent, Channel),
    ("no_team", Permanent, Channel),
    ("team_disabled", Permanent, Channel),
    ("action_prohibited", Permanent, Channel),
    ("ratelimited", Temporary, Channel),
    ("rate_limited", Temporary, Channel),
    ("internal_error", Temporary, Channel),
    ("fatal_error", Temporary, Channel),
    ("service_unavailable", Temporary, Channel),
    ("request_timeout", Temporary, Channel),
    ("rollup_error", Temporary, Channel),
];

/// Twilio's `code` in the body of an error.
#[rustfmt::skip]
pub(super) const TWILIO: &[(u32, Category, Blame)] = &[
    (20003, Permanent, Channel),   // authentication
    (20404, Permanent, Channel),   // there is no such account
    (20429, Temporary, Channel),   // too many requests
    (20500, Temporary, Channel),
    (20503, Temporary, Channel),
    (21211, Permanent, Recipient), // `To` is no phone number
    (21212, Permanent, Channel),   // `From` is no phone number
    (21214, Permanent, Recipient), // `To` is not reached
    (21217, Permanent, Recipient),
    (21408, Permanent, Channel),   // the region is not permitted
    (21602, Permanent, Message),   // there is no body
    (21603, Permanent, Channel),   // there is no `From`
    (21604, Permanent, Recipient), // there is no `To`
    (21606, Permanent, Channel),   // `From` cannot send
    (21608, Permanent, Recipient), // not verified, in a trial
    (21610, Permanent, Recipient), // opted out with STOP
    (21611, Temporary, Channel),   // the queue of `From` is full
    (21612, Permanent, Recipient), // not reachable from `From`
    (21614, Permanent, Recipient), // no mobile phone
    (21617, Permanent, Message),   // too long
    (21619, Permanent, Message),   // there is nothing in it
    (21659, Permanent, Channel),   // `From` is not ours
    (21660, Permanent, Channel),
    (21703, Permanent, Channel),   // the messaging service has no number
    (21705, Permanent, Channel),   // there is no such messaging service
    (30001, Temporary, Channel),   // queue overflow
    (30002, Permanent, Channel),   // account suspended
    (30003, Temporary, Recipient), // the handset is off
    (30004, Permanent, Recipient), // blocked
    (30005, Permanent, Recipient), // unknown
    (30006, Permanent, Recipient), // a landline
    (30007, Permanent, Message),   // filtered by a carrier
    (30008, Temporary, Channel),   // unknown
];

/// What an error of Slack's means.
pub fn slack(error: &str) -> Refusal {
    let found = SLACK.iter().find(|row| row.0 == error);
    let verdict = found.map(|row| (row.1, row.2));
    let verdict = verdict
        .or_else(|| by_words(error))
        .unwrap_or((Permanent, Message));
    let error = super::one_line(error);
    refusal(
        verdict,
        format!("slack {error}"),
        &format!("Slack says {error}"),
    )
}

/// What a code of Twilio's means; `None` where the HTTP status has to do.
pub fn twilio(code: u32, text: &str) -> Option<Refusal> {
    let found = TWILIO.iter().find(|row| row.0 == code)?;
    Some(refusal((found.1, found.2), format!("twilio {code}"), text))
}
