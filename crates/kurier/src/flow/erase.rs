//! Erasing a contact. One event says so; folding it carries it out: payloads in the log
//! become tombstones, read models and queue forget, the suppression list keeps hashes alone.
//! Doing it twice does nothing more, so a crash at any point is mended by folding the event
//! again.

use std::collections::BTreeMap;
use std::time::Duration;

use kurier_core::contact::{Contact, Standing};
use kurier_core::event::{Erasure, Event, Kind, Position, Recorded};
use kurier_core::id::{AddressKey, ContactId, EventId, IdentityKey};
use kurier_core::message::{Address, AddressKind};
use kurier_core::value::{Object, member};
use kurier_store::{Appended, Error, Result, Scope, Scrub, Store, TimelineQuery};

use super::rebuild::sweep;
use crate::app::App;
use crate::clock;
use crate::fault;
use crate::keyring::Grant;
use crate::operator::sign;

const PAGE: usize = 1_000;

/// The read models may be behind; whoever asks does not wait longer than this.
const PATIENCE: Duration = Duration::from_secs(20);

/// What an erasure did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasureReport {
    pub contacts: usize,
    pub events: usize,
    /// False if it is recorded, but was not yet carried out when patience ended.
    pub done: bool,
}

/// Erases a contact and all that were merged into it; `None` if there is none.
pub async fn erase(app: &App, grant: &Grant, id: ContactId) -> Result<Option<ErasureReport>> {
    let (store, projector) = (&app.store, &app.projector);
    let scope = grant.scope();
    if !projector.reach(store.log.head().await?, PATIENCE).await {
        return Err(Error::Unavailable(
            "the read models are too far behind to erase now".into(),
        ));
    }
    let Some(contact) = live_contact(store, scope, id).await? else {
        return Ok(None);
    };
    let erasure = plan(store, scope, grant, projector.position(), &contact).await?;
    let event = told(Some(contact.id), &erasure);
    let appended = store.log.append(scope, vec![event]).await?;
    let Some(Appended::At(position)) = appended.first() else {
        return Err(Error::Damaged("a fresh event id was taken".into()));
    };
    let is_edge_free = is_forgotten_at_edge(app, scope, &erasure.contacts, *position).await;
    let done = is_carried_out(app, *position).await? && is_edge_free;
    if done {
        store.log.scrub(Scrub::Quick).await?;
    }
    let (contacts, events) = (erasure.contacts.len(), erasure.positions.len());
    Ok(Some(ErasureReport {
        contacts,
        events,
        done,
    }))
}

/// Removes contacts from the edge at once. A keyspace that does not answer is told again by the
/// flow; until then, and for minutes at most, it may hold them.
async fn is_forgotten_at_edge(
    app: &App,
    scope: Scope,
    contacts: &[ContactId],
    position: Position,
) -> bool {
    let Some(edge) = &app.contact_edge else {
        return true;
    };
    let ids: Vec<_> = contacts.iter().map(|id| id.as_uuid()).collect();
    let removed = edge.remove(scope, &ids, position).await;
    if let Err(error) = &removed {
        tracing::warn!(%error, "erased contacts are not gone from the edge yet");
    }
    removed.is_ok()
}

