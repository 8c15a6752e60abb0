//! Content that goes between asking for a message and sending it.

use std::time::Duration;

use serde_json::{Value, json};

use super::{HANDBOOK, import};
use crate::channels::Sink;
use crate::channels::email::{read, settings};
use crate::cli::on;
use crate::harness::{ADMIN_KEY, Api, Database, Server, WRITE_KEY, eventually, on_both};
use crate::journeys::{post, put};

on_both![what_quotes_content_that_went_is_a_dead_letter_until_it_is_mended];

const LIMIT: Duration = Duration::from_secs(30);
const TEMPLATE: &str = "/api/v1/templates/refund";
const LOST: &str = "# Orders\n\nOrders ship within two days.\n";

fn quoting(key: &str, more: &str) -> Value {
    let quote = format!("{{{{ content('{key}') }}}}");
    json!({"subject": "Refunds", "html": format!("<p>{{{{ contact.plan }}}}{more}</p>{quote}"), "text": quote})
}

/// Whether messages go out.
async fn open(api: &Api, smtp: &Sink, is_open: bool) {
    let mut email = settings(smtp);
    email["enabled"] = json!(is_open);
    let set = put(api, "/api/v1/channels/email", &email).await;
    assert!(set.status < 300, "{}", set.text);
}

async fn in_state(api: &Api, id: &str, state: &str, tries: usize) -> Value {
    let path = format!("/api/v1/messages/{id}");
    eventually("the message comes to its end", LIMIT, async || {
        let answer = api.get(&path).await;
        let message = (answer.status == 200).then(|| answer.json())?;
        let tried = message["tries"].as_array().map_or(0, Vec::len);
        (message["state"] == state && tried == tries).then_some(message)
    })
    .await
}

async fn redrive(api: &Api) {
    let chosen = json!({"filter": {"code": "no_content"}});
    let redriven = post(api, "/api/v1/messages/redrive", &chosen).await;
    assert_eq!(redriven.expect(200).json()["messages"], 1);
}

async fn what_quotes_content_that_went_is_a_dead_letter_until_it_is_mended(database: Database) {
    let mut smtp = Sink::smtp(json!({})).await;
    let keys = [
        ("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY),
        ("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY),
        ("KURIER_OUTGOING_ALLOW", "127.0.0.0/8"),
    ];
    let server = Server::start_with(database, &keys).await;
    let api = &server.api;
    open(api, &smtp, false).await;
    import(api, &[("a.md", HANDBOOK)]).await;
    let first = quoting("para:refund_policy:001", "");
    put(api, TEMPLATE, &first).await.expect(201);
    let asked = json!({"channel": "email", "to": "ann@example.net", "template": "refund"});
    let asked = post(api, "/api/v1/messages", &asked)
        .await
        .expect(202)
        .json();
    let id = asked["id"].as_str().expect("an id").to_owned();
    import(api, &[("a.md", LOST)]).await;
    open(api, &smtp, true).await;

    let dead = in_state(api, &id, "failed", 1).await;
    let detail = dead["tries"][0]["detail"].as_str().expect("a detail");
    let place = "template `refund`, version 1, html: `para:refund_policy:001` is gone since 20";
    assert!(detail.starts_with(place), "{detail}");
    assert!(
        detail.ends_with("import 2 took it away, by admin key"),
        "{detail}"
    );
    let causes = on(&server.database, &["dead", "list", "--causes"]).expect(0);
    assert!(causes.stdout.contains("no_content"), "{}", causes.stdout);
    redrive(api).await;
    in_state(api, &id, "failed", 2).await;

    // It is there again, as something new: the key that is gone stays gone.
    let back = import(api, &[("a.md", HANDBOOK)]).await.remove(0);
    let new = back["new"].as_array().expect("keys");
    assert!(new.contains(&json!("para:refund_policy:002")), "{back}");
    redrive(api).await;
    in_state(api, &id, "failed", 3).await;
    // What a newer version reads beside was never gathered for this message.
    let more = quoting("para:refund_policy:002", "{{ contact.first_name }}");
    put(api, TEMPLATE, &more).await.expect(200);
    redrive(api).await;
    in_state(api, &id, "failed", 4).await;
    let mended = quoting("para:refund_policy:002", "");
    put(api, TEMPLATE, &mended).await.expect(200);
    redrive(api).await;
    in_state(api, &id, "sent", 5).await;
    let mail = read(&smtp.next("mail").await, "", &[]).to_string();
    assert!(mail.contains("Money <strong>back</strong>"), "{mail}");
    assert_eq!(smtp.rest("mail").await, 0, "nothing went before");
}
