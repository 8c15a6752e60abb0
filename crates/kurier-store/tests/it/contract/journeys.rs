//! Journeys and the runs through them: listed, found, counted, erased.

use std::collections::BTreeMap;

use kurier_core::event::{Event, Kind, Position};
use kurier_core::id::{ContactId, EventId, InstanceId, JourneyId, MessageId, SegmentId};
use kurier_core::journey::{By, Course, Draft, Ending, HopRecord, Publication, Record, Sent};
use kurier_core::journey::{Standing, Status};
use kurier_core::projection::{JourneyStanding, Journeys};
use kurier_core::value::{Object, Value};
use kurier_store::{InstanceFilter, InstanceQuery, Store};

use super::place::cases;
use super::runner::project_with;
use super::space::{Space, now, seconds};

cases! {
    journeys_are_listed_by_name_and_found_by_id,
    drafts_and_versions_come_back_as_they_were,
    runs_are_found_by_where_they_are_and_whose,
    pages_of_runs_follow_each_other,
    a_run_comes_back_whole_with_its_path,
    ways_are_counted,
    nothing_reaches_another_workspace,
}

pub fn event(kind: Kind, contact: Option<ContactId>, payload: &impl serde::Serialize) -> Event {
    let payload = serde_json::to_string(payload).expect("JSON");
    Event {
        id: EventId::of_message(&format!("{kind:?} {contact:?} {payload}")),
        kind,
        contact,
        occurred_at: now(),
        recorded_at: now(),
        payload,
    }
}

fn definition(name: &str) -> Value {
    let text = |text: &str| Value::Text(text.to_owned());
    Value::Object(Object::from([
        ("name".to_owned(), text(name)),
        ("odd".to_owned(), text("ä \u{1} \" \\ 🦀")),
        ("number".to_owned(), Value::Float(1e16)),
    ]))
}

fn drafted(name: &str) -> Event {
    let draft = Draft {
        journey: JourneyId::of_name(name),
        definition: definition(name),
    };
    event(Kind::JourneyDrafted, None, &draft)
}

fn published(name: &str, version: u32) -> Event {
    let publication = Publication {
        journey: JourneyId::of_name(name),
        version,
        definition: definition(name),
        segments: BTreeMap::from([("s".to_owned(), SegmentId::of_name("s"))]),
    };
    event(Kind::JourneyPublished, None, &publication)
}

pub fn instance(n: u8) -> InstanceId {
    InstanceId::new(now(), [n; 10])
}

/// The `seq`th record of a run of a user: from `start` to `at`.
pub fn record(n: u8, contact: ContactId, seq: u32, at: &str, ending: Option<Ending>) -> Event {
    let hop = HopRecord {
        node: "start".to_owned(),
        by: By::Branch(3),
        to: at.to_owned(),
    };
    let message = Sent {
        message: MessageId::of_visit(instance(n), at, seq),
        node: at.to_owned(),
    };
    let first = seq == 1;
    let record = Record {
        run: Course {
            journey: JourneyId::of_name("j"),
            version: 1 + u32::from(n % 2),
            instance: instance(n),
            seq,
            hops: if first { vec![hop] } else { Vec::new() },
            messages: if first { vec![message] } else { Vec::new() },
            at: at.to_owned(),
            since: Position(0),
            wake: ending.is_none().then(|| seconds(60)),
            awaits: ending.is_none().then(|| "bought".to_owned()),
            held: false,
            ending,
        },
        key: first.then(|| format!("secret key {n}")),
        trigger: first.then(|| EventId::of_message("trigger")),
        state: Object::from([("cart".to_owned(), Value::Text("secret cart".into()))]),
        because: if first {
            vec![vec!["secret reason".into()]]
        } else {
            Vec::new()
        },
    };
    let kind = match (seq, ending) {
        (_, Some(_)) => Kind::JourneyFinished,
        (1, None) => Kind::JourneyEntered,
        _ => Kind::JourneyMoved,
    };
    let mut event = event(kind, Some(contact), &record);
    // Two begin in the same moment, so that ids have to decide.
    event.occurred_at = seconds(i64::from(n) / 2);
    event
}

pub async fn happen(store: &Store, space: &Space, events: Vec<Event>) {
    store
        .log
        .append(space.scope, events)
        .await
        .expect("appended");
    project_with(&Journeys, store, 3).await;
}

/// Six runs of two users: 0, 2 and 4 wait, 1 and 3 have ended, 5 is elsewhere.
pub async fn runs(store: &Store, space: &Space) {
    let (u, v) = (space.user("u"), space.user("v"));
    let mut events: Vec<Event> = (0..6u8)
        .map(|n| {
            let who = if n < 4 { u } else { v };
            record(n, who, 1, if n == 5 { "there" } else { "wait" }, None)
        })
        .collect();
    events.push(record(1, u, 2, "wait", Some(Ending::Exit)));
    events.push(record(3, u, 2, "wait", Some(Ending::Cancelled)));
    happen(store, space, events).await;
}

