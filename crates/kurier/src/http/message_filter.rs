//! Which messages are meant, as a query or a body says it.

use kurier_core::id::ContactId;
use kurier_core::message::{MessageState, Reason};
use kurier_core::time::Timestamp;
use kurier_store::MessageFilter;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::contacts::find;
use super::problem::Problem;
use crate::app::App;
use crate::keyring::Grant;

/// All that is given must hold.
#[derive(Debug, Default, Deserialize, IntoParams, ToSchema)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FilterParams {
    /// Of this contact.
    pub contact: Option<String>,
    /// Of this journey, by its id.
    pub journey: Option<String>,
    /// Of this version of the journey.
    pub version: Option<u32>,
    /// Asked for by this node.
    pub node: Option<String>,
    /// Of this run.
    pub instance: Option<String>,
    pub channel: Option<String>,
    pub template: Option<String>,
    pub topic: Option<String>,
    /// To this address.
    pub to: Option<String>,
    /// Taken by this channel, or by one of several separated by commas; `outbox` is the one
    /// that keeps what nobody else takes.
    pub sent_by: Option<String>,
    /// One or more of `queued`, `sending`, `sent`, `retrying`, `failed`, `skipped` and
    /// `unknown`, separated by commas.
    pub state: Option<String>,
    /// Such as `suppressed`, `opted_out` or `retries_exhausted`.
    pub reason: Option<String>,
    /// What the channel said last, such as `http 503`.
    pub code: Option<String>,
    /// Whether somebody put it away.
    pub discarded: Option<bool>,
    /// Asked for at this time or later.
    pub since: Option<String>,
    /// Asked for before this time.
    pub before: Option<String>,
}

impl FilterParams {
    pub async fn read(&self, app: &App, grant: &Grant) -> Result<MessageFilter, Problem> {
        let contacts = match &self.contact {
            Some(contact) => Some(contacts(app, grant, contact).await?),
            None => None,
        };
        let state = self.state.as_deref();
        Ok(MessageFilter {
            contacts,
            journey: id("journey", self.journey.as_deref())?,
            version: self.version,
            node: plain(self.node.as_ref())?,
            instance: id("instance", self.instance.as_deref())?,
            channel: plain(self.channel.as_ref())?,
            template: plain(self.template.as_ref())?,
            topic: plain(self.topic.as_ref())?,
            address: plain(self.to.as_ref())?,
            sent_by: names(plain(self.sent_by.as_ref())?),
            states: state.map(states).transpose()?.unwrap_or_default(),
            reason: self.reason.as_deref().map(reason).transpose()?,
            code: plain(self.code.as_ref())?,
            is_discarded: self.discarded,
            since: time("since", self.since.as_deref())?,
            before: time("before", self.before.as_deref())?,
        })
    }
}

/// A contact and all that became part of it.
async fn contacts(app: &App, grant: &Grant, id: &str) -> Result<Vec<ContactId>, Problem> {
    let unknown = |_| Problem::not_found("there is no such contact");
    let id = id.parse().map_err(unknown)?;
    Ok(find(app, grant, id).await?.ids())
}

fn bad(detail: String) -> Problem {
    Problem::bad_request("bad_parameter", detail)
}

fn id<T: std::str::FromStr>(name: &str, text: Option<&str>) -> Result<Option<T>, Problem> {
    let refused = |_| bad(format!("{name} must be an id"));
    text.map(|text| text.parse().map_err(refused)).transpose()
}

/// The character NUL is in nothing that is kept, and not every database can look for it.
fn plain(text: Option<&String>) -> Result<Option<String>, Problem> {
    let has_nul = text.is_some_and(|text| text.contains('\0'));
    match has_nul {
        true => Err(bad(
            "the character U+0000 is in nothing that is kept here".into()
        )),
        false => Ok(text.cloned()),
    }
}

fn time(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Problem> {
    let refused = |_| {
        bad(format!(
            "{name} must be a time, such as 2026-01-31T00:00:00Z"
        ))
    };
    text.map(|text| text.parse().map_err(refused)).transpose()
}

fn names(text: Option<String>) -> Vec<String> {
    let text = text.unwrap_or_default();
    let names = text.split(',').map(str::trim).filter(|it| !it.is_empty());
    names.map(str::to_owned).collect()
}

fn states(text: &str) -> Result<Vec<MessageState>, Problem> {
    let state = |word: &str| {
        let known = MessageState::ALL.iter().map(|it| it.as_str());
        let known: Vec<&str> = known.collect();
        let refused = || bad(format!("state must be of {}", known.join(", ")));
        MessageState::of(word.trim()).ok_or_else(refused)
    };
    text.split(',').map(state).collect()
}

fn reason(text: &str) -> Result<Reason, Problem> {
    let known = Reason::ALL.iter().map(|it| it.as_str());
    let known: Vec<&str> = known.collect();
    Reason::of(text).ok_or_else(|| bad(format!("reason must be one of {}", known.join(", "))))
}
