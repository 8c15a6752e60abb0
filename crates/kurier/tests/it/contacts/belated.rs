//! What was decided about a contact before its erasure was known, and written behind it.

use std::time::Duration;

use kurier_core::event::{Event, Kind};
use kurier_core::id::{ContactId, InstanceId, MessageId};
use kurier_core::time::Timestamp;
use kurier_store::{Queued, Scope};
use serde_json::{Value, json};

use crate::harness::{Database, Server, eventually, on_both, unique};

on_both![what_is_decided_too_late_is_erased_as_well];

const LIMIT: Duration = Duration::from_secs(60);

fn said(kind: Kind, contact: ContactId, payload: &Value) -> Event {
    let now = kurier::clock::now();
    Event {
        id: kurier::clock::fresh_event_id(),
        kind,
        contact: Some(contact),
        occurred_at: now,
        recorded_at: now,
        payload: payload.to_string(),
    }
}

/// A queue's row that is due in a hundred years: whoever takes it is no channel.
fn queued(message: MessageId, contact: ContactId, payload: String) -> Queued {
    let now = kurier::clock::now();
    Queued {
        id: message,
        contact: Some(contact),
        channel: "outbox".into(),
        priority: 5,
        due_at: now.shifted(100 * 365 * 24 * 3_600 * 1_000_000),
        payload,
    }
}

async fn what_is_decided_too_late_is_erased_as_well(database: Database) {
    let server = Server::start(database).await;
    let (api, mark) = (&server.api, unique("canary"));
    api.send("identify", json!({"userId": "ann"})).await;
    api.send("identify", json!({"userId": "ben"})).await;
    let id = |contact: Value| {
        contact["id"]
            .as_str()
            .expect("an id")
            .parse()
            .expect("an id")
    };
    let ann: ContactId = id(api.contact("ann").await);
    let ben: ContactId = id(api.contact("ben").await);
    let instance = InstanceId::new(Timestamp::default(), [1; 10]);
    let request = |message: MessageId| {
        json!({"message": message, "channel": "outbox", "template": mark, "priority": 5,
            "journey": instance, "version": 1, "instance": instance, "node": "mail", "inputs": {"contact.name": mark}})
    };
    let (late, other) = (
        MessageId::from_bytes([1; 16]),
        MessageId::from_bytes([2; 16]),
    );
    let erased = said(
        Kind::ContactErased,
        ann,
        &json!({"contacts": [ann], "addresses": []}),
    );
    let updated = json!({"traits": {"name": mark}, "instance": instance, "seq": 1});
    let events = vec![
        said(Kind::ContactUpdated, ann, &updated),
        said(Kind::MessageRequested, ann, &request(late)),
        said(Kind::MessageRequested, ben, &request(other)),
    ];
    let store = server.database.store().await;
    let workspaces = store.access.workspaces().await.expect("listed");
    let scope = Scope(workspaces[0].id);
    store
        .log
        .append(scope, vec![erased])
        .await
        .expect("appended");
    let path = format!("/api/v1/contacts/{ann}");
    eventually("ann is erased", LIMIT, async || {
        (api.get(&path).await.status == 404).then_some(())
    })
    .await;
    // As the reactor does it: the queue's rows with what is told.
    let rows = [(late, ann), (other, ben)];
    let rows = rows.map(|(message, contact)| queued(message, contact, mark.clone()));
    store.queue.put(scope, rows.into()).await.expect("queued");
    store.log.append(scope, events).await.expect("appended");
    // What is said of the other one stays.
    let left = format!("SELECT count(*) FROM log WHERE payload LIKE '%{mark}%'");
    let rows = ["SELECT count(*) FROM queue", "SELECT count(*) FROM message"];
    eventually("only the other is told of", LIMIT, async || {
        let mut counts = vec![server.database.count(&left).await];
        for sql in rows {
            counts.push(server.database.count(sql).await);
        }
        (counts == [1, 1, 1]).then_some(())
    })
    .await;
    api.get(&path).await.expect_problem(404, "not_found");
    // Who comes back is welcome, and stays.
    api.send(
        "identify",
        json!({"userId": "ann", "traits": {"name": "Ann"}}),
    )
    .await;
    let back = api.contact("ann").await;
    assert_eq!(
        (&back["attributes"]["name"], &back["event_count"]),
        (&json!("Ann"), &json!(1))
    );
    let erasures = "SELECT count(*) FROM log WHERE kind = 'contact.erased'";
    assert_eq!(server.database.count(erasures).await, 2);
    let poison = server.database.rows("SELECT * FROM poison").await;
    assert_eq!(poison, Vec::<String>::new());
}
