//! Who is in a journey finishes on the version it began.

use serde_json::{Value, json};

use super::{cart, post, publish, runs, stats};
use crate::harness::{Database, Server, on_both};

on_both![a_thousand_finish_on_the_version_they_began];

const MANY: usize = 1_000;

fn tracks(event: &str, users: std::ops::Range<usize>) -> Vec<Value> {
    let item = |n: usize| {
        let cart = format!("c{n}");
        json!({"type": "track", "userId": format!("u{n}"), "event": event, "properties": {"cart_id": cart}})
    };
    users.map(item).collect()
}

async fn a_thousand_finish_on_the_version_they_began(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let path = publish(api, &cart("Cart", "one")).await;
    for part in tracks("cart", 0..MANY).chunks(250) {
        api.batch(part).await.expect(200);
    }
    stats(api, &path, |stats| stats["active"] == MANY).await;
    let mut second = cart("Cart", "two");
    second["nodes"][1]["next_node_id"] = json!("thanks");
    second["nodes"].as_array_mut().expect("nodes").push(json!(
        {"id": "thanks", "node_type": "send_message", "channel": "outbox", "template": "thanks", "next_node_id": "done"}));
    super::publish_templates(api, &second).await;
    let published = post(api, &format!("{path}/publish"), &second).await;
    assert_eq!(published.expect(200).json()["version"], 2);
    for part in tracks("cart", MANY..MANY + 10).chunks(250) {
        api.batch(part).await.expect(200);
    }
    stats(api, &path, |stats| stats["active"] == MANY + 10).await;
    for part in tracks("bought", 0..MANY + 10).chunks(250) {
        api.batch(part).await.expect(200);
    }
    stats(api, &path, |stats| stats["active"] == 0).await;
    let of_version = async |version: u32| {
        let path = format!("{path}/stats?version={version}");
        api.get(&path).await.expect(200).json()
    };
    let (one, two) = (of_version(1).await, of_version(2).await);
    assert_eq!(
        (&one["entered"], &one["endings"]),
        (&json!(MANY), &json!({"exit": MANY}))
    );
    assert_eq!(
        (&two["entered"], &two["endings"]),
        (&json!(10), &json!({"exit": 10}))
    );
    let thanked = |stats: &Value| {
        let nodes = stats["nodes"].as_array().expect("a list");
        nodes.iter().filter(|node| node["node"] == "thanks").count()
    };
    assert_eq!((thanked(&one), thanked(&two)), (0, 1));
    assert_eq!(runs(api, &path, "version=2").await.len(), 10);
    assert_eq!(runs(api, &path, "version=1&limit=500").await.len(), 500);
}
