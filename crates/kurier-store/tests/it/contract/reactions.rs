//! Reacting: what is appended and how far it came, together; one holder at a time.

use std::time::Duration;

use kurier_core::event::{Event, Kind, Position};
use kurier_core::id::{InstanceId, JourneyId, MessageId, SegmentId};
use kurier_core::message::{Origin, Request, Then};
use kurier_core::projection::{Projection, Segments};
use kurier_core::segment::{Definition, crossing};
use kurier_core::time::Timestamp;
use kurier_core::value::Object;
use kurier_store::{Applied, Batch, Reacted, Reaction, Store};
use uuid::Uuid;

use super::place::cases;
use super::queue::{claim, settle_all, settled};
use super::space::{Space, event};

cases! {
    a_lease_has_one_holder_and_a_growing_fence,
    a_reaction_is_written_whole_or_not_at_all,
    a_message_is_queued_with_what_asks_for_it_and_once,
    segments_are_read_back,
}

const TERM: Duration = Duration::from_secs(60);
const REACTOR: &str = "reactor";

async fn a_lease_has_one_holder_and_a_growing_fence(store: Store) {
    let (ann, bob) = (Uuid::from_u128(1), Uuid::from_u128(2));
    let lease = async |holder, term| {
        store
            .reactions
            .lease(REACTOR, holder, term)
            .await
            .expect("asked")
    };
    let first = lease(ann, TERM).await.expect("free");
    assert_eq!(lease(bob, TERM).await, None, "it is held");
    assert_eq!(lease(ann, TERM).await, Some(first), "it is kept");
    store
        .reactions
        .release(REACTOR, ann)
        .await
        .expect("released");
    let second = lease(bob, Duration::ZERO).await.expect("free again");
    assert!(second > first);
    // A term that is over: another may take it.
    let third = loop {
        if let Some(fence) = lease(ann, TERM).await {
            break fence;
        }
    };
    assert!(third > second);
}

async fn a_reaction_is_written_whole_or_not_at_all(store: Store) {
    let space = Space::new(1);
    let fence = store
        .reactions
        .lease(REACTOR, Uuid::from_u128(1), TERM)
        .await;
    let fence = fence.expect("asked").expect("free");
    let react = async |fence, from, to, name: &str| {
        let events = vec![(space.scope.0, event(name))];
        let (from, to) = (Position(from), Position(to));
        let reaction = Reaction {
            reactor: REACTOR,
            fence,
            from,
            to,
            events,
        };
        store.reactions.react(reaction).await.expect("asked")
    };
    assert_eq!(react(fence, 0, 3, "a").await, Reacted::Done);
    assert_eq!(
        react(fence, 0, 4, "b").await,
        Reacted::Overtaken,
        "the checkpoint has moved"
    );
    assert_eq!(
        react(fence - 1, 3, 4, "c").await,
        Reacted::Overtaken,
        "the fence is old"
    );
    assert_eq!(
        react(fence, 3, 3, "d").await,
        Reacted::Done,
        "time passes without events"
    );
    assert_eq!(
        react(fence, 3, 5, "a").await,
        Reacted::Done,
        "said twice, written once"
    );
    assert_eq!(
        store.views.checkpoint(REACTOR).await.expect("read"),
        Position(5)
    );
    assert_eq!(store.log.head().await.expect("read"), Position(2));
}

async fn a_message_is_queued_with_what_asks_for_it_and_once(store: Store) {
    let space = Space::new(1);
    let holder = Uuid::from_u128(1);
    let fence = store.reactions.lease(REACTOR, holder, TERM).await;
    let fence = fence.expect("asked").expect("free");
    let request = request("ask");
    let react = async |fence, from, to| {
        let reaction = Reaction {
            reactor: REACTOR,
            fence,
            from: Position(from),
            to: Position(to),
            events: vec![(space.scope.0, request.clone())],
        };
        store.reactions.react(reaction).await.expect("asked")
    };
    let depth = async || store.queue.depth(space.scope).await.expect("counted");
    assert_eq!(react(fence - 1, 0, 1).await, Reacted::Overtaken);
    assert_eq!(depth().await, 0, "nothing was written");
    assert_eq!(react(fence, 0, 1).await, Reacted::Done);
    assert_eq!(depth().await, 1);
    let claim = claim(&store, 0, 9).await.remove(0);
    assert_eq!(claim.message.id.as_uuid(), request.id.as_uuid());
    assert_eq!(
        (claim.message.channel.as_str(), claim.message.priority),
        ("email", 7)
    );
    assert_eq!(claim.message.contact, request.contact);
    let done = vec![settled(claim, Then::Gone)];
    assert_eq!(settle_all(&store, done).await, [true]);
    // Asked for again after a crash: it stands in the log, and was dealt with.
    assert_eq!(react(fence, 1, 2).await, Reacted::Done);
    assert_eq!(depth().await, 0);
}

