//! Versions of templates, what they need, and what they become.

use serde_json::{Value, json};

use crate::harness::{Api, Database, Server, on_both};
use crate::journeys::{cart, make, post, put, send, tell};

on_both![
    versions_follow_each_other_and_the_same_again_is_none,
    a_retired_template_comes_back_as_another_version,
    faults_are_told_with_their_places,
    a_preview_is_for_a_contact_and_for_what_is_given,
    a_journey_needs_the_templates_it_names,
    a_message_takes_along_what_its_template_reads,
];

const PATH: &str = "/api/v1/templates/hello";

fn hello(text: &str) -> Value {
    json!({"subject": "Hi {{ contact.name }}", "topic": "news", "html": format!("<p>{text}</p>")})
}

async fn preview(api: &Api, body: &Value) -> Value {
    let answer = post(api, &format!("{PATH}/preview"), body).await;
    answer.expect(200).json()
}

async fn versions_follow_each_other_and_the_same_again_is_none(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let first = put(api, PATH, &hello("{{ contact.plan }}"))
        .await
        .expect(201)
        .json();
    assert_eq!(
        (&first["published"], &first["version"]),
        (&json!(true), &json!(1))
    );
    assert_eq!(
        first["template"]["reads"],
        json!(["contact.name", "contact.plan"])
    );
    assert_eq!(first["template"]["topic"], "news");
    let again = put(api, PATH, &hello("{{ contact.plan }}"))
        .await
        .expect(200)
        .json();
    assert_eq!(
        (&again["published"], &again["version"]),
        (&json!(false), &json!(1))
    );
    // The same in YAML is the same, also with its name said.
    let yaml = "html: '<p>{{ contact.plan }}</p>'\nname: hello\ntopic: news\nsubject: 'Hi {{ contact.name }}'\n";
    let same = send(
        api,
        reqwest::Method::PUT,
        PATH,
        ("application/yaml", yaml.into()),
    )
    .await;
    assert_eq!(same.expect(200).json()["published"], false);
    put(api, PATH, &hello("two")).await.expect(200);
    let versions = api
        .get(&format!("{PATH}/versions"))
        .await
        .expect(200)
        .json();
    let numbers: Vec<&Value> = versions["data"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| &it["version"])
        .collect();
    assert_eq!(numbers, [1, 2]);
    assert_eq!(
        versions["data"][0]["document"]["html"],
        "<p>{{ contact.plan }}</p>"
    );
    let shown = api.get(PATH).await.expect(200).json();
    assert_eq!(
        (&shown["version"], &shown["document"]["html"]),
        (&json!(2), &json!("<p>two</p>"))
    );
}

async fn a_retired_template_comes_back_as_another_version(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    put(api, PATH, &hello("two")).await.expect(201);
    api.delete(PATH).await.expect(204);
    assert_eq!(api.get(PATH).await.expect(200).json()["retired"], true);
    api.delete(PATH).await.expect_problem(404, "not_found");
    // The same document brings it back, as another version.
    assert_eq!(
        put(api, PATH, &hello("two")).await.expect(200).json()["version"],
        2
    );
    let list = api.get("/api/v1/templates").await.expect(200).json();
    assert_eq!(
        (&list["data"][0]["name"], &list["data"][0]["retired"]),
        (&json!("hello"), &json!(false))
    );
    api.get("/api/v1/templates/none")
        .await
        .expect_problem(404, "not_found");
}

async fn faults_are_told_with_their_places(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let faulty = json!({"subject": "{{ contct.name }}", "html": "<p>{{ contact.a | upcas }}</p>", "txt": "x"});
    let refused = put(api, PATH, &faulty)
        .await
        .expect_problem(422, "bad_template")
        .json();
    let faults = refused["faults"].as_array().expect("a list");
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert_eq!(
        (&faults[0]["field"], &faults[0]["suggestion"]),
        (&json!("txt"), &json!("did you mean text?"))
    );
    let mut faulty = faulty;
    faulty.as_object_mut().expect("an object").remove("txt");
    faulty["name"] = json!("hello");
    let checked = post(api, "/api/v1/templates/check", &faulty)
        .await
        .expect(200)
        .json();
    assert_eq!(checked["ok"], false);
    let told: Vec<_> = checked["faults"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| (&it["field"], &it["span"], &it["suggestion"]))
        .collect();
    let subject = (
        &json!("subject"),
        &json!({"start": 3, "end": 14}),
        &json!("did you mean contact?"),
    );
    let html = (
        &json!("html"),
        &json!({"start": 18, "end": 23}),
        &json!("did you mean upcase?"),
    );
    assert_eq!(told, [subject, html]);
    let good = post(
        api,
        "/api/v1/templates/check",
        &json!({"name": "x", "text": "{{ data.a }}"}),
    )
    .await;
    assert_eq!(
        good.expect(200).json(),
        json!({"ok": true, "reads": ["data.a"], "faults": []})
    );
    let renamed = put(api, PATH, &json!({"name": "other", "text": "x"})).await;
    renamed.expect_problem(422, "bad_template");
    let empty = send(
        api,
        reqwest::Method::PUT,
        PATH,
        ("application/json", String::new()),
    )
    .await;
    empty.expect_problem(400, "bad_definition");
    assert_eq!(
        api.get("/api/v1/templates").await.expect(200).json(),
        json!({"data": []})
    );
}

