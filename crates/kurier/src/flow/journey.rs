//! What an operator says of journeys, as events in the log.

use std::collections::{BTreeMap, BTreeSet};

use kurier_core::event::{Event, Kind, Position};
use kurier_core::id::{ContactId, EventId, InstanceId, JourneyId, SegmentId};
use kurier_core::journey::{
    Cancellation, Checked, Definition, Draft, Fault, Known, NAME_CHARS_MAX, Publication, Standing,
    Triggering, check_value,
};
use kurier_core::projection::{JourneyStanding, JourneySummary};
use kurier_core::value::Value;
use kurier_store::{Appended, Error, Result, Scope, Store};
use serde::Serialize;

use crate::clock;
use crate::operator::sign;

/// The channels that there always are.
const CHANNELS: [&str; 5] = ["outbox", "email", "webhook", "slack", "sms"];

/// What came of publishing.
#[derive(Debug)]
pub enum Publishing {
    Done {
        position: Position,
        version: u32,
        warnings: Vec<Fault>,
    },
    /// The current version is just that.
    Unchanged {
        version: u32,
        warnings: Vec<Fault>,
    },
    Faulty(Vec<Fault>),
    /// Somebody else published that version in the same moment.
    Overtaken,
}

/// What definitions may name in a workspace. Of segments with the same name the first has it,
/// and the others go by their ids.
pub async fn known(store: &Store, scope: Scope) -> Result<Known> {
    let mut segments = BTreeMap::new();
    for segment in store.segments.segments(scope).await? {
        let (name, id) = (segment.definition.name, segment.definition.segment);
        let name = match segments.contains_key(&name) {
            true => id.to_string(),
            false => name,
        };
        segments.insert(name, id);
    }
    let templates = store.templates.templates(scope).await?.into_iter();
    let templates = templates.filter(|template| template.retired_at.is_none());
    let set_up = store.channels.channel_revisions(scope).await?;
    let set_up = set_up.into_iter().map(|(name, _)| name);
    Ok(Known {
        channels: Some(channels(set_up)),
        templates: Some(templates.map(|template| template.name).collect()),
        spoiled: super::content::spoiled(store, scope).await?,
        segments: Some(segments),
    })
}

/// The names of channels: those that there always are, and `more`.
fn channels(more: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    let always = CHANNELS.iter().map(|&name| name.to_owned());
    always.chain(more).collect()
}

/// Checks a definition. A large one takes a while, and others are not to wait for it.
pub async fn check(definition: Value, version: u32, known: Known) -> Result<Checked> {
    let checking = tokio::task::spawn_blocking(move || check_value(definition, version, &known));
    checking
        .await
        .map_err(|error| Error::Unavailable(error.to_string()))
}

/// The name in a definition, which any draft needs; or what is wrong with it.
pub fn name_of(definition: &Value) -> std::result::Result<&str, Box<Fault>> {
    let fault = |message: String| Box::new(Fault::new(None, Some("name"), message));
    let Some(object) = definition.as_object() else {
        let message = "must be an object with name and nodes";
        return Err(Box::new(Fault::new(None, None, message)));
    };
    match object.get("name") {
        Some(Value::Text(name)) if name.trim().is_empty() => Err(fault("is missing".into())),
        Some(Value::Text(name)) if name.chars().count() > NAME_CHARS_MAX => {
            Err(fault(format!("has at most {NAME_CHARS_MAX} characters")))
        }
        Some(Value::Text(name)) => Ok(name),
        Some(_) => Err(fault("must be a text".into())),
        None => Err(fault("is missing".into())),
    }
}

/// Makes a journey with its first draft; `None` if the name is taken.
pub async fn create(store: &Store, scope: Scope, draft: Draft) -> Result<Option<Position>> {
    let journey = draft.journey;
    let event = Event {
        id: EventId::derived("journey:create", EventId::from_uuid(journey.as_uuid()), 0),
        ..event(Kind::JourneyDrafted, None, &draft)?
    };
    match store.log.append(scope, vec![event]).await?.first() {
        Some(Appended::At(position)) => Ok(Some(*position)),
        _ => Ok(None),
    }
}

/// Saves a draft of a journey that is there.
pub async fn draft(store: &Store, scope: Scope, draft: Draft) -> Result<Position> {
    append(
        store,
        scope,
        vec![event(Kind::JourneyDrafted, None, &draft)?],
    )
    .await
}

/// Publishes a definition as the next version of a journey. The read models must have been
/// brought up to date.
pub async fn publish(
    store: &Store,
    scope: Scope,
    (journey, before): (JourneyId, Option<&JourneySummary>),
    definition: Value,
) -> Result<Publishing> {
    let current = before.and_then(|journey| journey.version);
    let version = current.unwrap_or(0) + 1;
    let known = known(store, scope).await?;
    let Checked {
        definition: checked,
        faults,
    } = check(definition.clone(), version, known.clone()).await?;
    let Some(checked) = checked else {
        return Ok(Publishing::Faulty(faults));
    };
    if let (Some(before), Some(version)) = (before, current)
        && before.standing != JourneyStanding::Retired
        && is_current(store, scope, (journey, version), &definition).await?
    {
        return Ok(Publishing::Unchanged {
            version,
            warnings: faults,
        });
    }
    let publication = Publication {
        journey,
        version,
        definition,
        segments: named(&checked, &known),
    };
    let appended = say_published(store, scope, &publication).await?;
    Ok(match appended {
        Some(position) => Publishing::Done {
            position,
            version,
            warnings: faults,
        },
        None => Publishing::Overtaken,
    })
}

