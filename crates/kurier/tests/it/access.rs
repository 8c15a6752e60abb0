//! Who may do what: every operation against every kind of key.

mod asking;

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{ADMIN_KEY, Database, Server, WRITE_KEY, on_both};
use asking::{Ids, ask, assert_answered, of_sessions};

on_both![every_operation_asks_for_its_scope, keys_are_written_nowhere];

/// No key, an unknown one, then keys with the scopes ingest, read, admin and all of them.
type Row = (&'static str, &'static str, [u16; 6]);

const OPEN: [u16; 6] = [200; 6];
const INGEST: [u16; 6] = [401, 401, 200, 403, 403, 200];
const READ: [u16; 6] = [401, 401, 403, 200, 200, 200];

const WRITE: [u16; 6] = [401, 401, 403, 403, 200, 200];

const OFF: [u16; 6] = [401, 401, 403, 404, 404, 404];

/// There is no projection of the name that is asked for.
const NO_SUCH: [u16; 6] = [401, 401, 403, 403, 404, 404];

const TABLE: &[Row] = &[
    ("get", "/healthz", OPEN),
    ("get", "/readyz", OPEN),
    ("get", "/metrics", OPEN),
    ("post", "/v1/batch", INGEST),
    ("post", "/v1/{type}", INGEST),
    ("get", "/api/v1/contacts", READ),
    ("post", "/api/v1/contacts", [401, 401, 403, 403, 200, 200]),
    ("get", "/api/v1/contacts/{id}", READ),
    ("get", "/api/v1/contacts/{id}/events", READ),
    (
        "get",
        "/api/v1/contacts/{id}/export",
        [401, 401, 403, 403, 200, 200],
    ),
    ("get", "/api/v1/contacts/{id}/journeys", READ),
    ("post", "/api/v1/expressions/check", READ),
    ("get", "/api/v1/journeys", READ),
    // The journey of that name is there.
    ("post", "/api/v1/journeys", [401, 401, 403, 403, 409, 409]),
    ("post", "/api/v1/journeys/check", READ),
    ("get", "/api/v1/journeys/{id}", READ),
    ("put", "/api/v1/journeys/{id}", WRITE),
    ("post", "/api/v1/journeys/{id}/publish", WRITE),
    (
        "post",
        "/api/v1/journeys/{id}/trigger",
        [401, 401, 403, 403, 422, 422],
    ),
    // The last one finds that the one before has done it.
    (
        "post",
        "/api/v1/journeys/{id}/pause",
        [401, 401, 403, 403, 200, 409],
    ),
    (
        "post",
        "/api/v1/journeys/{id}/resume",
        [401, 401, 403, 403, 200, 409],
    ),
    (
        "post",
        "/api/v1/journeys/{id}/retire",
        [401, 401, 403, 403, 200, 409],
    ),
    ("get", "/api/v1/journeys/{id}/versions", READ),
    ("get", "/api/v1/journeys/{id}/versions/{version}", READ),
    ("get", "/api/v1/journeys/{id}/stats", READ),
    ("get", "/api/v1/journeys/{id}/instances", READ),
    // Who may is told that there is no such run.
    (
        "get",
        "/api/v1/instances/{id}",
        [401, 401, 403, 404, 404, 404],
    ),
    (
        "delete",
        "/api/v1/instances/{id}",
        [401, 401, 403, 403, 404, 404],
    ),
    ("get", "/api/v1/segments", READ),
    ("post", "/api/v1/segments", [401, 401, 403, 403, 201, 201]),
    ("post", "/api/v1/segments/preview", READ),
    ("get", "/api/v1/segments/{id}", READ),
    ("put", "/api/v1/segments/{id}", WRITE),
    ("get", "/api/v1/segments/{id}/members", READ),
    // Who may is told that the segment is dynamic.
    (
        "post",
        "/api/v1/segments/{id}/members",
        [401, 401, 403, 403, 409, 409],
    ),
    ("get", "/api/v1/segments/{id}/sizes", READ),
    ("get", "/api/v1/segments/{id}/explain/{contact}", READ),
    ("get", "/api/v1/suppressions", READ),
    ("post", "/api/v1/suppressions", WRITE),
    // The last one finds that the one before has done it.
    (
        "delete",
        "/api/v1/suppressions/{address}",
        [401, 401, 403, 403, 204, 404],
    ),
    // That is no token, whoever says it; those that are need no key.
    ("get", "/unsubscribe/{token}", [404; 6]),
    ("post", "/unsubscribe/{token}", [404; 6]),
    ("get", "/api/v1/templates", READ),
    ("post", "/api/v1/templates/check", READ),
    ("get", "/api/v1/templates/{name}", READ),
    ("put", "/api/v1/templates/{name}", WRITE),
    ("get", "/api/v1/templates/{name}/versions", READ),
    ("post", "/api/v1/templates/{name}/preview", READ),
    // The last one finds that the one before has done it.
    (
        "delete",
        "/api/v1/templates/{name}",
        [401, 401, 403, 403, 204, 404],
    ),
    ("get", "/api/v1/content", READ),
    ("post", "/api/v1/content", WRITE),
    // Who may is told that there is no such key.
    (
        "get",
        "/api/v1/content/{key}",
        [401, 401, 403, 404, 404, 404],
    ),
    (
        "delete",
        "/api/v1/content/{key}",
        [401, 401, 403, 403, 404, 404],
    ),
    (
        "get",
        "/api/v1/content/{key}/used-by",
        [401, 401, 403, 404, 404, 404],
    ),
    (
        "get",
        "/api/v1/content/{key}/{way}",
        [401, 401, 403, 404, 404, 404],
    ),
    ("get", "/api/v1/projections", READ),
    ("get", "/api/v1/projections/{name}", NO_SUCH),
    ("post", "/api/v1/projections/{name}/rebuild", NO_SUCH),
    ("post", "/api/v1/projections/{name}/verify", NO_SUCH),
    ("post", "/api/v1/projections/{name}/pause", NO_SUCH),
    ("post", "/api/v1/projections/{name}/resume", NO_SUCH),
    ("get", "/api/v1/counts", READ),
    ("get", "/api/v1/rejections", READ),
    ("get", "/api/v1/channel-health", READ),
    ("get", "/api/v1/audit", WRITE),
    // Bundles are off, which who may is told.
    ("get", "/bundle/{versionId}", OFF),
    ("get", "/ready/{versionId}", OFF),
    ("get", "/api/v1/versions", OFF),
    ("get", "/api/v1/versions/{versionId}", OFF),
    ("post", "/api/v1/versions/{versionId}/proof", NO_SUCH),
    ("get", "/api/v1/slack-workspaces", READ),
    (
        "post",
        "/api/v1/slack-workspaces",
        [401, 401, 403, 403, 201, 201],
    ),
    // Who may is told that there is no such one.
    (
        "get",
        "/api/v1/slack-workspaces/{id}",
        [401, 401, 403, 404, 404, 404],
    ),
    (
        "put",
        "/api/v1/slack-workspaces/{id}",
        [401, 401, 403, 403, 404, 404],
    ),
    (
        "delete",
        "/api/v1/slack-workspaces/{id}",
        [401, 401, 403, 403, 404, 404],
    ),
    // Of those who have a key, nobody is signed in.
    ("get", "/api/v1/session", [401; 6]),
    ("delete", "/api/v1/session", [401; 6]),
    ("get", "/api/v1/messages", READ),
    ("post", "/api/v1/messages", [401, 401, 403, 403, 202, 202]),
    ("get", "/api/v1/messages/counts", READ),
    ("post", "/api/v1/messages/redrive", WRITE),
    ("post", "/api/v1/messages/discard", WRITE),
    (
        "get",
        "/api/v1/messages/{id}/content",
        [401, 401, 403, 404, 404, 404],
    ),
    // There is none yet.
    (
        "get",
        "/api/v1/messages/{id}",
        [401, 401, 403, 404, 404, 404],
    ),
    (
        "get",
        "/api/v1/messages/{id}/preview",
        [401, 401, 403, 404, 404, 404],
    ),
    ("post", "/api/v1/contacts/import", WRITE),
    ("get", "/api/v1/journey-nodes", READ),
    // Who may is told that there is no definition.
    (
        "post",
        "/api/v1/journeys/simulate",
        [401, 401, 403, 400, 400, 400],
    ),
    // Who may is told that its template is gone by now.
    (
        "post",
        "/api/v1/journeys/{id}/simulate",
        [401, 401, 403, 422, 422, 422],
    ),
    ("get", "/api/v1/overview", READ),
    ("get", "/api/v1/names", READ),
    // Who may is told that there is no such journey: a stream would not end.
    ("get", "/api/v1/live", [401, 401, 403, 404, 404, 404]),
    ("get", "/api/v1/users", READ),
    ("post", "/api/v1/users", [401, 401, 403, 403, 201, 409]),
    ("put", "/api/v1/users/{id}", NO_SUCH),
    ("delete", "/api/v1/users/{id}", NO_SUCH),
    ("get", "/api/v1/api-keys", WRITE),
    ("post", "/api/v1/api-keys", [401, 401, 403, 403, 201, 201]),
    ("delete", "/api/v1/api-keys/{id}", NO_SUCH),
    // These are for whoever has no key; they want to know that JSON is meant.
    ("post", "/api/v1/session", [415; 6]),
    ("post", "/api/v1/setup", [415; 6]),
    ("put", "/api/v1/channels/{name}", WRITE),
    ("get", "/api/v1/channels", READ),
    ("get", "/api/v1/channels/{name}", READ),
    ("post", "/api/v1/channels/{name}/test", WRITE),
    (
        "delete",
        "/api/v1/channels/{name}",
        [401, 401, 403, 403, 204, 404],
    ),
    // The last one finds that the one before has done it.
    (
        "delete",
        "/api/v1/segments/{id}",
        [401, 401, 403, 403, 204, 404],
    ),
    (
        "delete",
        "/api/v1/contacts/{id}",
        [401, 401, 403, 403, 200, 404],
    ),
];