async fn a_preview_is_for_a_contact_and_for_what_is_given(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let traits = json!({"name": "Ann <x>", "plan": "pro"});
    api.send("identify", json!({"userId": "ann", "traits": traits}))
        .await;
    let contact = api.contact("ann").await["id"].clone();
    put(
        api,
        PATH,
        &hello("{{ contact.plan }} {{ data.n }} {{ journey.state.k }} {{ contact.none }}"),
    )
    .await
    .expect(201);
    let given = json!({"contact": contact, "data": {"n": 7}, "journey": {"state": {"k": "v"}}});
    let shown = preview(api, &given).await;
    assert_eq!(shown["subject"], "Hi Ann <x>");
    assert_eq!(shown["html"], "<p>pro 7 v </p>");
    assert_eq!(
        (&shown["text"], &shown["missing"]),
        (&json!("pro 7 v\n"), &json!(["contact.none"]))
    );
    let shown = preview(
        api,
        &json!({"user_id": "ann", "document": {"name": "new", "html": "{{ contact.name }}"}}),
    )
    .await;
    assert_eq!(shown["html"], "Ann &lt;x&gt;");
    let nobody = preview(api, &json!({})).await;
    assert_eq!(nobody["missing"].as_array().map(Vec::len), Some(5));
    let path = format!("{PATH}/preview");
    post(api, &path, &json!({"user_id": "bob"}))
        .await
        .expect_problem(404, "not_found");
    post(api, &path, &json!({"version": 9}))
        .await
        .expect_problem(404, "not_found");
    post(
        api,
        &path,
        &json!({"document": {"name": "x", "text": "{{ x }}"}}),
    )
    .await
    .expect_problem(422, "bad_template");
    let unsafe_link = json!({"data": {"l": "javascript:x"}, "document": {"name": "x", "html": "<a href=\"{{ data.l }}\">"}});
    let refused = post(api, &path, &unsafe_link)
        .await
        .expect_problem(422, "cannot_render")
        .json();
    assert_eq!(
        refused["detail"],
        "html: unsafe_link: a link begins with `javascript:`"
    );
}

async fn a_journey_needs_the_templates_it_names(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let path = make(api, &cart("Cart", "cart-reminder")).await;
    let misspelt = cart("Cart", "cart-remindr");
    let publish = format!("{path}/publish");
    let refused = post(api, &publish, &misspelt)
        .await
        .expect_problem(422, "bad_definition")
        .json();
    assert_eq!(
        refused["faults"][0]["message"],
        "there is no template `cart-remindr`; did you mean `cart-reminder`?"
    );
    tell(api, &publish).await.expect(200);
    // A retired template keeps nobody from going on, but from publishing.
    api.delete("/api/v1/templates/cart-reminder")
        .await
        .expect(204);
    let again = post(api, &publish, &cart("Cart", "cart-reminder")).await;
    again.expect_problem(422, "bad_definition");
}

async fn a_message_takes_along_what_its_template_reads(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    put(api, PATH, &hello("{{ journey.state.cart }}"))
        .await
        .expect(201);
    let definition = json!({"name": "Now", "nodes": [
        {"id": "start", "node_type": "trigger", "event_type": "cart", "state": {"cart": "event.properties.cart_id"}, "next_node_id": "mail"},
        {"id": "mail", "node_type": "send_message", "channel": "email", "template": "hello", "next_node_id": "done"},
        {"id": "done", "node_type": "exit"}]});
    let made = post(api, "/api/v1/journeys", &definition)
        .await
        .expect(201)
        .json();
    let id = made["id"].as_str().expect("an id");
    tell(api, &format!("/api/v1/journeys/{id}/publish"))
        .await
        .expect(200);
    let traits = json!({"name": "Ann", "email": "ann@example.org", "secret": "s3cr3t"});
    api.send("identify", json!({"userId": "ann", "traits": traits}))
        .await;
    crate::journeys::fill(api, "ann", "c-9").await;
    let contact = api.contact("ann").await;
    let limit = std::time::Duration::from_secs(60);
    let request = crate::harness::eventually("the message is asked for", limit, async || {
        let events = api.events(&contact).await;
        events.into_iter().find(|event| {
            event["kind"] == "message.requested" || event["type"] == "message.requested"
        })
    })
    .await;
    let said = request.to_string();
    assert!(
        said.contains(r#""inputs":{"contact":{"name":"Ann"},"journey":{"state":{"cart":"c-9"}}}"#),
        "{said}"
    );
    assert!(
        said.contains(r#""to":"ann@example.org""#) && said.contains(r#""topic":"news""#),
        "{said}"
    );
    assert!(!said.contains("s3cr3t"), "{said}");
}
