//! What is set up in the demo before anything happens: segments, templates and the example
//! journeys, as an operator would have published them.

use std::collections::BTreeMap;

use anyhow::{Context as _, anyhow};
use kurier_core::event::{Event, Kind};
use kurier_core::id::{EventId, JourneyId, SegmentId};
use kurier_core::journey::{Publication, read_document};
use kurier_core::segment::Definition;
use kurier_core::template::{Compiled, Publication as TemplatePublication};
use kurier_core::time::Timestamp;
use kurier_core::value::Value;
use serde::Serialize;

use super::OWNER;

macro_rules! examples {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$(include_str!(concat!("../../../../examples/", $folder, "/", $name, ".yaml"))),*]
    };
}

const TEMPLATES: &[&str] = examples!["templates":
    "big-trial-ends", "call-them", "can-we-help", "cart-reminder", "cart-voucher",
    "how-is-it-going", "how-to-start", "next-steps", "order", "trial-ends", "voucher-10",
    "voucher-20", "we-miss-you", "welcome", "you-are-flying"];
const JOURNEYS: &[&str] =
    examples!["journeys": "abandoned-cart", "trial-reminder", "welcome", "win-back"];

const SEGMENTS: &[(&str, &str)] = &[
    (
        "Lapsed",
        "EXISTS (event WHERE event_type = 'order_completed') AND NOT EXISTS (event WHERE \
         event_type = 'order_completed' AND event_time > now() - 60d)",
    ),
    ("Pro customers", "contact.plan IN ('pro', 'team')"),
    ("German speakers", "contact.language = 'de'"),
    (
        "Active this week",
        "COUNT(event WHERE event_time > now() - 7d) >= 3",
    ),
    (
        "Good customers",
        "SUM(event.properties.total WHERE event_type = 'order_completed') >= 250",
    ),
    (
        "Open carts",
        "EXISTS (event WHERE event_type = 'cart_updated' AND event_time > now() - 1h) AND NOT \
         EXISTS (event WHERE event_type = 'order_completed' AND event_time > now() - 1h)",
    ),
];

/// All of it, said at an instant.
pub fn events(at: Timestamp) -> anyhow::Result<Vec<Event>> {
    let mut events = Vec::new();
    for (name, expression) in SEGMENTS {
        let made = Definition::new(SegmentId::of_name(name), name, Some(expression));
        let made = made.map_err(|fault| anyhow!("segment {name}: {fault:?}"))?;
        let id = EventId::of_message(&format!("demo segment {name}"));
        events.push(said(id, Kind::SegmentCreated, &made, at)?);
    }
    for text in TEMPLATES {
        let document = document(text)?;
        let compiled = Compiled::new(&document).map_err(|e| anyhow!("a template: {e:?}"))?;
        let publication = TemplatePublication::new(&compiled, 1, document);
        let id = publication.event_id();
        events.push(said(id, Kind::TemplatePublished, &publication, at)?);
    }
    for text in JOURNEYS {
        events.push(journey(document(text)?, at)?);
    }
    Ok(events)
}

fn document(text: &str) -> anyhow::Result<Value> {
    read_document(text).map_err(|fault| anyhow!("an example cannot be read: {fault:?}"))
}

fn journey(definition: Value, at: Timestamp) -> anyhow::Result<Event> {
    let name = definition.as_object().and_then(|it| it.get("name"));
    let name = name.and_then(Value::as_text).context("a journey's name")?;
    let journey = JourneyId::of_name(name);
    let lapsed = ("Lapsed".to_owned(), SegmentId::of_name("Lapsed"));
    let segments = match name.as_str() {
        "Win back" => BTreeMap::from([lapsed]),
        _ => BTreeMap::new(),
    };
    let publication = Publication {
        journey,
        version: 1,
        definition,
        segments,
    };
    let id = EventId::derived("journey:publish", EventId::from_uuid(journey.as_uuid()), 1);
    said(id, Kind::JourneyPublished, &publication, at)
}

fn said(id: EventId, kind: Kind, payload: &impl Serialize, at: Timestamp) -> anyhow::Result<Event> {
    let event = Event {
        id,
        kind,
        contact: None,
        occurred_at: at,
        recorded_at: at,
        payload: serde_json::to_string(payload)?,
    };
    Ok(event.by(OWNER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_examples_are_set_up() {
        let events = events(Timestamp::default()).expect("all can be read");
        let count = |kind| events.iter().filter(|event| event.kind == kind).count();
        assert_eq!(count(Kind::SegmentCreated), SEGMENTS.len());
        assert_eq!(count(Kind::TemplatePublished), TEMPLATES.len());
        assert_eq!(count(Kind::JourneyPublished), 4);
    }
}
