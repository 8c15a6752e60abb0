//! What was decided about a contact before its erasure was known, and written behind it.

use std::time::Duration;

use kurier_core::event::{Event, Kind};
use kurier_core::id::{ContactId, InstanceId, MessageId};
use kurier_core::time::Timestamp;
use kurier_store::{Queued, Scope};
use serde_json::{Value, json};

use crate::harness::{Api, Database, Server, eventually, on_both, unique};

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

fn request(message: MessageId, mark: &str) -> Value {
    let run = InstanceId::new(Timestamp::default(), [1; 10]);
    json!({"message": message, "channel": "outbox", "template": mark, "priority": 5,
        "journey": run, "version": 1, "instance": run, "node": "mail", "inputs": {"contact.name": mark}})
}

async fn made(api: &Api, user: &str) -> ContactId {
    api.send("identify", json!({"userId": user})).await;
    let contact = api.contact(user).await;
    let id = contact["id"].as_str().expect("an id");
    id.parse().expect("an id")
}

/// Appends an erasure of this contact, and waits for it to be carried out.
async fn erase(server: &Server, scope: Scope, contact: ContactId) {
    let erasure = json!({"contacts": [contact], "addresses": []});
    let erased = said(Kind::ContactErased, contact, &erasure);
    let store = server.database.store().await;
    let appended = store.log.append(scope, vec![erased]).await;
    appended.expect("appended");
    let path = format!("/api/v1/contacts/{contact}");
    eventually("the contact is erased", LIMIT, async || {
        (server.api.get(&path).await.status == 404).then_some(())
    })
    .await;
}

/// Writes what the reactor would: requests of both, with the queue's rows, and an update of the
/// first.
async fn decide(database: &Database, scope: Scope, (ann, ben): (ContactId, ContactId), mark: &str) {
    let [late, other] = [1, 2].map(|n| MessageId::from_bytes([n; 16]));
    let update = json!({"traits": {"name": mark}, "instance": ann, "seq": 1});
    let events = vec![
        said(Kind::ContactUpdated, ann, &update),
        said(Kind::MessageRequested, ann, &request(late, mark)),
        said(Kind::MessageRequested, ben, &request(other, mark)),
    ];
    let rows = [(late, ann), (other, ben)];
    let rows = rows.map(|(message, contact)| queued(message, contact, mark.to_owned()));
    let store = database.store().await;
    let queued = store
        .queue
        .put(scope, rows.into(), Timestamp::from_micros(0))
        .await;
    queued.expect("queued");
    store.log.append(scope, events).await.expect("appended");
}

async fn what_is_decided_too_late_is_erased_as_well(database: Database) {
    let server = Server::start(database).await;
    let (api, mark) = (&server.api, unique("canary"));
    let (ann, ben) = (made(api, "ann").await, made(api, "ben").await);
    let store = server.database.store().await;
    let workspaces = store.access.workspaces().await.expect("listed");
    let scope = Scope(workspaces[0].id);
    erase(&server, scope, ann).await;
    decide(&server.database, scope, (ann, ben), &mark).await;
    // What is said of the other one stays.
    let left = format!("SELECT count(*) FROM log WHERE payload LIKE '%{mark}%'");
    let queries = [
        &left,
        "SELECT count(*) FROM queue",
        "SELECT count(*) FROM message",
    ];
    eventually("only the other is told of", LIMIT, async || {
        let mut counts = Vec::new();
        for sql in queries {
            counts.push(server.database.count(sql).await);
        }
        (counts == [1, 1, 1]).then_some(())
    })
    .await;
    let path = format!("/api/v1/contacts/{ann}");
    api.get(&path).await.expect_problem(404, "not_found");
    // Who comes back is welcome, and stays.
    let traits = json!({"name": "Ann"});
    api.send("identify", json!({"userId": "ann", "traits": traits}))
        .await;
    let back = api.contact("ann").await;
    assert_eq!(
        (&back["attributes"], &back["event_count"]),
        (&traits, &json!(1))
    );
    let erasures = "SELECT count(*) FROM log WHERE kind = 'contact.erased'";
    assert_eq!(server.database.count(erasures).await, 2);
    let poison = server.database.rows("SELECT * FROM poison").await;
    assert_eq!(poison, Vec::<String>::new());
}
