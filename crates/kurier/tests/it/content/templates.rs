//! Templates and journeys that quote content: what they quote must be there.

use serde_json::json;

use super::{HANDBOOK, import};
use crate::cli::on;
use crate::harness::{Api, Database, Server, on_both};
use crate::journeys::{cart, post, put, tell};

on_both![
    what_a_template_quotes_must_be_there,
    a_journey_cannot_send_what_is_gone,
    what_is_shown_is_the_content_of_now,
];

const PATH: &str = "/api/v1/templates/refund";
const QUOTE: &str = "Hi, {{ content(\"para:refund_policy:001\") }}";

async fn what_a_template_quotes_must_be_there(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let refused = put(api, PATH, &json!({ "text": QUOTE })).await;
    let problem = refused.expect_problem(422, "bad_template").json();
    let fault = &problem["faults"][0];
    assert_eq!(
        fault["message"],
        "there is no content `para:refund_policy:001`"
    );
    let start = usize::try_from(fault["span"]["start"].as_u64().expect("a place")).expect("small");
    let end = usize::try_from(fault["span"]["end"].as_u64().expect("a place")).expect("small");
    assert_eq!(&QUOTE[start..end], "\"para:refund_policy:001\"", "{fault}");
    import(api, &[("a.md", HANDBOOK)]).await;
    let published = put(api, PATH, &json!({ "text": QUOTE }))
        .await
        .expect(201)
        .json();
    assert_eq!(
        published["template"]["reads"],
        json!(["content.para:refund_policy:001"])
    );
    import(api, &[("a.md", "# Orders\n")]).await;
    let refused = put(api, PATH, &json!({ "text": format!("{QUOTE}!") })).await;
    let problem = refused.expect_problem(422, "bad_template").json();
    let said = problem["faults"][0]["message"]
        .as_str()
        .expect("a text")
        .to_owned();
    assert!(
        said.contains("is gone since") && said.contains("import 2"),
        "{said}"
    );
    let checked = post(
        api,
        "/api/v1/templates/check",
        &json!({"name": "x", "text": QUOTE}),
    )
    .await;
    assert_eq!(checked.expect(200).json()["ok"], false);
}

async fn used_by(api: &Api) -> serde_json::Value {
    let used = api
        .get("/api/v1/content/para:refund_policy:001/used-by")
        .await;
    used.expect(200).json()
}

async fn a_journey_cannot_send_what_is_gone(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    import(api, &[("a.md", HANDBOOK)]).await;
    put(api, PATH, &json!({ "text": QUOTE })).await.expect(201);
    assert_eq!(
        used_by(api).await,
        json!({"templates": ["refund"], "journeys": []})
    );
    let made = post(api, "/api/v1/journeys", &cart("Refunds", "refund")).await;
    let id = made.expect(201).json()["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let publish = format!("/api/v1/journeys/{id}/publish");
    tell(api, &publish).await.expect(200);
    assert_eq!(
        used_by(api).await,
        json!({"templates": ["refund"], "journeys": ["Refunds"]})
    );
    let words = ["content", "show", "para:refund_policy:001", "--used-by"];
    let told = on(&server.database, &words).expect(0).stdout;
    assert_eq!(told, "template refund\njourney Refunds\n");
    import(api, &[("a.md", "# Orders\n")]).await;
    let mut changed = cart("Refunds", "refund");
    changed["nodes"][2]["priority"] = json!(7);
    put(api, &format!("/api/v1/journeys/{id}"), &changed)
        .await
        .expect(200);
    let refused = tell(api, &publish).await;
    let problem = refused.expect_problem(422, "bad_definition").json();
    let fault = &problem["faults"][0];
    assert_eq!(
        (&fault["node"], &fault["field"]),
        (&json!("mail"), &json!("template"))
    );
    let said = fault["message"].as_str().expect("a text");
    assert!(
        said.contains("`para:refund_policy:001` is gone since"),
        "{said}"
    );
}

async fn what_is_shown_is_the_content_of_now(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    import(api, &[("a.md", HANDBOOK)]).await;
    put(api, PATH, &json!({ "text": QUOTE })).await.expect(201);
    let preview = async |channel: &str| {
        let body = json!({ "channel": channel });
        let answer = post(api, &format!("{PATH}/preview"), &body).await;
        answer.expect(200).json()["text"]
            .as_str()
            .expect("a text")
            .to_owned()
    };
    assert!(
        preview("email")
            .await
            .contains("Money back within 30 days (https://x.de/r).")
    );
    assert!(
        preview("slack")
            .await
            .contains("Money *back* within <https://x.de/r|30 days>.")
    );
    import(api, &[("a.md", &HANDBOOK.replace("**back**", "returned"))]).await;
    assert!(
        preview("email")
            .await
            .contains("Money returned within 30 days")
    );
    import(api, &[("a.md", "# Orders\n")]).await;
    let answer = post(api, &format!("{PATH}/preview"), &json!({})).await;
    let detail = answer.expect_problem(422, "cannot_render").json()["detail"].clone();
    let detail = detail.as_str().expect("a text");
    let gone = "text: no_content: `para:refund_policy:001` is gone since 20";
    assert!(detail.starts_with(gone), "{detail}");
    assert!(detail.contains("import 3 took it away"), "{detail}");
    let shown = on(&server.database, &["template", "preview", "refund"]).expect(1);
    assert!(shown.stderr.contains(gone), "{}", shown.stderr);
}
