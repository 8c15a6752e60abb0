//! Versions: made by publishing, never changed; and how a journey stands.

use serde_json::{Value, json};

use super::{cart, make, post, publish, publish_templates, tell};
use crate::harness::{Api, Database, Server, on_both};

on_both![
    versions_follow_each_other_and_never_change,
    the_same_again_is_no_version,
    of_many_publishers_each_version_has_one,
    a_journey_is_paused_resumed_and_retired,
    only_a_known_contact_is_sent_into_an_active_journey,
    what_is_asked_wrongly_is_refused,
];

async fn versions(api: &Api, path: &str) -> Vec<Value> {
    let list = api
        .get(&format!("{path}/versions"))
        .await
        .expect(200)
        .json();
    let list = list["data"].as_array().expect("a list").iter();
    list.map(|version| version["version"].clone()).collect()
}

async fn versions_follow_each_other_and_never_change(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    for template in ["two", "three"] {
        publish_templates(api, &cart("Cart", template)).await;
    }
    let path = publish(api, &cart("Cart", "one")).await;
    let shown = api.get(&path).await.expect(200).json();
    assert_eq!(
        (&shown["standing"], &shown["version"], &shown["draft"]),
        (&json!("active"), &json!(1), &json!(null))
    );
    assert_eq!(shown["definition"], cart("Cart", "one"));
    super::put(api, &path, &cart("Cart", "two"))
        .await
        .expect(200);
    let first = api.get(&format!("{path}/versions/1")).await.expect(200);
    assert_eq!(first.json()["definition"], cart("Cart", "one"));
    let answer = tell(api, &format!("{path}/publish"))
        .await
        .expect(200)
        .json();
    assert_eq!(
        (&answer["published"], &answer["version"]),
        (&json!(true), &json!(2))
    );
    assert_eq!(answer["journey"]["version"], 2);
    // A definition in the body goes before the draft.
    let third = post(api, &format!("{path}/publish"), &cart("Cart", "three")).await;
    assert_eq!(third.expect(200).json()["version"], 3);
    assert_eq!(versions(api, &path).await, [1, 2, 3]);
    for (version, template) in [(1, "one"), (2, "two"), (3, "three")] {
        let kept = api.get(&format!("{path}/versions/{version}")).await;
        assert_eq!(
            kept.expect(200).json()["definition"],
            cart("Cart", template)
        );
    }
    for version in ["4", "0", "x"] {
        let none = api.get(&format!("{path}/versions/{version}")).await;
        none.expect_problem(404, "not_found");
    }
    let renamed = post(api, &format!("{path}/publish"), &cart("Other", "t")).await;
    renamed.expect_problem(422, "bad_definition");
}

async fn the_same_again_is_no_version(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let path = publish(api, &cart("Cart", "one")).await;
    let again = [
        post(api, &format!("{path}/publish"), &cart("Cart", "one")).await,
        tell(api, &format!("{path}/publish")).await,
    ];
    for answer in again {
        let answer = answer.expect(200).json();
        assert_eq!(
            (&answer["published"], &answer["version"]),
            (&json!(false), &json!(1))
        );
    }
    assert_eq!(versions(api, &path).await, [1]);
}

async fn of_many_publishers_each_version_has_one(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    for n in 0..8 {
        publish_templates(api, &cart("Cart", &n.to_string())).await;
    }
    let path = make(api, &cart("Cart", "draft")).await;
    let asking: Vec<_> = (0..8)
        .map(|n| {
            let (api, path) = (api.clone(), format!("{path}/publish"));
            let definition = cart("Cart", &n.to_string());
            tokio::spawn(async move { post(&api, &path, &definition).await })
        })
        .collect();
    let (mut won, mut lost) = (Vec::new(), 0);
    for asked in asking {
        let answer = asked.await.expect("answered");
        match answer.status {
            200 => won.push(answer.json()["version"].as_u64().expect("a number")),
            _ => {
                answer.expect_problem(409, "overtaken");
                lost += 1;
            }
        }
    }
    won.sort_unstable();
    let expected: Vec<u64> = (1..=won.len() as u64).collect();
    assert_eq!(won, expected, "each version once, {lost} lost");
    assert_eq!(versions(api, &path).await.len(), won.len());
}

