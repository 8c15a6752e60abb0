//! One contact by command, without a server and beside one.

use serde_json::json;

use super::on;
use crate::harness::{Database, Server, on_both, unique};

on_both![a_contact_is_shown_exported_and_erased];

#[track_caller]
fn assert_gone(database: &Database, mark: &str) {
    for (place, bytes) in database.bytes() {
        let found = bytes
            .windows(mark.len())
            .any(|window| window == mark.as_bytes());
        assert!(!found, "{place}");
    }
}

async fn a_contact_is_shown_exported_and_erased(database: Database) {
    let mark = unique("canary");
    let server = Server::start(database).await;
    server
        .api
        .send("identify", json!({"userId": "u", "traits": {"name": mark}}))
        .await;
    server
        .api
        .send("track", json!({"userId": "u", "event": "e"}))
        .await;
    let contact = server.api.contact("u").await;
    let id = contact["id"].as_str().expect("an id").to_owned();
    let export = server
        .api
        .get(&format!("/api/v1/contacts/{id}/export"))
        .await
        .expect(200)
        .json();
    // Beside the server, and without it: the same.
    assert_eq!(
        on(&server.database, &["contact", "show", "--id", &id])
            .expect(0)
            .json(),
        contact
    );
    let stopped = server.terminate().await;
    let database = &stopped.database;
    assert_eq!(
        on(database, &["contact", "show", "--user-id", "u"])
            .expect(0)
            .json(),
        contact
    );
    assert_eq!(
        on(database, &["contact", "export", "--user-id", "u"])
            .expect(0)
            .json(),
        export
    );
    let nobody = on(database, &["contact", "show", "--user-id", "nobody"]).expect(1);
    assert_eq!(nobody.stderr, "kurier: there is no such contact\n");
    on(database, &["contact", "show"]).expect(2);
    on(database, &["contact", "show", "--id", "nonsense"]).expect(2);
    let erased = on(database, &["contact", "erase", "--user-id", "u"]).expect(0);
    assert_eq!(
        erased.stdout,
        "erased 1 contact(s) and the content of 2 event(s)\n"
    );
    on(database, &["contact", "erase", "--user-id", "u"]).expect(1);
    assert_gone(database, &mark);
    // Beside a server, too.
    let server = stopped.restart().await;
    server
        .api
        .send("identify", json!({"userId": "v", "traits": {"name": mark}}))
        .await;
    server.api.contact("v").await;
    on(&server.database, &["contact", "erase", "--user-id", "v"]).expect(0);
    let list = server.api.get("/api/v1/contacts").await.expect(200).json();
    assert_eq!(list["data"], json!([]));
    assert_gone(&server.database, &mark);
}
