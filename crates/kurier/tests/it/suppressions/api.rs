//! The suppression list by API.

use serde_json::{Value, json};

use super::{Guard, add, list, told};
use crate::harness::{Database, Server, on_both};

on_both![
    addresses_are_added_listed_and_removed,
    what_is_wrong_is_said_and_nothing_added,
    lists_go_on_where_they_stopped
];

async fn addresses_are_added_listed_and_removed(database: Database) {
    let server = Server::start(database).await;
    let (api, guard) = (&server.api, Guard::of(&server.database, "default").await);
    let many = json!([
        {"address": " Ann@X.de ", "reason": "complained"},
        {"address": "+49 228 1", "topic": "News"},
        {"address": "U1", "kind": "other", "topic": "*"},
        {"address": "ann@x.de"}
    ]);
    let added = add(api, &many).await.expect(200).json();
    assert_eq!(added, json!({"added": 3, "known": 1}));
    assert_eq!(guard.verdict("ann@x.de", "").await, "suppressed");
    let row = list(api, "address=ANN@x.de").await;
    let created_at = row[0]["created_at"].clone();
    assert!(created_at.is_string());
    let expected = json!([{"address": "ann@x.de", "kind": "email", "topic": null, "contact": null,
        "reason": "complained", "source": "api", "created_at": created_at}]);
    assert_eq!(json!(row), expected);
    assert_eq!(list(api, "topic=").await, row);
    assert_eq!(list(api, "topic=NEWS").await[0]["address"], "+492281");
    assert_eq!(list(api, "reason=complained").await, row);
    assert_eq!(list(api, "address=U1&kind=other").await[0]["topic"], "*");
    // Without a topic the suppression goes, and the opt-out stays.
    add(api, &json!({"address": "ann@x.de", "topic": "news"}))
        .await
        .expect(200);
    api.delete("/api/v1/suppressions/ann%40x.de")
        .await
        .expect(204);
    api.delete("/api/v1/suppressions/ann%40x.de")
        .await
        .expect_problem(404, "not_found");
    assert_eq!(guard.verdict("ann@x.de", "").await, "");
    assert_eq!(guard.verdict("ann@x.de", "news").await, "opted_out");
    api.delete("/api/v1/suppressions/%2B492281?topic=news")
        .await
        .expect(204);
    assert_eq!(guard.verdict("+492281", "news").await, "");
    assert_eq!(told(&server.database, "address.suppressed").await, 4);
    assert_eq!(told(&server.database, "address.released").await, 2);
    // No event holds an address.
    let sql = "SELECT payload FROM log WHERE kind LIKE 'address.%'";
    for payload in server.database.rows(sql).await {
        assert!(
            !payload.contains("x.de") && !payload.contains("492281"),
            "{payload}"
        );
    }
}

async fn what_is_wrong_is_said_and_nothing_added(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let long = "x".repeat(101);
    let wrong = json!([{"address": "ann@x.de"}, {"address": "ann"}, {"address": "a@x", "topic": long},
        {"address": "a@x", "reason": "because"}, {"address": "a@x", "kind": "fax"}, {"email": "a@x"}, 7]);
    let problem = add(api, &wrong)
        .await
        .expect_problem(422, "bad_suppression")
        .json();
    let pointers = problem["errors"].as_array().expect("a list").iter();
    let pointers: Vec<Value> = pointers.map(|fault| fault["pointer"].clone()).collect();
    let expected = json!(["/1/address", "/2/topic", "/3/reason", "/4/kind", "/5", "/6"]);
    assert_eq!(json!(pointers), expected);
    let many: Vec<Value> = (0..1_001)
        .map(|n| json!({"address": format!("{n}@x")}))
        .collect();
    for wrong in [json!([]), json!(many), json!({"address": "ann"})] {
        add(api, &wrong)
            .await
            .expect_problem(422, "bad_suppression");
    }
    for query in [
        "limit=0",
        "address=ann",
        "reason=x",
        "kind=x&address=a@x",
        "what=x",
    ] {
        let path = format!("/api/v1/suppressions?{query}");
        api.get(&path).await.expect_problem(400, "bad_parameter");
    }
    let foreign = api.get("/api/v1/suppressions?cursor=AAAA").await;
    foreign.expect_problem(400, "bad_cursor");
    for nobody in ["ann", "%ff", "%00@x.de"] {
        let answer = api.delete(&format!("/api/v1/suppressions/{nobody}")).await;
        answer.expect_problem(400, "bad_parameter");
    }
    assert!(list(api, "").await.is_empty());
    assert_eq!(told(&server.database, "address.suppressed").await, 0);
}

async fn lists_go_on_where_they_stopped(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let some = |n: u32| json!({"address": format!("n{n}@x.de"), "topic": format!("t{}", n % 3)});
    let many: Vec<Value> = (0..25).map(some).collect();
    add(api, &json!(many)).await.expect(200);
    let whole = list(api, "limit=500").await;
    let (mut paged, mut query) = (Vec::new(), "limit=7".to_owned());
    loop {
        let page = api.get(&format!("/api/v1/suppressions?{query}")).await;
        let page = page.expect(200).json();
        paged.extend(page["data"].as_array().expect("a list").clone());
        let Some(cursor) = page["next_cursor"].as_str() else {
            break;
        };
        query = format!("limit=7&cursor={cursor}");
    }
    assert_eq!((paged.len(), &paged), (25, &whole));
}
