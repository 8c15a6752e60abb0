//! Users and keys: made, changed and deleted, by API and by command.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Browser, PASSWORD, join, set_up, sign_in};
use crate::harness::server::command;
use crate::harness::{Database, Server, on_both};

on_both![
    users_are_made_changed_and_deleted,
    the_last_owner_stays,
    another_role_holds_at_once,
    keys_are_shown_once_and_revoked,
    commands_do_the_same,
    a_session_sees_its_own_workspace_only,
];

fn user(email: &str, role: &str) -> Value {
    json!({"email": email, "name": "Bob", "role": role, "password": PASSWORD})
}

async fn users_are_made_changed_and_deleted(database: Database) {
    let server = Server::start(database).await;
    let ann = set_up(&server.api).await;
    let path = "/api/v1/users";
    let bob = ann
        .send(Method::POST, path, user("bob@x.de", "viewer"))
        .await;
    let bob = bob.expect(201).json();
    assert_eq!(bob["role"], "viewer");
    let taken = ann
        .send(Method::POST, path, user("BOB@x.de", "owner"))
        .await;
    taken.expect_problem(409, "conflict");
    let faulty = ann.send(Method::POST, path, user("eve@x.de", "boss")).await;
    faulty.expect_problem(422, "bad_user");
    let signed_in = sign_in(&server.api, "bob@x.de", PASSWORD).await.expect(200);
    let browser = Browser::of(&server.api, &signed_in);
    let one = format!("{path}/{}", bob["id"].as_str().expect("an id"));
    let renamed = ann.send(Method::PUT, &one, json!({"name": "Robert"})).await;
    assert_eq!(renamed.expect(200).json()["name"], "Robert");
    browser.get("/api/v1/contacts").await.expect(200);
    let other = json!({"password": "another long password"});
    ann.send(Method::PUT, &one, other).await.expect(200);
    browser.get("/api/v1/contacts").await.expect(401);
    sign_in(&server.api, "bob@x.de", PASSWORD).await.expect(401);
    let again = sign_in(&server.api, "bob@x.de", "another long password").await;
    let browser = Browser::of(&server.api, &again.expect(200));
    ann.send(Method::DELETE, &one, json!({})).await.expect(204);
    ann.send(Method::DELETE, &one, json!({})).await.expect(404);
    browser.get("/api/v1/contacts").await.expect(401);
    let list = ann.get(path).await.expect(200).json();
    assert_eq!(list["data"].as_array().map(Vec::len), Some(1));
}

async fn the_last_owner_stays(database: Database) {
    let server = Server::start(database).await;
    let ann = set_up(&server.api).await;
    let me = ann.get("/api/v1/session").await.expect(200).json();
    let one = format!(
        "/api/v1/users/{}",
        me["user"]["id"].as_str().expect("an id")
    );
    let lower = ann.send(Method::PUT, &one, json!({"role": "editor"})).await;
    lower.expect_problem(409, "last_owner");
    let gone = ann.send(Method::DELETE, &one, json!({})).await;
    gone.expect_problem(409, "last_owner");
    join(&server.api, "owner").await;
    ann.send(Method::DELETE, &one, json!({})).await.expect(204);
}

async fn another_role_holds_at_once(database: Database) {
    let server = Server::start(database).await;
    let ann = set_up(&server.api).await;
    let bob = join(&server.api, "editor").await;
    let me = bob.get("/api/v1/session").await.expect(200).json();
    let one = format!(
        "/api/v1/users/{}",
        me["user"]["id"].as_str().expect("an id")
    );
    let segment = json!({"name": "All", "expression": "TRUE"});
    let path = "/api/v1/segments";
    bob.send(Method::POST, path, segment.clone())
        .await
        .expect(201);
    let raised = bob.send(Method::PUT, &one, json!({"role": "owner"})).await;
    raised.expect_problem(403, "forbidden");
    ann.send(Method::PUT, &one, json!({"role": "viewer"}))
        .await
        .expect(200);
    let refused = bob.send(Method::POST, path, segment).await;
    refused.expect_problem(403, "forbidden");
    bob.get(path).await.expect(200);
}

async fn keys_are_shown_once_and_revoked(database: Database) {
    let server = Server::start(database).await;
    let ann = set_up(&server.api).await;
    let path = "/api/v1/api-keys";
    let made = json!({"name": "site", "scopes": ["read"]});
    let made = ann.send(Method::POST, path, made).await.expect(201).json();
    let key = made["key"].as_str().expect("shown");
    let reader = server.api.with_keys(key, key);
    reader.get("/api/v1/contacts").await.expect(200);
    for faulty in [
        json!({"name": "", "scopes": ["read"]}),
        json!({"name": "x", "scopes": []}),
        json!({"name": "x", "scopes": ["everything"]}),
    ] {
        let refused = ann.send(Method::POST, path, faulty).await;
        refused.expect_problem(422, "bad_key");
    }
    let list = ann.get(path).await.expect(200).json();
    let listed = list["data"].as_array().expect("a list");
    let site = listed.iter().find(|it| it["name"] == "site");
    assert_eq!(site.expect("listed")["scopes"], json!(["read"]));
    assert!(listed.iter().all(|it| it.get("key").is_none()));
    let one = format!("{path}/{}", made["id"].as_str().expect("an id"));
    ann.send(Method::DELETE, &one, json!({})).await.expect(204);
    ann.send(Method::DELETE, &one, json!({})).await.expect(404);
    reader.get("/api/v1/contacts").await.expect(401);
}

fn run(database: &Database, words: &[&str]) -> std::process::Output {
    let mut command = command();
    command.arg("user").args(words).args(database.options());
    command.output().expect("it runs")
}

async fn commands_do_the_same(database: Database) {
    let server = Server::start(database).await;
    set_up(&server.api).await;
    let run = |words: &[&str]| run(&server.database, words);
    let json = |words: &[&str]| {
        let output = run(words);
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    let made = json(&["create", "--email", "Bob@x.de", "--name", "Bob", "--json"]);
    let password = made["password"].as_str().expect("shown this once");
    sign_in(&server.api, "bob@x.de", password).await.expect(200);
    let raised = json(&["set-role", "bob@x.de", "owner", "--json"]);
    assert_eq!(raised["role"], "owner");
    let other = json(&["set-password", "bob@x.de", "--json"]);
    sign_in(&server.api, "bob@x.de", password).await.expect(401);
    let other = other["password"].as_str().expect("shown this once");
    sign_in(&server.api, "bob@x.de", other).await.expect(200);
    json(&["delete", "bob@x.de", "--json"]);
    let list = json(&["list", "--json"]);
    assert_eq!(list.as_array().map(Vec::len), Some(1));
    let last = run(&["delete", "ann@example.com"]);
    let told = String::from_utf8_lossy(&last.stderr);
    assert!(
        !last.status.success() && told.contains("last owner"),
        "{told}"
    );
}

async fn a_session_sees_its_own_workspace_only(database: Database) {
    let server = Server::start(database).await;
    let ann = set_up(&server.api).await;
    let (write, admin) = server.database.found("other").await;
    let other = server.api.with_keys(&admin, &write);
    other
        .upsert(&json!({"user_id": "theirs"}))
        .await
        .expect(201);
    let list = ann.get("/api/v1/contacts").await.expect(200).json();
    assert_eq!(list["data"], json!([]));
    let users = other.get("/api/v1/users").await.expect(200).json();
    assert_eq!(users["data"], json!([]));
}
