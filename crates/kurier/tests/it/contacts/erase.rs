//! Erasure: what a contact said is nowhere any more, and everything else is as it was.

use serde_json::{Value, json};

use crate::harness::{Api, Database, Server, on_both, unique};

on_both![
    nothing_of_an_erased_contact_is_left,
    an_erasure_under_load_is_complete
];

const READ_MODELS: [&str; 3] = ["contact", "timeline", "erasure"];

/// Files or dumps, and logs, in which the text is found.
fn places(server: &Server, text: &str) -> Vec<String> {
    let mut all = server.database.bytes();
    all.push(("the log output".into(), server.log().into_bytes()));
    let found = all
        .into_iter()
        .filter(|(_, bytes)| contains(bytes, text.as_bytes()));
    found.map(|(place, _)| place).collect()
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

/// Twenty strings, through every path that takes one.
async fn write_canaries(api: &Api, mark: &str) {
    let c = |n: u32| format!("{mark}{n:02}");
    let anonymous = json!({"anonymousId": c(1), "name": c(2), "category": c(3), "messageId": c(4),
        "properties": {c(5): c(6), "nested": {"list": [c(7)]}}, "context": {"page": {"url": c(8)}}});
    api.send("page", anonymous.clone()).await;
    api.send("screen", anonymous).await;
    let traits = json!({"email": format!("{}@example.com", c(10)), "phone": c(11), c(12): c(13)});
    api.send(
        "identify",
        json!({"anonymousId": c(1), "userId": c(9), "traits": traits,
        "context": {"traits": {"nick": c(14)}}}),
    )
    .await;
    api.send(
        "track",
        json!({"userId": c(9), "event": c(15), "properties": {"x": c(16)}}),
    )
    .await;
    api.send(
        "group",
        json!({"userId": c(9), "groupId": c(17), "traits": {"name": c(18)}}),
    )
    .await;
    api.send(
        "track",
        json!({"userId": c(19), "event": "before the alias"}),
    )
    .await;
    api.send("alias", json!({"userId": c(9), "previousId": c(19)}))
        .await;
    // An address that was replaced long ago is still the contact's.
    let attributes = json!({"email": format!("{}-new@example.com", c(10)), "late": c(20)});
    api.upsert(&json!({"user_id": c(9), "attributes": attributes}))
        .await
        .expect(200);
    // Enough to fill, split and free pages.
    for round in 0..20 {
        let items: Vec<Value> = (0..20)
            .map(|n| {
                let user = if n % 4 == 0 { c(9) } else { format!("other-{n}") };
                let filling = "z".repeat(37 * (n + round) % 900);
                let said = if n % 4 == 0 { c(16) } else { "nothing".into() };
                json!({"type": "track", "userId": user, "event": said, "properties": {"a": filling, "b": said}})
            })
            .collect();
        api.batch(&items).await.expect(200);
    }
}

async fn read_models(database: &Database) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for table in READ_MODELS {
        let mut rows = database.rows(&format!("SELECT * FROM {table}")).await;
        rows.sort_unstable();
        all.push(rows);
    }
    all
}

async fn nothing_of_an_erased_contact_is_left(database: Database) {
    let mark = unique("canary");
    let server = Server::start(database).await;
    write_canaries(&server.api, &mark).await;
    let contact = server.api.contact(&format!("{mark}09")).await;
    let others = server.api.contact("other-1").await;
    for n in 1..=20 {
        let canary = format!("{mark}{n:02}");
        assert!(!places(&server, &canary).is_empty(), "{canary} was written");
    }
    let log = server
        .database
        .rows("SELECT position, id, kind, contact FROM log ORDER BY position")
        .await;
    let path = format!(
        "/api/v1/contacts/{}",
        contact["id"].as_str().expect("an id")
    );
    let report = server.api.delete(&path).await.expect(200).json();
    assert_eq!(report["events"], contact["event_count"]);
    assert_eq!(places(&server, &mark), Vec::<String>::new());
    server.api.get(&path).await.expect_problem(404, "not_found");
    server
        .api
        .get(&format!("{path}/events"))
        .await
        .expect_problem(404, "not_found");
    server
        .api
        .delete(&path)
        .await
        .expect_problem(404, "not_found");
    // Every event is still at its place; the erasure is the only new one.
    let after = server
        .database
        .rows("SELECT position, id, kind, contact FROM log ORDER BY position")
        .await;
    assert_eq!(after[..log.len()], log[..]);
    assert_eq!(after.len(), log.len() + 1);
    assert_eq!(server.api.contact("other-1").await, others);
    rebuild(server, &mark).await;
}

/// The read models come out of the log as they were.
async fn rebuild(server: Server, mark: &str) {
    let stopped = server.terminate().await;
    let before = read_models(&stopped.database).await;
    for table in READ_MODELS {
        stopped
            .database
            .execute(&format!("DELETE FROM {table}"))
            .await;
    }
    stopped
        .database
        .execute("DELETE FROM checkpoint WHERE name = 'contacts'")
        .await;
    let server = stopped.restart().await;
    server.api.settle().await;
    assert_eq!(read_models(&server.database).await, before);
    assert_eq!(
        server.database.count("SELECT count(*) FROM poison").await,
        0
    );
    assert_eq!(places(&server, mark), Vec::<String>::new());
}

async fn an_erasure_under_load_is_complete(database: Database) {
    let mark = unique("canary");
    let server = Server::start(database).await;
    write_canaries(&server.api, &mark).await;
    let contact = server.api.contact(&format!("{mark}09")).await;
    let api = server.api.clone();
    let (stop, mut stopped) = tokio::sync::oneshot::channel::<()>();
    let load = tokio::spawn(async move {
        while stopped.try_recv() == Err(tokio::sync::oneshot::error::TryRecvError::Empty) {
            api.send("track", json!({"userId": "other-1", "event": "meanwhile"}))
                .await;
            api.get("/api/v1/contacts?limit=500").await.expect(200);
        }
    });
    let path = format!(
        "/api/v1/contacts/{}",
        contact["id"].as_str().expect("an id")
    );
    server.api.delete(&path).await.expect(200);
    assert_eq!(places(&server, &mark), Vec::<String>::new());
    stop.send(()).expect("the load still runs");
    load.await.expect("nothing failed meanwhile");
    server.api.settle().await;
    assert_eq!(places(&server, &mark), Vec::<String>::new());
}