async fn is_current(
    store: &Store,
    scope: Scope,
    (journey, version): (JourneyId, u32),
    definition: &Value,
) -> Result<bool> {
    let current = store.journeys.version(scope, journey, version).await?;
    let current = current.map(|it| serde_json::from_str::<Value>(&it.definition));
    Ok(current.is_some_and(|current| current.is_ok_and(|current| current == *definition)))
}

/// The segments that a definition names, by name.
fn named(definition: &Definition, known: &Known) -> BTreeMap<String, SegmentId> {
    let named = definition.segments();
    let all = known.segments.iter().flatten();
    let used = all.filter(|(_, id)| named.contains(id));
    used.map(|(name, id)| (name.clone(), *id)).collect()
}

/// Its id says which version it is: the log takes one of two.
async fn say_published(
    store: &Store,
    scope: Scope,
    publication: &Publication,
) -> Result<Option<Position>> {
    let journey = EventId::from_uuid(publication.journey.as_uuid());
    let event = Event {
        id: EventId::derived("journey:publish", journey, publication.version),
        ..event(Kind::JourneyPublished, None, publication)?
    };
    match store.log.append(scope, vec![event]).await?.first() {
        Some(Appended::At(position)) => Ok(Some(*position)),
        _ => Ok(None),
    }
}

/// What can be done with a published journey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    Pause,
    Resume,
    Retire,
}

impl Turn {
    /// Says so, if the journey stands where it can be done; or why it cannot.
    pub async fn say(
        self,
        store: &Store,
        scope: Scope,
        journey: &JourneySummary,
    ) -> Result<std::result::Result<Position, String>> {
        use JourneyStanding::{Active, Paused};
        let kinds: &[Kind] = match (self, journey.standing) {
            (Self::Pause, Active) => &[Kind::JourneyPaused],
            (Self::Resume, Paused) => &[Kind::JourneyResumed],
            (Self::Retire, Active) => &[Kind::JourneyRetired],
            // Who is in it goes on to its end.
            (Self::Retire, Paused) => &[Kind::JourneyRetired, Kind::JourneyResumed],
            (turn, standing) => return Ok(Err(turn.refusal(&journey.name, standing))),
        };
        let standing = Standing {
            journey: journey.id,
        };
        let events = kinds.iter().map(|kind| event(*kind, None, &standing));
        let events = events.collect::<Result<_>>()?;
        Ok(Ok(append(store, scope, events).await?))
    }

    fn refusal(self, name: &str, standing: JourneyStanding) -> String {
        let wanted = match self {
            Self::Pause => "only an active journey can be paused",
            Self::Resume => "only a paused journey can be resumed",
            Self::Retire => "only an active or paused journey can be retired",
        };
        format!("`{name}` is {}; {wanted}", standing.as_str())
    }
}

/// Sends a contact into a journey; answers where that stands, and the run that it begins.
pub async fn trigger(
    store: &Store,
    scope: Scope,
    contact: ContactId,
    triggering: &Triggering,
) -> Result<(Position, InstanceId)> {
    let event = event(Kind::JourneyTriggered, Some(contact), triggering)?;
    let instance = InstanceId::begun(triggering.journey, contact, event.id);
    Ok((append(store, scope, vec![event]).await?, instance))
}

/// Takes a run out of its journey.
pub async fn cancel(
    store: &Store,
    scope: Scope,
    contact: Option<ContactId>,
    instance: InstanceId,
) -> Result<Position> {
    let event = event(Kind::JourneyCancelled, contact, &Cancellation { instance })?;
    append(store, scope, vec![event]).await
}

/// Why a segment cannot go: the journeys that it begins.
pub async fn use_of(store: &Store, scope: Scope, segment: SegmentId) -> Result<Option<String>> {
    let journeys = store.journeys.journeys(scope).await?;
    let using = journeys.iter().filter(|journey| journey.uses(segment));
    let names: Vec<String> = using.map(|journey| format!("`{}`", journey.name)).collect();
    Ok((!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!("this segment begins the journey {names}; retire it or publish it without first")
    }))
}

fn event(kind: Kind, contact: Option<ContactId>, payload: &impl Serialize) -> Result<Event> {
    let now = clock::now();
    Ok(sign(Event {
        id: clock::fresh_event_id(),
        kind,
        contact,
        occurred_at: now,
        recorded_at: now,
        payload: serde_json::to_string(payload).map_err(|e| Error::Damaged(e.to_string()))?,
    }))
}

/// Where the last of them stands.
async fn append(store: &Store, scope: Scope, events: Vec<Event>) -> Result<Position> {
    match store.log.append(scope, events).await?.last() {
        Some(Appended::At(position)) => Ok(*position),
        _ => Err(Error::Damaged("a fresh event id was taken".into())),
    }
}
