//! API keys, made and revoked beside a running server.

use std::time::Duration;

use super::on;
use crate::harness::{ADMIN_KEY, Database, Server, WRITE_KEY, eventually, on_both};

on_both![
    a_key_works_at_once_and_not_after_it_was_revoked,
    an_expired_key_is_refused,
    the_first_keys_are_shown_once,
];

async fn a_key_works_at_once_and_not_after_it_was_revoked(database: Database) {
    let server = Server::start(database).await;
    let create = ["api-key", "create", "--name", "reader", "--scopes", "read"];
    let created = on(&server.database, &create).expect(0);
    let key = created.stdout.trim().to_owned();
    assert!(
        key.starts_with("kur_"),
        "only the key is on standard output: {}",
        created.stdout
    );
    assert!(!created.stderr.contains(&key));
    let api = server.api.with_keys(&key, &key);
    api.get("/api/v1/contacts").await.expect(200);
    let list = on(&server.database, &["api-key", "list", "--json"]).expect(0);
    assert!(!list.stdout.contains(&key));
    let list = list.json();
    let listed = list
        .as_array()
        .expect("a list")
        .iter()
        .find(|key| key["name"] == "reader");
    let listed = listed.expect("it is listed");
    assert_eq!(listed["scopes"], "read");
    let id = listed["id"].as_str().expect("an id");
    let shown = on(&server.database, &["api-key", "list"]).expect(0).stdout;
    assert!(
        shown
            .lines()
            .any(|line| line.starts_with(id) && line.ends_with("active")),
        "{shown}"
    );
    on(&server.database, &["api-key", "revoke", id]).expect(0);
    eventually("the server notices", Duration::from_secs(6), async || {
        (api.get("/api/v1/contacts").await.status == 401).then_some(())
    })
    .await;
    let twice = on(&server.database, &["api-key", "revoke", id]).expect(1);
    assert!(twice.stderr.contains("there is no key"), "{}", twice.stderr);
    let shown = on(&server.database, &["api-key", "list"]).expect(0).stdout;
    assert!(
        shown
            .lines()
            .any(|line| line.starts_with(id) && line.contains("revoked 2")),
        "{shown}"
    );
    on(
        &server.database,
        &["api-key", "create", "--name", "x", "--scopes", "write"],
    )
    .expect(2);
    on(
        &server.database,
        &["api-key", "create", "--name", "x", "--scopes", ""],
    )
    .expect(1);
    let nowhere = ["api-key", "create", "--name", "x", "--workspace", "nowhere"];
    let nowhere = on(&server.database, &nowhere).expect(1);
    assert!(
        nowhere
            .stderr
            .contains("there is no workspace `nowhere`; there are: default"),
        "{}",
        nowhere.stderr
    );
}

async fn an_expired_key_is_refused(database: Database) {
    let server = Server::start(database).await;
    for (expires_at, status) in [("2099-01-01T00:00:00Z", 200), ("2020-01-01T00:00:00Z", 401)] {
        let create = [
            "api-key",
            "create",
            "--name",
            "x",
            "--scopes",
            "read",
            "--expires-at",
            expires_at,
            "--json",
        ];
        let created = on(&server.database, &create).expect(0).json();
        let key = created["key"].as_str().expect("a key");
        server
            .api
            .with_keys(key, key)
            .get("/api/v1/contacts")
            .await
            .expect(status);
    }
}

async fn the_first_keys_are_shown_once(database: Database) {
    let server = Server::start_with(database, &[]).await;
    let key = |name: &str| {
        let line = server
            .greeting
            .iter()
            .find_map(|line| line.trim().strip_prefix(name));
        line.expect("a key is shown").trim().to_owned()
    };
    let (write, admin) = (key("write key"), key("admin key"));
    let api = server.api.with_keys(&admin, &write);
    api.send("track", serde_json::json!({"userId": "u", "event": "e"}))
        .await;
    assert_eq!(api.contact("u").await["event_count"], 1);
    // Neither a restart nor other presets change or show them.
    let stopped = server.terminate().await;
    assert!(!stopped.log().contains(&write));
    let presets = [
        ("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY),
        ("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY),
    ];
    let server = Server::start_with(stopped.database, &presets).await;
    assert_eq!(server.greeting, Vec::<String>::new());
    server.api.get("/api/v1/contacts").await.expect(401);
    server
        .api
        .with_keys(&admin, &write)
        .get("/api/v1/contacts")
        .await
        .expect(200);
}