async fn a_journey_is_paused_resumed_and_retired(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let path = make(api, &cart("Cart", "one")).await;
    let turn = async |how: &str| tell(api, &format!("{path}/{how}")).await;
    for how in ["pause", "resume", "retire"] {
        turn(how).await.expect_problem(409, "bad_standing");
    }
    turn("publish").await.expect(200);
    turn("resume").await.expect_problem(409, "bad_standing");
    for (how, standing) in [
        ("pause", "paused"),
        ("resume", "active"),
        ("pause", "paused"),
    ] {
        assert_eq!(turn(how).await.expect(200).json()["standing"], standing);
    }
    turn("pause").await.expect_problem(409, "bad_standing");
    // A version of a paused journey is published, and stays paused.
    publish_templates(api, &cart("Cart", "two")).await;
    let second = post(api, &format!("{path}/publish"), &cart("Cart", "two")).await;
    assert_eq!(second.expect(200).json()["journey"]["standing"], "paused");
    assert_eq!(
        turn("retire").await.expect(200).json()["standing"],
        "retired"
    );
    turn("retire").await.expect_problem(409, "bad_standing");
    // Publishing brings it back, also with what it was.
    let back = turn("publish").await.expect(200).json();
    assert_eq!(
        (&back["version"], &back["journey"]["standing"]),
        (&json!(3), &json!("active"))
    );
}

async fn only_a_known_contact_is_sent_into_an_active_journey(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let path = make(api, &cart("Cart", "one")).await;
    api.send("identify", json!({"userId": "ann"})).await;
    let trigger = async |body: Value| post(api, &format!("{path}/trigger"), &body).await;
    let refused = trigger(json!({"user_id": "ann"})).await;
    refused.expect_problem(409, "bad_standing");
    tell(api, &format!("{path}/publish")).await.expect(200);
    for (body, pointer) in [
        (json!({"user_id": "bob"}), "/user_id"),
        (json!({"contact": "nonsense"}), "/contact"),
        (
            json!({"contact": "7c9e6679-7425-80de-944b-e07fc1f90ae7"}),
            "/contact",
        ),
        (json!({}), ""),
        (json!({"contact": "x", "userId": "ann"}), ""),
        (
            json!({"userId": "ann", "state": {"step_count": 1}}),
            "/state/step_count",
        ),
        (json!({"userId": "ann", "key": "x".repeat(1_001)}), "/key"),
    ] {
        let refused = trigger(body).await.expect_problem(422, "bad_trigger");
        assert_eq!(refused.json()["errors"][0]["pointer"], pointer);
    }
    trigger(json!({"user": "ann"}))
        .await
        .expect_problem(400, "bad_json");
}

async fn what_is_asked_wrongly_is_refused(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let path = publish(api, &cart("Cart", "one")).await;
    for query in [
        "status=lost",
        "limit=0",
        "limit=501",
        "version=x",
        "colour=red",
    ] {
        let refused = api.get(&format!("{path}/instances?{query}")).await;
        refused.expect_problem(400, "bad_parameter");
    }
    let refused = api.get(&format!("{path}/instances?cursor=x")).await;
    refused.expect_problem(400, "bad_cursor");
    let nobodys = api.get(&format!("{path}/instances?contact=x")).await;
    nobodys.expect_problem(404, "not_found");
    let none = api
        .get(&format!("{path}/instances?node=%00&status=active"))
        .await;
    assert_eq!(none.expect(200).json()["data"], json!([]));
    let stats = api.get(&format!("{path}/stats?version=x")).await;
    stats.expect_problem(400, "bad_parameter");
    for id in ["nonsense", "7c9e6679-7425-80de-944b-e07fc1f90ae7"] {
        let path = format!("/api/v1/instances/{id}");
        api.get(&path).await.expect_problem(404, "not_found");
        api.delete(&path).await.expect_problem(404, "not_found");
        let contact = api.get(&format!("/api/v1/contacts/{id}/journeys")).await;
        contact.expect_problem(404, "not_found");
    }
}