pub fn request(name: &str) -> Event {
    let asked = event(name);
    let request = Request {
        message: MessageId::from_uuid(asked.id.as_uuid()),
        origin: Some(Origin {
            journey: JourneyId::of_name("j"),
            version: 1,
            instance: InstanceId::from_bytes([1; 16]),
            node: "send".into(),
        }),
        channel: "email".into(),
        template: Some("hello".into()),
        template_version: None,
        body: None,
        to: None,
        topic: None,
        inputs: Object::new(),
        priority: 7,
        scheduled_at: None,
    };
    Event {
        kind: Kind::MessageRequested,
        contact: Some(Space::new(1).user("u")),
        payload: serde_json::to_string(&request).expect("JSON"),
        ..asked
    }
}

/// A segment of five that one has left, folded into its read models.
async fn fold_segment(store: &Store, ours: &Space, id: SegmentId) -> Definition {
    let definition = Definition::new(id, "Pros", Some("contact.plan = 'pro'")).expect("good");
    let mut made = event("made");
    (made.kind, made.contact) = (Kind::SegmentCreated, None);
    made.payload = serde_json::to_string(&definition).expect("JSON");
    let at = (made.occurred_at, made.recorded_at);
    let cause = made.id;
    let mut events = vec![made];
    let contacts = (0..5).map(|n| ours.user(&format!("u{n}")));
    events.extend(contacts.map(|contact| crossing(id, contact, true, cause, at)));
    events.push(crossing(id, ours.user("u0"), false, cause, at));
    store
        .log
        .append(ours.scope, events)
        .await
        .expect("appended");
    let log = store.log.read(Position(0), 100).await.expect("read");
    let loaded = store
        .views
        .load(Segments.needs(&log))
        .await
        .expect("loaded");
    let folded = Segments.fold(loaded, &log).expect("readable");
    let to = log.last().expect("events").position;
    let batch = Batch::new(&Segments, (Position(0), to), folded);
    assert_eq!(
        store.views.apply(batch).await.expect("applied"),
        Applied::Done
    );
    definition
}

async fn segments_are_read_back(store: Store) {
    let (ours, theirs) = (Space::new(1), Space::new(2));
    let id = SegmentId::new(Timestamp::from_millis(1), [1; 10]);
    let definition = fold_segment(&store, &ours, id).await;
    let (views, scope) = (&store.segments, ours.scope);
    let found = views
        .segment(scope, id)
        .await
        .expect("read")
        .expect("there");
    assert_eq!((found.definition, found.size), (definition, 4));
    assert_eq!(views.segments(scope).await.expect("read").len(), 1);
    let first = views.members(scope, id, None, 3).await.expect("read");
    assert_eq!((first.members.len(), first.has_more), (3, true));
    let last = first.members.last().map(|member| member.contact);
    let second = views.members(scope, id, last, 3).await.expect("read");
    assert_eq!((second.members.len(), second.has_more), (1, false));
    let of_contact = views
        .segments_of(scope, ours.user("u1"))
        .await
        .expect("read");
    assert_eq!(of_contact.len(), 1);
    let sizes = views
        .sizes(scope, id, Timestamp::from_micros(i64::MIN))
        .await
        .expect("read");
    assert_eq!(sizes.iter().map(|(_, size)| *size).collect::<Vec<_>>(), [4]);
    assert!(
        views
            .segment(theirs.scope, id)
            .await
            .expect("read")
            .is_none()
    );
    let foreign = views
        .members(theirs.scope, id, None, 3)
        .await
        .expect("read");
    assert!(foreign.members.is_empty());
}
