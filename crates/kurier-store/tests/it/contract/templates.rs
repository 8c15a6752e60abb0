//! Templates: by name, with all their versions.

use kurier_core::event::{Event, Kind, Position};
use kurier_core::id::TemplateId;
use kurier_core::projection::{Projection as _, Templates};
use kurier_core::template::{Compiled, Publication, Retirement, hash_of};
use kurier_core::value::Value;
use kurier_store::{Appended, Applied, Batch, Store};

use super::place::cases;
use super::space::{Space, seconds};

cases! {
    templates_are_listed_by_name_with_their_newest_version,
    every_version_is_read_back_whole,
    of_two_who_publish_a_version_the_log_takes_one,
    no_template_reaches_another_workspace,
}

/// Keys out of order, signs of both databases, and what HTML is made of.
fn document(name: &str, text: &str) -> Value {
    let json = format!(
        r#"{{"name": "{name}", "topic": "news", "html": "<p>{text} {{{{ contact.a }}}} ' \" \\ ä</p>", "description": "d"}}"#
    );
    serde_json::from_str(&json).expect("JSON")
}

fn published(name: &str, text: &str, version: u32) -> Event {
    let document = document(name, text);
    let compiled = Compiled::new(&document).expect("good");
    let publication = Publication::new(&compiled, version, document);
    Event {
        id: publication.event_id(),
        kind: Kind::TemplatePublished,
        contact: None,
        occurred_at: seconds(i64::from(version)),
        recorded_at: seconds(i64::from(version)),
        payload: serde_json::to_string(&publication).expect("JSON"),
    }
}

fn retired(name: &str) -> Event {
    let id = TemplateId::of_name(name);
    let name = name.to_owned();
    Event {
        id: kurier_core::id::EventId::of_message("retired"),
        kind: Kind::TemplateRetired,
        payload: serde_json::to_string(&Retirement { id, name }).expect("JSON"),
        ..published("x", "", 9)
    }
}

async fn fold(store: &Store) {
    let from = store
        .views
        .checkpoint(Templates.name())
        .await
        .expect("read");
    let events = store.log.read(from, 100).await.expect("read");
    let loaded = store.views.load(Templates.needs(&events)).await;
    let folded = Templates.fold(loaded.expect("loaded"), &events);
    let to = events.last().map_or(Position(0), |event| event.position);
    let batch = Batch::new(&Templates, (from, to), folded.expect("readable"));
    let applied = store.views.apply(batch).await;
    assert_eq!(applied.expect("applied"), Applied::Done);
}

async fn life(store: &Store, space: &Space) {
    let events = vec![
        published("b", "one", 1),
        published("a.c", "x", 1),
        published("B", "y", 1),
    ];
    store
        .log
        .append(space.scope, events)
        .await
        .expect("appended");
    fold(store).await;
    let events = vec![published("b", "two", 2), retired("a.c")];
    store
        .log
        .append(space.scope, events)
        .await
        .expect("appended");
    fold(store).await;
}

async fn templates_are_listed_by_name_with_their_newest_version(store: Store) {
    let space = Space::new(1);
    life(&store, &space).await;
    let all = store.templates.templates(space.scope).await.expect("read");
    let told: Vec<_> = all
        .iter()
        .map(|it| (it.name.as_str(), it.version, it.retired_at.is_some()))
        .collect();
    assert_eq!(told, [("B", 1, false), ("a.c", 1, true), ("b", 2, false)]);
    assert_eq!(all[2].topic.as_deref(), Some("news"));
    assert_eq!(all[2].reads, ["contact.a"]);
    assert_eq!(
        (all[2].created_at, all[2].changed_at),
        (seconds(1), seconds(2))
    );
}

async fn every_version_is_read_back_whole(store: Store) {
    let space = Space::new(1);
    life(&store, &space).await;
    let id = TemplateId::of_name("b");
    let versions = store
        .templates
        .template_versions(space.scope, id)
        .await
        .expect("read");
    let numbers: Vec<u32> = versions.iter().map(|it| it.version).collect();
    assert_eq!(numbers, [1, 2]);
    let first = store.templates.template_version(space.scope, id, 1).await;
    let first = first.expect("read").expect("there");
    assert_eq!(first, versions[0]);
    let read: Value = serde_json::from_str(&first.document).expect("JSON");
    assert_eq!(read, document("b", "one"));
    assert_eq!(
        (first.hash, first.published_at),
        (hash_of(&read), seconds(1))
    );
    let none = store.templates.template_version(space.scope, id, 3).await;
    assert_eq!(none.expect("read"), None);
}

async fn of_two_who_publish_a_version_the_log_takes_one(store: Store) {
    let space = Space::new(1);
    let events = vec![published("b", "one", 1), published("b", "other", 1)];
    let appended = store
        .log
        .append(space.scope, events)
        .await
        .expect("appended");
    assert!(
        matches!(appended[..], [Appended::At(_), Appended::Duplicate]),
        "{appended:?}"
    );
}

async fn no_template_reaches_another_workspace(store: Store) {
    let (ours, theirs) = (Space::new(1), Space::new(2));
    life(&store, &ours).await;
    let id = TemplateId::of_name("b");
    let templates = &store.templates;
    assert_eq!(templates.templates(theirs.scope).await.expect("read"), []);
    assert_eq!(
        templates.template(theirs.scope, id).await.expect("read"),
        None
    );
    assert_eq!(
        templates
            .template_versions(theirs.scope, id)
            .await
            .expect("read"),
        []
    );
    assert_eq!(
        templates
            .template_version(theirs.scope, id, 1)
            .await
            .expect("read"),
        None
    );
    assert!(
        templates
            .template(ours.scope, id)
            .await
            .expect("read")
            .is_some()
    );
}
