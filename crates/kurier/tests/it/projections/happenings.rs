//! Something for every projection to fold.

use kurier::flow::version::Unanchored;
use kurier_core::bundle::Evidence;
use kurier_core::bundle::proof::committing_tx;
use kurier_store::Scope;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{ADMIN_KEY, Api, Database};
use crate::journeys::cart;

/// Contacts who enter a segment and a journey, messages to some of them, and all that an
/// operator makes.
pub async fn happen(api: &Api, round: usize) {
    make(api, round).await;
    let segment =
        json!({"name": format!("Round {round}"), "expression": format!("contact.round = {round}")});
    say(api, Method::POST, "/api/v1/segments", segment).await;
    let items = (0..5).map(|n| {
        let (user, email) = (format!("u{round}-{n}"), format!("u{round}-{n}@example.com"));
        json!({"type": "identify", "userId": user, "traits": {"round": round, "email": email}})
    });
    let carts = (0..2).map(|n| {
        json!({"type": "track", "userId": format!("u{round}-{n}"), "event": "cart",
            "properties": {"cart_id": format!("c{round}")}})
    });
    let items: Vec<Value> = items.chain(carts).collect();
    let body = json!({ "batch": items }).to_string();
    let _dead = api.ingest("/v1/batch", body).send().await;
    for n in 0..2 {
        let letter = json!({
            "channel": "outbox", "user_id": format!("u{round}-{n}"),
            "body": {"subject": "Hello", "text": "There"},
        });
        say(api, Method::POST, "/api/v1/messages", letter).await;
    }
}

/// What an operator makes: a template, content, a Slack workspace and a journey.
async fn make(api: &Api, round: usize) {
    let template = format!("hello-{round}");
    let path = format!("/api/v1/templates/{template}");
    let text = json!({"text": "Hello {{ contact.email }}"});
    say(api, Method::PUT, &path, text).await;
    let document =
        json!({"source": format!("{round}.md"), "markdown": "# Terms\n\nWithin 30 days.\n"});
    let documents = json!({"documents": [document]});
    say(api, Method::POST, "/api/v1/content", documents).await;
    let slack = json!({"name": format!("Acme {round}"), "category": "sales"});
    say(api, Method::POST, "/api/v1/slack-workspaces", slack).await;
    let journey = cart(&format!("Cart {round}"), &template);
    if let Some(made) = say(api, Method::POST, "/api/v1/journeys", journey).await {
        let id = made["id"].as_str().expect("an id");
        let path = format!("/api/v1/journeys/{id}/publish");
        say(api, Method::POST, &path, Value::Null).await;
    }
}

/// A server that died answers nothing; what it took is in the log.
async fn say(api: &Api, method: Method, path: &str, body: Value) -> Option<Value> {
    let request = api.bare(method, path).bearer_auth(ADMIN_KEY);
    let request = match body {
        Value::Null => request,
        body => request.json(&body),
    };
    let answer = request.send().await.ok()?;
    let status = answer.status();
    let text = answer.text().await.ok()?;
    assert!(status.is_success(), "{path}: {status} {text}");
    serde_json::from_str(&text).ok()
}

/// Erases a user.
pub async fn forget(api: &Api, user: &str) {
    let contact = api.contact(user).await;
    let id = contact["id"].as_str().expect("an id");
    let path = format!("/api/v1/contacts/{id}");
    api.delete(&path).await.expect(200);
}

/// A transaction that commits to every version there is, shown beside the server.
pub async fn prove_versions(database: &Database) {
    let store = database.store().await;
    let workspaces = store.access.workspaces().await.expect("listed");
    let scope = Scope(workspaces[0].id);
    let unanchored = Unanchored::gather(&store, scope).await.expect("gathered");
    let unanchored = unanchored.expect("something was published");
    let evidence = Evidence {
        tx: committing_tx(&unanchored.root(), 0),
        block: None,
    };
    let shown = unanchored.anchored(&store, scope, &evidence).await;
    shown.expect("told");
}