fn body(path: &str) -> Value {
    match path {
        "/api/v1/contacts/import" => json!([]),
        "/api/v1/users" => {
            json!({"email": "bob@x.de", "name": "Bob", "role": "viewer", "password": "0123456789"})
        }
        "/api/v1/users/{id}" => json!({}),
        "/api/v1/api-keys" => json!({"name": "k", "scopes": ["read"]}),
        path if path.ends_with("/simulate") => json!({}),
        "/v1/batch" => json!({"batch": [{"type": "track", "userId": "someone", "event": "e"}]}),
        "/v1/{type}" => json!({"userId": "someone", "event": "e"}),
        "/api/v1/expressions/check" | "/api/v1/segments/preview" => json!({"expression": "TRUE"}),
        "/api/v1/suppressions" => json!({"address": "someone@example.com"}),
        "/api/v1/content" => json!({"documents": []}),
        "/api/v1/messages" => json!({"channel": "outbox", "body": {"text": "hello"}}),
        "/api/v1/messages/redrive" | "/api/v1/messages/discard" => json!({"ids": []}),
        "/api/v1/channels/{name}" => json!({"kind": "outbox"}),
        "/api/v1/channels/{name}/test" => json!({"to": "a@example.com"}),
        path if path.ends_with("/trigger") => json!({"user_id": "nobody"}),
        path if path.starts_with("/api/v1/journeys") => crate::journeys::cart("Cart", "t"),
        path if path.ends_with("/preview") => json!({"data": {"x": 1}}),
        path if path.starts_with("/api/v1/templates") => json!({"name": "t", "text": "x"}),
        path if path.starts_with("/api/v1/slack-workspaces") => json!({"name": "Acme"}),
        path if path.starts_with("/api/v1/segments") => {
            json!({"name": "All", "expression": "TRUE"})
        }
        _ => json!({"user_id": "someone"}),
    }
}

