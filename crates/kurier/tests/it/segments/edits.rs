//! A segment that is edited has other members, at once and ever after.

use kurier_core::event::Kind;
use reqwest::Method;
use serde_json::json;

use super::members::crossings;
use super::{LIMIT, define, members};
use crate::harness::{Answer, Api, Database, Server, eventually, on_both};

on_both![
    an_edited_expression_is_computed_anew,
    a_faulty_edit_leaves_the_members_alone,
];

async fn put(api: &Api, segment: &str, expression: &str) -> Answer {
    let body = json!({"name": "Edited", "expression": expression});
    let request = api.bare(Method::PUT, &format!("/api/v1/segments/{segment}"));
    let request = request.bearer_auth(&api.admin_key).json(&body);
    Answer::of(request.send().await.expect("an answer")).await
}

async fn identify(api: &Api, user: &str, plan: &str) -> String {
    let traits = json!({"userId": user, "traits": {"plan": plan}});
    api.send("identify", traits).await;
    let id = api.contact(user).await["id"].clone();
    id.as_str().expect("an id").to_owned()
}

async fn an_edited_expression_is_computed_anew(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let ann = identify(api, "ann", "pro").await;
    let bob = identify(api, "bob", "free").await;
    let segment = define(api, "contact.plan = 'pro'").await;
    assert_eq!(members(api, &segment).await, std::slice::from_ref(&ann));
    let edited = put(api, &segment, "contact.plan = 'free'").await;
    let edited = edited.expect(200).json();
    assert_eq!(edited["expression"], "contact.plan = 'free'");
    assert_eq!(edited["size"], 1);
    assert_eq!(members(api, &segment).await, [bob]);
    let told = crossings(&server).await;
    assert_eq!(told[0], Kind::SegmentEntered);
    assert_eq!(told.len(), 3, "ann goes and bob comes: {told:?}");
    assert_ne!(told[1], told[2]);
    // The new expression is what is followed, also after a crash.
    let server = server.kill9().await.restart().await;
    let api = &server.api;
    identify(api, "ann", "free").await;
    identify(api, "bob", "pro").await;
    eventually("ann is back and bob is gone", LIMIT, async || {
        (members(api, &segment).await == [ann.clone()]).then_some(())
    })
    .await;
}

async fn a_faulty_edit_leaves_the_members_alone(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let ann = identify(api, "ann", "pro").await;
    let segment = define(api, "contact.plan = 'pro'").await;
    let refused = put(api, &segment, "contact.plan = ").await;
    refused.expect_problem(422, "bad_segment");
    assert_eq!(members(api, &segment).await, [ann]);
}