/// Waits until nothing is left in the read models, in the reactor's memory and snapshots, and
/// among members, messages and runs.
async fn is_carried_out(app: &App, position: Position) -> Result<bool> {
    if !app.reactor.reach(position, PATIENCE).await {
        return Ok(false);
    }
    // What was decided without knowing is in the log by now: it is found, and told again.
    let head = app.store.log.head().await?;
    if !app.projector.reach(head, PATIENCE).await {
        return Ok(false);
    }
    let head = app.store.log.head().await?;
    for projector in [&app.projector, &app.segments, &app.messages, &app.journeys] {
        if !projector.reach(head, PATIENCE).await {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The live contact at an id, or the one it has become part of.
pub async fn live_contact(store: &Store, scope: Scope, id: ContactId) -> Result<Option<Contact>> {
    let mut id = id;
    loop {
        match store.views.contact(scope, id).await? {
            Some(Standing::Live(contact)) => return Ok(Some(*contact)),
            Some(Standing::Merged { into }) if into != id => id = into,
            _ => return Ok(None),
        }
    }
}

async fn plan(
    store: &Store,
    scope: Scope,
    grant: &Grant,
    seen: Position,
    contact: &Contact,
) -> Result<Erasure> {
    let contacts = contact.ids();
    let positions = store.views.timeline_positions(scope, &contacts).await?;
    let key = &grant.workspace.key;
    let mut addresses = named_in(&contact.attributes, key);
    for kind in [Kind::Identify, Kind::ContactUpdated] {
        addresses.extend(addresses_in(store, scope, key, (&contacts, kind)).await?);
    }
    addresses.sort_unstable();
    addresses.dedup();
    Ok(Erasure {
        contacts,
        addresses,
        positions,
        seen,
    })
}

/// Every address the contacts ever had, as their events of this kind say.
async fn addresses_in(
    store: &Store,
    scope: Scope,
    key: &IdentityKey,
    (ids, kind): (&[ContactId], Kind),
) -> Result<Vec<AddressKey>> {
    let mut found = Vec::new();
    let mut query = TimelineQuery {
        kind: Some(kind),
        limit: PAGE,
        ..TimelineQuery::default()
    };
    loop {
        let page = store.views.timeline(scope, ids, &query).await?;
        found.extend(page.events.iter().flat_map(|event| said_in(event, key)));
        let Some(last) = page.events.last().filter(|_| page.has_more) else {
            return Ok(found);
        };
        query.after = Some((last.event.occurred_at, last.position));
    }
}

/// The addresses an event gives its contact.
fn said_in(recorded: &Recorded, key: &IdentityKey) -> Vec<AddressKey> {
    let Ok(said) = recorded.said() else {
        return Vec::new();
    };
    let in_context = said.context.and_then(|it| member(it.get(), "traits"));
    let traits = [said.traits, in_context].into_iter().flatten();
    let traits = traits.filter_map(|traits| serde_json::from_str::<Object>(traits.get()).ok());
    let named = traits.flat_map(|traits| named_in(&traits, key));
    named.chain(said.address).collect()
}

fn named_in(attributes: &Object, key: &IdentityKey) -> Vec<AddressKey> {
    let kinds = [("email", AddressKind::Email), ("phone", AddressKind::Phone)];
    let named = kinds.into_iter().filter_map(|(name, kind)| {
        let text = attributes.get(name)?.as_text()?;
        Some(Address::new(kind, text)?.key(key))
    });
    named.collect()
}

fn told(contact: Option<ContactId>, erasure: &Erasure) -> Event {
    let now = clock::now();
    sign(Event {
        id: clock::fresh_event_id(),
        kind: Kind::ContactErased,
        contact,
        occurred_at: now,
        recorded_at: now,
        payload: serde_json::to_string(erasure).expect("lists of ids and numbers serialise"),
    })
}

/// Tells an erasure once more, for what was decided before it was known and written behind it.
/// In place alone it could not be erased: a read model may have folded it already. Whoever
/// came back in between is erased again: who asked for the erasure was not answered yet.
pub async fn tell_again(store: &Store, events: &[Recorded], belated: &[Position]) -> Result<()> {
    let mut by_contact: BTreeMap<_, Vec<&Recorded>> = BTreeMap::new();
    for recorded in events.iter().filter(|it| belated.contains(&it.position)) {
        let of = (recorded.workspace, recorded.event.contact);
        by_contact.entry(of).or_default().push(recorded);
    }
    for ((workspace, contact), all) in by_contact {
        let (scope, first) = (Scope(workspace), all[0]);
        let contacts: Vec<ContactId> = contact.into_iter().collect();
        // Its messages are not to go out meanwhile.
        store.queue.forget(scope, &contacts).await?;
        let erasure = Erasure {
            contacts,
            addresses: Vec::new(),
            positions: all.iter().map(|recorded| recorded.position).collect(),
            seen: first.position,
        };
        let again = Event {
            // Told twice, it stands in the log once.
            id: EventId::derived("erase", first.event.id, 0),
            ..told(contact, &erasure)
        };
        store.log.append(scope, vec![again]).await?;
        fault::point("erase", "told_again");
    }
    Ok(())
}

/// Carries out what an erasure event says, in log and queue; the projection does the rest.
pub async fn carry_out(store: &Store, recorded: &Recorded) -> Result<()> {
    let erasure: Erasure = match serde_json::from_str(&recorded.event.payload) {
        Ok(erasure) => erasure,
        // The fold sets it aside with its reason.
        Err(_) => return Ok(()),
    };
    let scope = Scope(recorded.workspace);
    let mut positions = erasure.positions;
    // What arrived between planning and appending belongs to the contact as well.
    let between = (erasure.seen, recorded.position);
    let late = store
        .log
        .positions(scope, &erasure.contacts, between)
        .await?;
    positions.extend(late);
    store.log.tombstone(scope, &positions).await?;
    fault::point("erase", "tombstoned");
    store.queue.forget(scope, &erasure.contacts).await?;
    fault::point("erase", "forgotten");
    sweep(store).await?;
    fault::point("erase", "swept");
    store
        .suppressions
        .forget_addresses(scope, &erasure.addresses)
        .await?;
    fault::point("erase", "carried_out");
    Ok(())
}