fn operations(openapi: &Value) -> Vec<String> {
    let paths = openapi["paths"].as_object().expect("paths");
    let each = paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().expect("methods").keys();
        methods.map(move |method| format!("{method} {path}"))
    });
    let mut all: Vec<String> = each.collect();
    all.sort_unstable();
    all
}

async fn every_operation_asks_for_its_scope(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let openapi = api.get("/openapi.json").await.expect(200).json();
    let known = TABLE.iter();
    let mut known: Vec<String> = known
        .map(|(method, path, _)| format!("{method} {path}"))
        .collect();
    known.sort_unstable();
    assert_eq!(
        operations(&openapi),
        known,
        "every operation has its row in the table"
    );
    let mut keys = vec![None, Some("unknown-key-0123456789".to_owned())];
    for scopes in ["ingest", "read", "admin", "ingest read admin"] {
        keys.push(Some(server.database.make_key(scopes).await));
    }
    let ids = Ids::make(api).await;
    let mut browsers = Vec::new();
    for role in ["viewer", "editor", "owner"] {
        browsers.push(crate::portal::join(api, role).await);
    }
    for row in TABLE {
        let (method, path, expected) = row;
        let (address, method) = (ids.address(path), method.to_uppercase());
        let method: Method = method.parse().expect("a method");
        for (key, expected) in keys.iter().zip(*expected) {
            let mut request = api.bare(method.clone(), &address);
            if let Some(key) = key {
                request = request.bearer_auth(key);
            }
            let answer = ask(request, &method, path).await;
            assert_answered(&answer, expected, &format!("{method} {path} with {key:?}"));
        }
        // Who is signed in is told so; that is tried elsewhere.
        if *path == "/api/v1/session" {
            continue;
        }
        for (browser, expected) in browsers.iter().zip(of_sessions(row)) {
            let request = browser.request(method.clone(), &address);
            let answer = ask(request, &method, path).await;
            assert_answered(&answer, expected, &format!("{method} {path} signed in"));
        }
    }
}

async fn keys_are_written_nowhere(database: Database) {
    let variables = [
        ("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY),
        ("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY),
        ("KURIER_LOG", "debug"),
    ];
    let server = Server::start_with(database, &variables).await;
    let reader = server.database.make_key("read").await;
    let in_query = format!("/v1/track?writeKey={WRITE_KEY}");
    let body = json!({"userId": "u", "event": "e", "writeKey": WRITE_KEY});
    server
        .api
        .post(&in_query, body.to_string())
        .await
        .expect(200);
    server.api.post("/v1/batch", "nonsense").await.expect(400);
    server
        .api
        .with_keys(&reader, &reader)
        .get("/api/v1/contacts")
        .await
        .expect(200);
    server.api.settle().await;
    let metrics = server.api.get("/metrics").await.expect(200).text;
    let mut places = server.database.bytes();
    places.push(("the log output".into(), server.log().into_bytes()));
    places.push(("the metrics".into(), metrics.into_bytes()));
    for (place, bytes) in places {
        for key in [WRITE_KEY, ADMIN_KEY, &reader] {
            let found = bytes
                .windows(key.len())
                .any(|window| window == key.as_bytes());
            assert!(!found, "{key} is in {place}");
        }
    }
}
