//! Runs as they are seen while they go on.

use serde_json::{Value, json};

use super::{buy, cart, fill, post, publish, runs, stats, tell};
use crate::harness::{Api, Database, Server, eventually, on_both};

on_both![
    who_enters_is_seen_until_the_end,
    runs_are_listed_by_node_status_and_contact,
    a_timeout_sends_and_every_verdict_is_explained,
    a_paused_journey_holds_everyone,
    a_program_sends_a_contact_in_and_takes_it_out,
    runs_follow_a_guest_who_becomes_a_user,
];

async fn entered(api: &Api, path: &str, count: i64) -> Value {
    stats(api, path, |stats| stats["entered"] == count).await
}

fn node<'a>(stats: &'a Value, id: &str) -> &'a Value {
    let nodes = stats["nodes"].as_array().expect("a list");
    let found = nodes.iter().find(|node| node["node"] == id);
    found.unwrap_or_else(|| panic!("nobody came to {id}: {stats}"))
}

async fn who_enters_is_seen_until_the_end(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let path = publish(api, &cart("Cart", "t")).await;
    fill(api, "ann", "c1").await;
    fill(api, "ann", "c2").await;
    let before = entered(api, &path, 2).await;
    assert_eq!(
        (&before["active"], &node(&before, "wait")["at"]),
        (&json!(2), &json!(2))
    );
    let waiting = runs(api, &path, "").await;
    assert_eq!(
        (&waiting[0]["key"], &waiting[1]["key"]),
        (&json!("c2"), &json!("c1"))
    );
    assert_eq!(
        (&waiting[0]["node"], &waiting[0]["awaits"]),
        (&json!("wait"), &json!("bought"))
    );
    assert!(waiting[0]["wake"].is_string(), "{}", waiting[0]);
    buy(api, "ann", "c1").await;
    let after = stats(api, &path, |stats| stats["active"] == 1).await;
    assert_eq!(after["endings"], json!({"exit": 1}));
    let wait = node(&after, "wait");
    assert_eq!(
        (&wait["entered"], &wait["at"], &wait["left"]),
        (&json!(2), &json!(1), &json!(1))
    );
    let met = json!({"node": "wait", "by": "met", "to": "done", "count": 1});
    assert!(
        after["edges"].as_array().expect("a list").contains(&met),
        "{after}"
    );
    let ended = runs(api, &path, "status=completed").await;
    assert_eq!((ended.len(), &ended[0]["key"]), (1, &json!("c1")));
    let id = ended[0]["id"].as_str().expect("an id");
    let run = api
        .get(&format!("/api/v1/instances/{id}"))
        .await
        .expect(200)
        .json();
    assert_eq!(
        (&run["ending"], &run["node"]),
        (&json!("exit"), &json!("done"))
    );
    let path: Vec<String> = run["path"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|hop| format!("{} -{}> {}", hop["node"], hop["by"], hop["to"]).replace('"', ""))
        .collect();
    assert_eq!(path, ["start -next> wait", "wait -met> done"]);
    assert_eq!(
        (&run["state"]["cart"], &run["state"]["step_count"]),
        (&json!("c1"), &json!(2))
    );
    assert_eq!((&run["omitted"], &run["messages"]), (&json!(0), &json!([])));
    api.delete(&format!("/api/v1/instances/{id}"))
        .await
        .expect_problem(409, "ended");
    // After a crash it is all there.
    let server = server.kill9().await.restart().await;
    let again = server.api.get(&format!("/api/v1/instances/{id}")).await;
    assert_eq!(again.expect(200).json(), run);
}

