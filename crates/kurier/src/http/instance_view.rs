//! Runs as the API shows them.

use kurier_core::journey::{Known, check_value};
use kurier_core::projection::{InstanceSummary, Passage};
use kurier_core::value::Value;
use kurier_store::{Error, Result, Scope, Store};
use serde::Serialize;
use utoipa::ToSchema;

/// So many hops are shown of a path's beginning, and so many of its end.
const HOPS_SHOWN: usize = 300;

/// A run of a contact through a journey.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct InstanceView {
    pub id: String,
    #[schema(example = "019a9b6e-5f00-7c3a-9d1e-3f2b8c4d5e6f")]
    pub journey: String,
    pub version: u32,
    /// Nobody's, if the contact was erased a moment ago.
    pub contact: Option<String>,
    #[schema(example = "order-17")]
    pub key: Option<String>,
    /// `active`, `completed` or `cancelled`.
    #[schema(example = "active")]
    pub status: &'static str,
    /// `exit`, `exit_when`, `restarted`, `cancelled`, `merged`, `erased` or `step_limit`.
    #[schema(example = "exit")]
    pub ending: Option<&'static str>,
    /// Where it is, or was when it ended.
    #[schema(example = "an-hour")]
    pub node: String,
    /// It came here while the journey was paused, and waits for it to be resumed.
    pub held: bool,
    /// The type of the event that it waits for.
    #[schema(example = "Order Completed")]
    pub awaits: Option<String>,
    /// When time alone moves it on.
    #[schema(example = "2026-11-19T09:30:00.000Z")]
    pub wake: Option<String>,
    pub entered_at: String,
    /// When it came to its node.
    pub moved_at: String,
    pub ended_at: Option<String>,
    /// How many nodes it has passed.
    pub steps: u32,
}

impl From<&InstanceSummary> for InstanceView {
    fn from(it: &InstanceSummary) -> Self {
        Self {
            id: it.id.to_string(),
            journey: it.journey.to_string(),
            version: it.version,
            contact: it.contact.map(|id| id.to_string()),
            key: it.key.clone(),
            status: it.status.as_str(),
            ending: it.ending.map(|ending| ending.as_str()),
            node: it.node.clone(),
            held: it.is_held,
            awaits: it.awaits.clone(),
            wake: it.wake.map(|at| at.to_string()),
            entered_at: it.entered_at.to_string(),
            moved_at: it.moved_at.to_string(),
            ended_at: it.ended_at.map(|at| at.to_string()),
            steps: it.steps,
        }
    }
}

/// A run with its state and its path.
#[derive(Debug, Serialize, ToSchema)]
pub struct InstanceDetail {
    #[serde(flatten)]
    pub instance: InstanceView,
    #[schema(example = "welcome")]
    pub journey_name: Option<String>,
    /// Reserved and custom keys, as `journey.state` has them.
    pub state: serde_json::Value,
    /// Every node it left, and why so; of a long path the beginning and the end.
    pub path: Vec<HopView>,
    /// How many hops of the path are left out.
    pub omitted: usize,
    pub messages: Vec<MessageView>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HopView {
    pub at: String,
    #[schema(example = "is_pro")]
    pub node: String,
    /// `next`, `true`, `false`, `branch:0`, `default`, `met` or `timeout`.
    #[schema(example = "timeout")]
    pub by: String,
    #[schema(example = "send_offer")]
    pub to: String,
    /// The conditions that decided, and what they met.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!([]))]
    pub because: Vec<String>,
}

/// A message that the run asked for.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = InstanceMessage)]
pub struct MessageView {
    pub id: String,
    #[schema(example = "send_welcome")]
    pub node: String,
    pub at: String,
}

impl InstanceDetail {
    pub async fn of(store: &Store, scope: Scope, instance: &InstanceSummary) -> Result<Self> {
        let journeys = &store.journeys;
        let journey = journeys.journey(scope, instance.journey).await?;
        let passages = journeys.path(scope, instance.id).await?;
        let path = path(&passages);
        let omitted = (instance.steps as usize).saturating_sub(path.len());
        Ok(Self {
            journey_name: journey.map(|journey| journey.name),
            state: state(store, scope, instance).await?,
            messages: messages(&passages),
            instance: instance.into(),
            path,
            omitted,
        })
    }
}

fn messages(passages: &[Passage]) -> Vec<MessageView> {
    let mut messages = Vec::new();
    for passage in passages {
        messages.extend(passage.messages.iter().map(|sent| MessageView {
            id: sent.message.to_string(),
            node: sent.node.clone(),
            at: passage.at.to_string(),
        }));
    }
    messages
}

fn path(passages: &[Passage]) -> Vec<HopView> {
    let hops = passages.iter().flat_map(|passage| {
        passage.hops.iter().map(|hop| HopView {
            at: passage.at.to_string(),
            node: hop.node.clone(),
            by: hop.by.to_string(),
            to: hop.to.clone(),
            because: hop.because.clone(),
        })
    });
    let mut hops: Vec<HopView> = hops.collect();
    let surplus = hops.len().saturating_sub(2 * HOPS_SHOWN);
    if surplus > 0 {
        hops.drain(HOPS_SHOWN..HOPS_SHOWN + surplus);
    }
    hops
}

/// What its version's expressions see as the state.
async fn state(
    store: &Store,
    scope: Scope,
    instance: &InstanceSummary,
) -> Result<serde_json::Value> {
    let damaged = |e: serde_json::Error| Error::Damaged(e.to_string());
    let journeys = &store.journeys;
    let version = journeys.version(scope, instance.journey, instance.version);
    let definition = version.await?.map(|version| version.definition);
    let instance = instance.clone();
    let reading = tokio::task::spawn_blocking(move || {
        let value = definition.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        // What it names was there when it was published.
        let checked = value.map(|value| check_value(value, instance.version, &Known::default()));
        instance.state_data(checked.and_then(|checked| checked.definition).as_ref())
    });
    let state = reading
        .await
        .map_err(|error| Error::Unavailable(error.to_string()))?;
    serde_json::to_value(state).map_err(damaged)
}
