//! What is only looked at: counts of days, how channels fare, acts of operators.

use serde_json::Value;

use super::{happen, prove, settled, start};
use crate::cli::on;
use crate::harness::{Database, on_both};

on_both![records_say_what_happened_and_who_did_it];

async fn records_say_what_happened_and_who_did_it(database: Database) {
    let server = start(database).await;
    happen(&server.api, 1).await;
    settled(&server.api).await;
    let data = async |path: &str| -> Vec<Value> {
        let list = server.api.get(path).await.expect(200).json();
        list["data"].as_array().expect("a list").clone()
    };
    let counts = data("/api/v1/counts").await;
    let times = |kind: &str| {
        let of = counts.iter().filter(|it| it["kind"] == kind);
        of.map(|it| it["count"].as_i64().expect("a number"))
            .sum::<i64>()
    };
    assert_eq!((times("identify"), times("segment.entered")), (5, 5));
    let sent = counts.iter().find(|it| it["kind"] == "message.sent");
    let sent = sent.expect("messages were sent");
    assert_eq!(
        (&sent["channel"], &sent["count"]),
        (&"outbox".into(), &2.into())
    );
    let health = data("/api/v1/channel-health").await;
    assert_eq!(
        (&health[0]["channel"], &health[0]["sent"]),
        (&"outbox".into(), &2.into())
    );
    let acts = data("/api/v1/audit").await;
    let made = acts.iter().find(|it| it["kind"] == "segment.created");
    let made = made.expect("a segment was made");
    assert_eq!(
        (&made["subject"], &made["operator"]),
        (&"Round 1".into(), &"admin key".into())
    );
    let create = [
        "segment",
        "create",
        "By hand",
        "--expression",
        "contact.round = 7",
    ];
    on(&server.database, &create).expect(0);
    settled(&server.api).await;
    let acts = data("/api/v1/audit?limit=1").await;
    assert_eq!(acts[0]["operator"], "command line", "{acts:?}");
    // Of who is erased the counts stay, and a rebuild counts the same.
    let id = server.api.contact("u1-0").await["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    server
        .api
        .delete(&format!("/api/v1/contacts/{id}"))
        .await
        .expect(200);
    settled(&server.api).await;
    prove(&server.database);
    assert_eq!(data("/api/v1/channel-health").await, health);
}
