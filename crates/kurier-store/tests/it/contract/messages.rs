//! Messages: newest first, by whom and by what became of them.

use kurier_core::event::{Event, Kind, Position};
use kurier_core::id::{ContactId, EventId, InstanceId, JourneyId, MessageId};
use kurier_core::message::{MessageState, Origin, Reason, Report, Request};
use kurier_core::projection::{Messages, Projection as _};
use kurier_core::value::Object;
use kurier_store::{Applied, Batch, MessageFilter, MessageQuery, Store};

use super::place::cases;
use super::space::{Space, seconds};

cases! {
    newest_come_first_and_pages_follow_each_other,
    filters_hold_together,
    counts_are_by_how_they_stand,
    one_message_is_read_back_whole,
    no_message_reaches_another_workspace,
}

fn id(name: &str) -> MessageId {
    MessageId::from_uuid(EventId::of_message(name).as_uuid())
}

/// A request for a message at a second; journey and instance are named after parts of its name.
fn request(space: &Space, name: &str, who: &str, second: i64) -> Event {
    let request = Request {
        message: id(name),
        origin: Some(Origin {
            journey: JourneyId::of_name(&name[..1]),
            version: 2,
            instance: InstanceId::from_uuid(EventId::of_message(who).as_uuid()),
            node: "send".into(),
        }),
        channel: "email".into(),
        template: Some(name.into()),
        template_version: None,
        body: None,
        to: None,
        topic: None,
        inputs: Object::new(),
        priority: 9,
        scheduled_at: None,
    };
    Event {
        id: EventId::of_message(name),
        kind: Kind::MessageRequested,
        contact: Some(space.user(who)),
        occurred_at: seconds(second),
        recorded_at: seconds(second),
        payload: serde_json::to_string(&request).expect("JSON"),
    }
}

/// Four messages to two contacts; the second to ann was sent.
async fn life(store: &Store, space: &Space) {
    let mut sent = Report::new(id("b2"), 1);
    sent.channel = Some("outbox".into());
    let events = vec![
        request(space, "a1", "ann", 1),
        request(space, "b2", "ann", 2),
        request(space, "a3", "bob", 3),
        request(space, "b4", "bob", 3),
        sent.event(Kind::MessageSent, 1, Some(space.user("ann")), seconds(9)),
    ];
    let appended = store.log.append(space.scope, events).await;
    appended.expect("appended");
    fold(store).await;
}

async fn fold(store: &Store) {
    let events = store.log.read(Position(0), 100).await.expect("read");
    let loaded = store.views.load(Messages.needs(&events)).await;
    let folded = Messages.fold(loaded.expect("loaded"), &events);
    let to = events.last().expect("events").position;
    let batch = Batch::new(&Messages, (Position(0), to), folded.expect("readable"));
    let applied = store.views.apply(batch).await;
    assert_eq!(applied.expect("applied"), Applied::Done);
}

async fn templates(store: &Store, space: &Space, query: MessageQuery) -> (Vec<String>, bool) {
    let page = store.messages.messages(space.scope, &query).await;
    let page = page.expect("read");
    let messages = page.messages.into_iter();
    let templates = messages.map(|message| message.request.template_name().to_owned());
    (templates.collect(), page.has_more)
}

fn all() -> MessageQuery {
    MessageQuery {
        limit: 10,
        ..MessageQuery::default()
    }
}

fn by(change: impl FnOnce(&mut MessageFilter)) -> MessageQuery {
    let mut query = all();
    change(&mut query.filter);
    query
}

async fn newest_come_first_and_pages_follow_each_other(store: Store) {
    let space = Space::new(1);
    life(&store, &space).await;
    let (whole, has_more) = templates(&store, &space, all()).await;
    assert_eq!((whole.len(), has_more), (4, false));
    assert_eq!(whole[2..], ["b2", "a1"]);
    let mut paged = Vec::new();
    let mut query = MessageQuery { limit: 1, ..all() };
    loop {
        let page = store.messages.messages(space.scope, &query).await;
        let page = page.expect("read");
        let last = page.messages.last().expect("one");
        query.after = Some((last.requested_at, last.request.message));
        paged.extend(
            page.messages
                .into_iter()
                .map(|m| m.request.template_name().to_owned()),
        );
        if !page.has_more {
            break;
        }
    }
    assert_eq!(paged, whole);
}

