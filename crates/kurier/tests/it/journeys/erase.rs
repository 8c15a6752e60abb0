//! Of who is erased no journey tells.

use serde_json::json;

use super::{buy, cart, fill, publish, runs, stats};
use crate::harness::{Database, Server, on_both};

on_both![of_who_is_erased_only_counts_stay];

const MARK: &str = "5ecret-0f-ann";

async fn of_who_is_erased_only_counts_stay(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let mut definition = cart("Cart", "t");
    definition["nodes"][0]["next_node_id"] = json!("who");
    definition["nodes"].as_array_mut().expect("nodes").push(json!(
        {"id": "who", "node_type": "condition", "condition": "contact.word = 'x'", "true_node_id": "wait", "false_node_id": "wait"}));
    let path = publish(api, &definition).await;
    api.send(
        "identify",
        json!({"userId": "ann", "traits": {"word": MARK}}),
    )
    .await;
    fill(api, "ann", &format!("{MARK}-1")).await;
    fill(api, "ann", &format!("{MARK}-2")).await;
    fill(api, "bob", "c3").await;
    stats(api, &path, |stats| stats["entered"] == 3).await;
    buy(api, "ann", &format!("{MARK}-1")).await;
    stats(api, &path, |stats| stats["active"] == 2).await;
    let told = format!("{:?}", runs(api, &path, "").await);
    assert!(told.contains(MARK), "{told}");
    let ids: Vec<String> = runs(api, &path, "")
        .await
        .iter()
        .map(|run| run["id"].as_str().expect("an id").to_owned())
        .collect();
    let ann = api.contact("ann").await["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let erased = api
        .delete(&format!("/api/v1/contacts/{ann}"))
        .await
        .expect(200);
    assert_eq!(erased.json()["done"], true);
    let left = runs(api, &path, "").await;
    assert_eq!((left.len(), &left[0]["key"]), (1, &json!("c3")));
    for id in &ids[1..] {
        let gone = api.get(&format!("/api/v1/instances/{id}")).await;
        gone.expect_problem(404, "not_found");
    }
    let counted = stats(api, &path, |stats| stats["active"] == 1).await;
    assert_eq!(counted["endings"], json!({"erased": 1, "exit": 1}));
    assert_eq!(counted["entered"], 3);
    for (place, bytes) in server.database.bytes() {
        let found = bytes
            .windows(MARK.len())
            .any(|window| window == MARK.as_bytes());
        assert!(!found, "{place} still tells of her");
    }
    // That her run ended for it says nothing of her: the erasure is told once.
    let erasures = "SELECT count(*) FROM log WHERE kind = 'contact.erased'";
    assert_eq!(server.database.count(erasures).await, 1);
}
