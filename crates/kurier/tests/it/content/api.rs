//! The ways through a document, as the API leads them.

use serde_json::{Value, json};

use super::{HANDBOOK, import};
use crate::harness::{Api, Database, Server, on_both};

on_both![
    ways_lead_where_they_say,
    lists_are_by_category_author_tag_and_level,
    what_cannot_be_is_refused,
];

async fn keys(api: &Api, path: &str) -> Vec<String> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let sign = if path.contains('?') { '&' } else { '?' };
        let page = format!("/api/v1/content{path}{sign}limit=2{cursor}");
        let page = api.get(&page).await.expect(200).json();
        let data = page["data"].as_array().expect("a list");
        assert!(data.len() <= 2);
        all.extend(
            data.iter()
                .map(|it| it["key"].as_str().expect("a key").to_owned()),
        );
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
    }
}

async fn ways_lead_where_they_say(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    import(api, &[("a.md", HANDBOOK)]).await;
    let document = "/doc:handbook:001";
    let sequence = keys(api, &format!("{document}/sequence")).await;
    assert_eq!(sequence.len(), 9, "{sequence:?}");
    assert_eq!(
        keys(api, &format!("{document}/descendants")).await,
        sequence
    );
    let mut walked = Vec::new();
    Box::pin(walk(api, "doc:handbook:001", &mut walked)).await;
    assert_eq!(walked[1..], sequence, "depth first");
    for key in &sequence {
        let next = keys(api, &format!("/{key}/next")).await;
        for next in &next {
            let back = keys(api, &format!("/{next}/previous")).await;
            assert_eq!(&back, std::slice::from_ref(key));
        }
        let node = api
            .get(&format!("/api/v1/content/{key}"))
            .await
            .expect(200)
            .json();
        assert_eq!(node["next"].as_str(), next.first().map(String::as_str));
        let siblings = keys(api, &format!("/{key}/siblings")).await;
        assert!(!siblings.contains(key));
        let children = keys(api, &format!("/{key}/children")).await;
        assert_eq!(node["children"], children.len());
    }
    let policy = "para:refund_policy:001";
    let children = keys(api, &format!("/{policy}/children")).await;
    assert_eq!(children.len(), 2);
    assert_eq!(
        keys(api, &format!("/{policy}/siblings")).await,
        ["para:shipping:001"]
    );
    let shown = api.get(&format!("/api/v1/content/{policy}?as=slack")).await;
    let shown = shown.expect(200).json();
    let rendered = shown["rendered"].as_str().expect("a text");
    assert!(
        rendered.contains("Money *back* within <https://x.de/r|30 days>"),
        "{rendered}"
    );
    assert_eq!(shown["path"], json!(["Orders"]));
}

/// Depth first, by the children of each.
async fn walk(api: &Api, key: &str, walked: &mut Vec<String>) {
    walked.push(key.to_owned());
    for child in keys(api, &format!("/{key}/children")).await {
        Box::pin(walk(api, &child, walked)).await;
    }
}

async fn lists_are_by_category_author_tag_and_level(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    import(
        api,
        &[("a.md", HANDBOOK), ("b.md", "# B\n\nA chunk here.\n")],
    )
    .await;
    assert_eq!(keys(api, "").await.len(), 2);
    assert_eq!(keys(api, "?category=support").await, ["doc:handbook:001"]);
    assert_eq!(keys(api, "?author=ann_b").await, ["doc:handbook:001"]);
    assert!(keys(api, "?category=other").await.is_empty());
    let money = keys(api, "?tag=money").await;
    assert_eq!(money.len(), 5, "{money:?}");
    assert!(money.iter().all(|key| key.starts_with("chunk:")));
    assert_eq!(keys(api, "?level=chunk").await.len(), 6);
    assert_eq!(keys(api, "?level=para").await.len(), 3);
    assert_eq!(keys(api, "?level=para&tag=care").await.len(), 3);
}

async fn what_cannot_be_is_refused(database: Database) {
    let server = Server::start(database).await;
    let api = &server.api;
    let post = async |query: &str, kind: &str, body: Vec<u8>| {
        let request = api.bare(reqwest::Method::POST, &format!("/api/v1/content{query}"));
        let request = request
            .bearer_auth(&api.admin_key)
            .header("content-type", kind);
        crate::harness::Answer::of(request.body(body).send().await.expect("an answer")).await
    };
    let markdown = post("?source=x.md", "text/markdown", b"# X\n".to_vec()).await;
    let markdown: Value = markdown.expect(200).json();
    assert_eq!(
        markdown["data"][0]["key"],
        "doc:short_content_nr_x:001".replace("nr_", "")
    );
    let dry = post(
        "?source=y.md&dry_run=true",
        "text/markdown",
        b"# Y\n".to_vec(),
    )
    .await;
    assert_eq!(dry.expect(200).json()["position"], Value::Null);
    assert_eq!(keys(api, "").await.len(), 1, "a dry run changes nothing");
    for (query, kind, body, code) in [
        ("", "text/markdown", &b"# X\n"[..], "bad_source"),
        (
            "?source=x.md",
            "text/markdown",
            &b"\xff"[..],
            "bad_document",
        ),
        ("", "application/json", &b"{"[..], "bad_json"),
        ("?x=1", "application/json", &b"{}"[..], "bad_parameter"),
    ] {
        post(query, kind, body.to_vec())
            .await
            .expect_problem(400, code);
    }
    let twice =
        json!({"documents": [{"source": "a", "markdown": ""}, {"source": "a", "markdown": ""}]});
    let twice = post("", "application/json", twice.to_string().into_bytes()).await;
    twice.expect_problem(422, "twice");
    api.get("/api/v1/content/none")
        .await
        .expect_problem(404, "not_found");
    api.get("/api/v1/content?level=page")
        .await
        .expect_problem(400, "bad_parameter");
    let way = api.get("/api/v1/content/ch:x:001/sideways").await;
    way.expect_problem(404, "not_found");
}
