//! A segment that begins a journey.

use serde_json::{Value, json};

use super::{cart, post, publish, tell};
use crate::harness::{Answer, Api, Database, Server, on_both};

on_both![
    a_segment_in_use_stays,
    segments_are_known_by_name_and_by_id,
    a_change_that_cannot_be_read_yet_is_answered_with_what_is_known,
];

async fn segment(api: &Api, name: &str) -> String {
    let body = json!({"name": name, "expression": "contact.plan = 'pro'"});
    let made = post(api, "/api/v1/segments", &body).await.expect(201);
    made.json()["id"].as_str().expect("an id").to_owned()
}

fn begun_by(name: &str, segment: &str) -> Value {
    json!({"name": name, "nodes": [
        {"id": "start", "node_type": "trigger", "trigger_type": "segment_entered", "segment": segment, "next_node_id": "done"},
        {"id": "done", "node_type": "exit"}]})
}

async fn a_segment_in_use_stays(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let id = segment(api, "Pros").await;
    let address = format!("/api/v1/segments/{id}");
    let path = publish(api, &begun_by("Welcome pros", "Pros")).await;
    let shown = api.get(&address).await.expect(200).json();
    let id = path.rsplit('/').next().expect("an id");
    assert_eq!(
        shown["used_by"],
        json!([{"id": id, "name": "Welcome pros"}])
    );
    let list = api.get("/api/v1/segments").await.expect(200).json();
    assert_eq!(list["data"][0], shown);
    let refused = api.delete(&address).await;
    let refused = refused.expect_problem(409, "segment_in_use").json();
    let detail = refused["detail"].as_str().expect("a text");
    assert!(detail.contains("`Welcome pros`"), "{detail}");
    // Neither who retires it nor who publishes it without is held up.
    let without = begun_by("Welcome pros", "Pros").to_string();
    let mut without: Value = serde_json::from_str(&without).expect("JSON");
    without["nodes"][0] = cart("x", "t")["nodes"][0].clone();
    without["nodes"][0]["next_node_id"] = json!("done");
    post(api, &format!("{path}/publish"), &without)
        .await
        .expect(200);
    let shown = api.get(&address).await.expect(200).json();
    assert_eq!(shown["used_by"], json!([]));
    post(
        api,
        &format!("{path}/publish"),
        &begun_by("Welcome pros", "Pros"),
    )
    .await
    .expect(200);
    api.delete(&address).await.expect(409);
    tell(api, &format!("{path}/retire")).await.expect(200);
    api.delete(&address).await.expect(204);
}

async fn segments_are_known_by_name_and_by_id(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let (first, second) = (segment(api, "Pros").await, segment(api, "Pros").await);
    let check = async |named: &str| {
        let checked = post(api, "/api/v1/journeys/check", &begun_by("x", named)).await;
        checked.expect(200).json()["ok"].clone()
    };
    assert_eq!(check("Pros").await, true);
    assert_eq!(check("Amateurs").await, false);
    assert_eq!(check(&first).await, true);
    assert_eq!(check(&second).await, true);
    publish(api, &begun_by("By id", &second)).await;
    let used = api.get(&format!("/api/v1/segments/{second}")).await;
    assert_eq!(used.expect(200).json()["used_by"][0]["name"], "By id");
    let other = api.get(&format!("/api/v1/segments/{first}")).await;
    assert_eq!(other.expect(200).json()["used_by"], json!([]));
}

async fn a_change_that_cannot_be_read_yet_is_answered_with_what_is_known(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let traits = json!({"userId": "ann", "traits": {"plan": "pro"}});
    api.send("identify", traits).await;
    let id = segment(api, "Pros").await;
    publish(api, &begun_by("Welcome pros", "Pros")).await;
    let path = format!("/api/v1/segments/{id}");
    let before = api.get(&path).await.expect(200).json();
    assert_eq!(before["size"], 1);
    // Whoever folds segments stands still: what is written now is not read soon.
    tell(api, "/api/v1/projections/segments/pause")
        .await
        .expect(200);
    let body = json!({"name": "Frees", "expression": "contact.plan = 'free'"});
    let request = api.bare(reqwest::Method::PUT, &path);
    let sent = request.bearer_auth(&api.admin_key).json(&body).send().await;
    let told = Answer::of(sent.expect("an answer")).await.expect(202);
    let told = told.json();
    for same in ["id", "size", "created_at", "used_by"] {
        assert_eq!(told[same], before[same], "{same}");
    }
    assert_eq!(told["expression"], "contact.plan = 'free'");
    assert_eq!(told["name"], "Frees");
    assert!(told["revision"].as_i64() > before["revision"].as_i64());
}
