//! What people do is for the log of events, not for the log of the program.

use serde_json::json;

use crate::harness::{Database, Server, on_both};

on_both![what_events_say_is_not_logged];

const WRITE_KEY: &str = "write-key-of-unlogged";
const ADMIN_KEY: &str = "admin-key-of-unlogged";

async fn what_events_say_is_not_logged(database: Database) {
    let variables = [
        ("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY),
        ("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY),
        ("KURIER_LOG", "debug"),
    ];
    let server = Server::start_with(database, &variables).await;
    let api = server.api.with_keys(WRITE_KEY, ADMIN_KEY);
    let body = json!({"userId": "u", "event": "e", "properties": {"note": "swordfish-41c9"}});
    for _ in 0..3 {
        let sent = api.post("/v1/track", body.to_string()).await;
        sent.expect(200);
    }
    api.settle().await;
    assert!(!server.log().contains("swordfish-41c9"));
}