pub async fn found(store: &Store, space: &Space, filter: InstanceFilter) -> Vec<InstanceId> {
    let query = InstanceQuery {
        filter,
        after: None,
        limit: 100,
    };
    let page = store.journeys.instances(space.scope, &query).await;
    let page = page.expect("read");
    assert!(!page.has_more);
    page.instances.iter().map(|run| run.id).collect()
}

pub fn in_journey() -> InstanceFilter {
    InstanceFilter {
        journey: Some(JourneyId::of_name("j")),
        ..InstanceFilter::default()
    }
}

async fn journeys_are_listed_by_name_and_found_by_id(store: Store) {
    let space = Space::new(1);
    let standing = Standing {
        journey: JourneyId::of_name("a"),
    };
    let events = vec![
        published("a", 1),
        drafted("Z"),
        drafted("ä"),
        event(Kind::JourneyPaused, None, &standing),
        drafted("a"),
    ];
    happen(&store, &space, events).await;
    let all = store.journeys.journeys(space.scope).await.expect("read");
    let told: Vec<_> = all
        .iter()
        .map(|it| (it.name.as_str(), it.standing, it.version, it.has_draft))
        .collect();
    let draft = JourneyStanding::Draft;
    assert_eq!(
        told,
        [
            ("Z", draft, None, true),
            ("a", JourneyStanding::Paused, Some(1), true),
            ("ä", draft, None, true)
        ]
    );
    assert!(all[1].uses(SegmentId::of_name("s")));
    for journey in all {
        let one = store.journeys.journey(space.scope, journey.id).await;
        assert_eq!(one.expect("read"), Some(journey));
    }
    let none = store
        .journeys
        .journey(space.scope, JourneyId::of_name("b"))
        .await;
    assert_eq!(none.expect("read"), None);
}

async fn drafts_and_versions_come_back_as_they_were(store: Store) {
    let space = Space::new(1);
    happen(&store, &space, vec![published("j", 1), published("j", 2)]).await;
    let id = JourneyId::of_name("j");
    let draft = async || store.journeys.draft(space.scope, id).await.expect("read");
    assert_eq!(draft().await, None);
    happen(&store, &space, vec![drafted("j")]).await;
    let text = serde_json::to_string(&definition("j")).expect("JSON");
    assert_eq!(draft().await, Some(text.clone()));
    let versions = store.journeys.versions(space.scope, id).await;
    assert_eq!(versions.expect("read"), [(1, now()), (2, now())]);
    let version = async |n| {
        let found = store.journeys.version(space.scope, id, n).await;
        found.expect("read").map(|it| (it.version, it.definition))
    };
    assert_eq!(version(2).await, Some((2, text)));
    assert_eq!(version(3).await, None);
}

async fn runs_are_found_by_where_they_are_and_whose(store: Store) {
    let space = Space::new(1);
    runs(&store, &space).await;
    let ids = |numbers: &[u8]| numbers.iter().map(|n| instance(*n)).collect::<Vec<_>>();
    let find = async |change: fn(&mut InstanceFilter, &Space)| {
        let mut filter = in_journey();
        change(&mut filter, &space);
        found(&store, &space, filter).await
    };
    assert_eq!(find(|_, _| {}).await, ids(&[5, 4, 3, 2, 1, 0]));
    let active = find(|it, _| it.status = Some(Status::Active)).await;
    assert_eq!(active, ids(&[5, 4, 2, 0]));
    let ended = find(|it, _| it.status = Some(Status::Cancelled)).await;
    assert_eq!(ended, ids(&[3]));
    let at = find(|it, _| it.node = Some("wait".into())).await;
    assert_eq!(at, ids(&[4, 3, 2, 1, 0]));
    let waiting = find(|it, _| {
        (it.node, it.status) = (Some("wait".into()), Some(Status::Active));
    });
    assert_eq!(waiting.await, ids(&[4, 2, 0]));
    let theirs = find(|it, space| it.contacts = Some(vec![space.user("v"), space.guest("x")]));
    assert_eq!(theirs.await, ids(&[5, 4]));
    let nobodys = find(|it, _| it.contacts = Some(Vec::new()));
    assert_eq!(nobodys.await, ids(&[]));
    let second = find(|it, _| it.version = Some(2)).await;
    assert_eq!(second, ids(&[5, 3, 1]));
    let other = find(|it, _| it.journey = Some(JourneyId::of_name("k"))).await;
    assert_eq!(other, ids(&[]));
    let any = find(|it, space| (it.journey, it.contacts) = (None, Some(vec![space.user("u")])));
    assert_eq!(any.await, ids(&[3, 2, 1, 0]));
}