async fn filters_hold_together(store: Store) {
    let space = Space::new(1);
    life(&store, &space).await;
    let (ann, bob) = (space.user("ann"), space.user("bob"));
    let of = |contacts: &[ContactId]| by(|it| it.contacts = Some(contacts.to_vec()));
    let listed = async |query| templates(&store, &space, query).await.0;
    assert_eq!(listed(of(&[ann])).await, ["b2", "a1"]);
    assert_eq!(listed(of(&[ann, bob])).await.len(), 4);
    assert_eq!(listed(of(&[])).await.len(), 0);
    let of_journey = by(|it| {
        it.contacts = Some(vec![bob]);
        it.journey = Some(JourneyId::of_name("b"));
    });
    assert_eq!(listed(of_journey).await, ["b4"]);
    let instance = Some(InstanceId::from_uuid(EventId::of_message("ann").as_uuid()));
    assert_eq!(listed(by(|it| it.instance = instance)).await, ["b2", "a1"]);
    let sent_of_run = by(|it| {
        it.instance = instance;
        it.states = vec![MessageState::Sent, MessageState::Failed];
    });
    assert_eq!(listed(sent_of_run).await, ["b2"]);
    assert_eq!(
        listed(by(|it| it.template = Some("a3".into()))).await,
        ["a3"]
    );
    assert_eq!(listed(by(|it| it.since = Some(seconds(3)))).await.len(), 2);
    assert_eq!(listed(by(|it| it.before = Some(seconds(2)))).await, ["a1"]);
    assert_eq!(listed(by(|it| it.version = Some(2))).await.len(), 4);
    let taken_by = |names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        by(|it| it.sent_by = names)
    };
    assert_eq!(listed(taken_by(&["post", "outbox"])).await, ["b2"]);
    let none: [fn(&mut MessageFilter); 9] = [
        |it| it.sent_by = vec!["post".into()],
        |it| it.version = Some(3),
        |it| it.node = Some("other".into()),
        |it| it.channel = Some("sms".into()),
        |it| it.topic = Some("news".into()),
        |it| it.address = Some("a@b.c".into()),
        |it| it.reason = Some(Reason::Suppressed),
        |it| it.code = Some("http 503".into()),
        |it| it.is_discarded = Some(true),
    ];
    for (n, filter) in none.iter().enumerate() {
        assert_eq!(listed(by(*filter)).await.len(), 0, "filter {n}");
    }
    assert_eq!(
        listed(by(|it| it.is_discarded = Some(false))).await.len(),
        4
    );
}

async fn counts_are_by_how_they_stand(store: Store) {
    let space = Space::new(1);
    life(&store, &space).await;
    let counted = async |scope, filter| {
        let counts = store.messages.message_counts(scope, &filter).await;
        let counts = counts.expect("counted").into_iter();
        counts.map(|it| (it.state, it.count)).collect::<Vec<_>>()
    };
    let all = counted(space.scope, MessageFilter::default()).await;
    assert_eq!(all, [(MessageState::Queued, 3), (MessageState::Sent, 1)]);
    let sent = MessageFilter {
        states: vec![MessageState::Sent],
        ..MessageFilter::default()
    };
    assert_eq!(counted(space.scope, sent).await, [(MessageState::Sent, 1)]);
    let other = Space::new(2).scope;
    assert_eq!(counted(other, MessageFilter::default()).await, []);
}

async fn one_message_is_read_back_whole(store: Store) {
    let space = Space::new(1);
    life(&store, &space).await;
    let found = store.messages.message(space.scope, id("b2")).await;
    let message = found.expect("read").expect("there");
    assert_eq!(message.request.template_name(), "b2");
    let origin = message.request.origin.expect("a run asked for it");
    assert_eq!((origin.version, message.request.priority), (2, 9));
    assert_eq!(message.state, MessageState::Sent);
    assert_eq!(message.standing.sent_by.as_deref(), Some("outbox"));
    let told = message.standing.told.iter().map(|it| (it.kind, it.at));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            (Kind::MessageRequested, seconds(2)),
            (Kind::MessageSent, seconds(9))
        ]
    );
    assert_eq!(
        (message.requested_at, message.changed_at),
        (seconds(2), seconds(9))
    );
    let none = store.messages.message(space.scope, id("zz")).await;
    assert_eq!(none.expect("read"), None);
}

async fn no_message_reaches_another_workspace(store: Store) {
    let (ours, theirs) = (Space::new(1), Space::new(2));
    life(&store, &ours).await;
    assert_eq!(templates(&store, &theirs, all()).await.0, [""; 0]);
    let foreign = store.messages.message(theirs.scope, id("b2")).await;
    assert_eq!(foreign.expect("read"), None);
}