async fn runs_are_listed_by_node_status_and_contact(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let path = publish(api, &cart("Cart", "t")).await;
    for user in ["ann", "bob", "cleo"] {
        fill(api, user, user).await;
    }
    entered(api, &path, 3).await;
    buy(api, "bob", "bob").await;
    stats(api, &path, |stats| stats["active"] == 2).await;
    let keys = async |query: &str| {
        let runs = runs(api, &path, query).await;
        let keys: Vec<String> = runs.iter().map(|run| run["key"].to_string()).collect();
        keys.join(" ").replace('"', "")
    };
    assert_eq!(keys("").await, "cleo bob ann");
    assert_eq!(keys("node=wait").await, "cleo ann");
    assert_eq!(keys("node=done&status=completed").await, "bob");
    assert_eq!(keys("status=active&version=1").await, "cleo ann");
    assert_eq!(keys("version=2").await, "");
    let ann = api.contact("ann").await["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert_eq!(keys(&format!("contact={ann}")).await, "ann");
    let of_ann = api.get(&format!("/api/v1/contacts/{ann}/journeys")).await;
    let of_ann = of_ann.expect(200).json();
    assert_eq!(
        of_ann["data"],
        json!(runs(api, &path, &format!("contact={ann}")).await)
    );
    let ended = format!("/api/v1/contacts/{ann}/journeys?status=completed");
    assert_eq!(api.get(&ended).await.expect(200).json()["data"], json!([]));
    // Pages follow each other.
    let mut seen = Vec::new();
    let mut query = "limit=1".to_owned();
    loop {
        let page = api
            .get(&format!("{path}/instances?{query}"))
            .await
            .expect(200)
            .json();
        seen.push(page["data"][0]["key"].clone());
        match page["next_cursor"].as_str() {
            Some(cursor) => query = format!("limit=1&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(seen, ["cleo", "bob", "ann"]);
    // What became of her stands in her timeline.
    let events = api
        .get(&format!(
            "/api/v1/contacts/{ann}/events?type=journey.entered"
        ))
        .await;
    let events = events.expect(200).json();
    assert_eq!(events["data"][0]["properties"]["key"], "ann");
}

async fn a_timeout_sends_and_every_verdict_is_explained(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let mut definition = cart("Cart", "reminder");
    definition["nodes"][1]["timeout"] = json!("1s");
    definition["nodes"][1]["timeout_node_id"] = json!("pro");
    definition["nodes"].as_array_mut().expect("nodes").push(json!(
        {"id": "pro", "node_type": "condition", "condition": "contact.plan = 'pro'", "true_node_id": "mail", "false_node_id": "done"}));
    let path = publish(api, &definition).await;
    api.send(
        "identify",
        json!({"userId": "ann", "traits": {"plan": "pro"}}),
    )
    .await;
    fill(api, "ann", "c1").await;
    stats(api, &path, |stats| stats["endings"]["exit"] == 1).await;
    let id = runs(api, &path, "").await[0]["id"].clone();
    let address = format!("/api/v1/instances/{}", id.as_str().expect("an id"));
    let run = api.get(&address).await.expect(200).json();
    let pro = &run["path"][2];
    assert_eq!(
        (&pro["node"], &pro["by"], &pro["to"]),
        (&json!("pro"), &json!("true"), &json!("mail"))
    );
    let because = pro["because"][0].as_str().expect("a reason");
    assert_eq!(
        because,
        "contact.plan = 'pro' is TRUE: contact.plan is 'pro'"
    );
    assert_eq!(run["messages"][0]["node"], "mail");
    assert_eq!(run["state"]["last_message_channel"], "outbox");
    assert_eq!(run["state"]["last_message_id"], run["messages"][0]["id"]);
}

async fn a_paused_journey_holds_everyone(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let path = publish(api, &cart("Cart", "t")).await;
    fill(api, "ann", "c1").await;
    entered(api, &path, 1).await;
    tell(api, &format!("{path}/pause")).await.expect(200);
    fill(api, "bob", "c2").await;
    buy(api, "ann", "c1").await;
    let held = eventually("she is held", super::LIMIT, async || {
        let run = runs(api, &path, "").await.remove(0);
        (run["held"] == true).then_some(run)
    });
    assert_eq!(held.await["node"], "done");
    let trigger = post(api, &format!("{path}/trigger"), &json!({"user_id": "bob"})).await;
    trigger.expect_problem(409, "bad_standing");
    tell(api, &format!("{path}/resume")).await.expect(200);
    let after = stats(api, &path, |stats| stats["endings"]["exit"] == 1).await;
    assert_eq!(after["entered"], 1, "who came meanwhile did not enter");
}

async fn a_program_sends_a_contact_in_and_takes_it_out(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let path = publish(api, &cart("Cart", "t")).await;
    // Accepted a moment ago, and known already.
    api.send("identify", json!({"userId": "ann"})).await;
    let body = json!({"userId": "ann", "key": "k", "state": {"cart": "c9", "nul": "\u{0}"}});
    let trigger = async || post(api, &format!("{path}/trigger"), &body).await;
    let sent = trigger().await.expect(201).json();
    assert_eq!(sent["entered"], true);
    let again = trigger().await.expect(200).json();
    assert_eq!(again["entered"], false, "the policy is to skip");
    let address = format!(
        "/api/v1/instances/{}",
        sent["instance"].as_str().expect("an id")
    );
    let run = api.get(&address).await.expect(200).json();
    assert_eq!(
        (&run["key"], &run["state"]["cart"]),
        (&json!("k"), &json!("c9"))
    );
    assert_eq!(run["state"]["nul"], "\u{fffd}");
    let gone = api.delete(&address).await.expect(200).json();
    assert_eq!(
        (&gone["status"], &gone["ending"]),
        (&json!("cancelled"), &json!("cancelled"))
    );
    api.delete(&address).await.expect_problem(409, "ended");
    let after = stats(api, &path, |stats| stats["active"] == 0).await;
    assert_eq!(after["endings"], json!({"cancelled": 1}));
    trigger().await.expect(201);
}

async fn runs_follow_a_guest_who_becomes_a_user(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let path = publish(api, &cart("Cart", "t")).await;
    let guest = json!({"anonymousId": "guest", "event": "cart", "properties": {"cart_id": "c1"}});
    api.send("track", guest).await;
    entered(api, &path, 1).await;
    api.send("identify", json!({"userId": "ann", "anonymousId": "guest"}))
        .await;
    let ann = api.contact("ann").await["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let of_ann = format!("/api/v1/contacts/{ann}/journeys");
    let list = api.get(&of_ann).await.expect(200).json();
    assert_eq!(list["data"][0]["key"], "c1");
    buy(api, "ann", "c1").await;
    stats(api, &path, |stats| stats["active"] == 0).await;
    let list = api.get(&of_ann).await.expect(200).json();
    assert_eq!(
        (&list["data"][0]["contact"], &list["data"][0]["ending"]),
        (&json!(ann), &json!("exit"))
    );
}