async fn pages_of_runs_follow_each_other(store: Store) {
    let space = Space::new(1);
    runs(&store, &space).await;
    for limit in [1, 2, 4, 6] {
        let mut query = InstanceQuery {
            filter: in_journey(),
            after: None,
            limit,
        };
        let mut seen = Vec::new();
        loop {
            let page = store.journeys.instances(space.scope, &query).await;
            let page = page.expect("read");
            query.after = page.instances.last().map(|it| (it.entered_at, it.id));
            seen.extend(page.instances.iter().map(|it| it.id));
            if !page.has_more {
                break;
            }
            assert_eq!(page.instances.len(), limit);
        }
        let all: Vec<InstanceId> = (0..6).rev().map(instance).collect();
        assert_eq!(seen, all, "pages of {limit}");
    }
}

async fn a_run_comes_back_whole_with_its_path(store: Store) {
    let space = Space::new(1);
    runs(&store, &space).await;
    let run = store.journeys.instance(space.scope, instance(3)).await;
    let run = run.expect("read").expect("there");
    assert_eq!(run.contact, Some(space.user("u")));
    assert_eq!(run.key.as_deref(), Some("secret key 3"));
    assert_eq!((run.seq, run.steps, run.version), (2, 1, 2));
    assert_eq!(
        (run.status, run.ending),
        (Status::Cancelled, Some(Ending::Cancelled))
    );
    assert_eq!(
        (run.entered_at, run.ended_at),
        (seconds(1), Some(seconds(1)))
    );
    assert_eq!((run.wake, run.awaits), (None, None));
    assert_eq!(run.trigger, Some(EventId::of_message("trigger")));
    let message = MessageId::of_visit(instance(3), "wait", 1);
    assert_eq!(run.last_message, Some((message, "wait".to_owned())));
    assert_eq!(run.state.as_deref(), Some("{\"cart\":\"secret cart\"}"));
    let path = store.journeys.path(space.scope, instance(3)).await;
    let path = path.expect("read");
    assert_eq!(path.len(), 1);
    assert_eq!((path[0].seq, path[0].at), (1, seconds(1)));
    let hop = &path[0].hops[0];
    assert_eq!(
        (hop.by, hop.because[0].as_str()),
        (By::Branch(3), "secret reason")
    );
    assert_eq!(path[0].messages[0].message, message);
    let active = store.journeys.instance(space.scope, instance(0)).await;
    let active = active.expect("read").expect("there");
    assert_eq!(
        (active.wake, active.awaits.as_deref()),
        (Some(seconds(60)), Some("bought"))
    );
    let none = store.journeys.instance(space.scope, instance(9)).await;
    assert_eq!(none.expect("read"), None);
}

pub async fn counted(store: &Store, space: &Space) -> Vec<String> {
    let counts = store
        .journeys
        .counts(space.scope, JourneyId::of_name("j"))
        .await;
    let told = counts.expect("read").into_iter().map(|it| {
        let key = it.key;
        format!(
            "{} {}|{}|{} {}",
            key.version, key.node, key.way, key.target, it.times
        )
    });
    told.collect()
}

async fn ways_are_counted(store: Store) {
    let space = Space::new(1);
    runs(&store, &space).await;
    assert_eq!(
        counted(&store, &space).await,
        [
            "1 |enter|start 3",
            "1 start|branch:3|wait 3",
            "2 |enter|start 3",
            "2 start|branch:3|there 1",
            "2 start|branch:3|wait 2",
            "2 wait|cancelled| 1",
            "2 wait|exit| 1",
        ]
    );
}

async fn nothing_reaches_another_workspace(store: Store) {
    let (ours, theirs) = (Space::new(1), Space::new(2));
    runs(&store, &theirs).await;
    happen(&store, &theirs, vec![published("j", 1), drafted("j")]).await;
    let id = JourneyId::of_name("j");
    let views = &store.journeys;
    assert_eq!(views.journeys(ours.scope).await.expect("read"), []);
    assert_eq!(views.journey(ours.scope, id).await.expect("read"), None);
    assert_eq!(views.draft(ours.scope, id).await.expect("read"), None);
    assert_eq!(views.versions(ours.scope, id).await.expect("read"), []);
    assert_eq!(views.version(ours.scope, id, 1).await.expect("read"), None);
    assert_eq!(views.counts(ours.scope, id).await.expect("read"), []);
    assert_eq!(views.path(ours.scope, instance(1)).await.expect("read"), []);
    let run = views.instance(ours.scope, instance(1)).await;
    assert_eq!(run.expect("read"), None);
    assert_eq!(found(&store, &ours, in_journey()).await, []);
    assert_eq!(found(&store, &ours, InstanceFilter::default()).await, []);
}
