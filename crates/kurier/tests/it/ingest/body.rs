//! How bodies arrive: under any Content-Type, in any common encoding, in batches.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use serde_json::json;

use crate::harness::{Answer, Database, Server, on_both};

on_both![
    the_content_type_does_not_matter,
    every_encoding_is_understood,
    one_bad_item_does_not_fail_the_batch,
    all_bad_is_refused_with_pointers,
    limits_are_per_event_too,
];

async fn the_content_type_does_not_matter(database: Database) {
    let server = Server::start(database).await;
    let types = [
        "text/plain",
        "text/plain;charset=UTF-8",
        "application/x-www-form-urlencoded",
        "application/json; charset=utf-8",
        "application/octet-stream",
        "nonsense",
        "",
    ];
    for content_type in types {
        let body = json!({"userId": "u", "event": "e"}).to_string();
        let request = server.api.bare(reqwest::Method::POST, "/v1/track");
        let request = request.bearer_auth(&server.api.write_key).body(body);
        let request = request.header("content-type", content_type);
        Answer::of(request.send().await.expect("an answer"))
            .await
            .expect(200);
    }
    assert_eq!(server.api.contact("u").await["event_count"], types.len());
}

/// The same bytes in every encoding, by the name a client would give.
pub fn encoded(plain: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(plain).expect("written");
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
    zlib.write_all(plain).expect("written");
    let mut raw = DeflateEncoder::new(Vec::new(), Compression::default());
    raw.write_all(plain).expect("written");
    let mut brotli = Vec::new();
    let parameters = brotli::enc::BrotliEncoderParams {
        quality: 5,
        ..Default::default()
    };
    brotli::BrotliCompress(&mut &plain[..], &mut brotli, &parameters).expect("compressed");
    vec![
        ("gzip", gzip.finish().expect("finished")),
        ("deflate", zlib.finish().expect("finished")),
        ("deflate", raw.finish().expect("finished")),
        ("br", brotli),
        ("zstd", zstd::encode_all(plain, 3).expect("compressed")),
    ]
}

async fn every_encoding_is_understood(database: Database) {
    let server = Server::start(database).await;
    let body = json!({"userId": "u", "event": "e", "properties": {"text": "ä".repeat(2_000)}});
    let all = encoded(body.to_string().as_bytes());
    let count = all.len() + 1;
    for (encoding, bytes) in all
        .into_iter()
        .chain([("identity", body.to_string().into())])
    {
        let request = server
            .api
            .ingest("/v1/track", bytes)
            .header("content-encoding", encoding);
        Answer::of(request.send().await.expect("an answer"))
            .await
            .expect(200);
    }
    let contact = server.api.contact("u").await;
    let events = server.api.events(&contact).await;
    assert_eq!(events.len(), count);
    assert!(
        events
            .iter()
            .all(|event| event["properties"] == body["properties"])
    );
}

async fn one_bad_item_does_not_fail_the_batch(database: Database) {
    let server = Server::start(database).await;
    let items = [
        json!({"type": "track", "userId": "u", "event": "first"}),
        json!({"type": "track", "userId": "u"}),
        json!("not an object"),
        json!({"type": "nonsense", "userId": "u"}),
        json!({"type": "track", "userId": "u", "event": "last", "timestamp": "yesterday"}),
        json!({"type": "track", "userId": "u", "event": "last"}),
    ];
    let answer = server.api.batch(&items).await.expect(200).json();
    assert_eq!(answer["success"], true);
    let rejected = answer["rejected"].as_array().expect("a list");
    let places: Vec<_> = rejected
        .iter()
        .map(|item| {
            (
                item["index"].as_u64(),
                item["errors"][0]["pointer"].as_str(),
            )
        })
        .collect();
    let expected = [
        (Some(1), Some("/event")),
        (Some(2), Some("")),
        (Some(3), Some("/type")),
        (Some(4), Some("/timestamp")),
    ];
    assert_eq!(places, expected);
    let contact = server.api.contact("u").await;
    let events = server.api.events(&contact).await;
    let names: Vec<_> = events
        .iter()
        .filter_map(|event| event["name"].as_str())
        .collect();
    assert_eq!(names, ["last", "first"]);
    assert_eq!(
        server
            .api
            .metric(r#"kurier_ingest_events_total{result="rejected"}"#)
            .await,
        4
    );
    assert_eq!(
        server
            .api
            .metric(r#"kurier_ingest_events_total{result="accepted"}"#)
            .await,
        2
    );
}

async fn all_bad_is_refused_with_pointers(database: Database) {
    let server = Server::start(database).await;
    let items = [
        json!({"type": "track"}),
        json!({"type": "group", "userId": "u"}),
    ];
    let problem = server
        .api
        .batch(&items)
        .await
        .expect_problem(400, "bad_event")
        .json();
    let faults = problem["errors"].as_array().expect("a list");
    let pointers: Vec<_> = faults
        .iter()
        .filter_map(|fault| fault["pointer"].as_str())
        .collect();
    assert_eq!(
        pointers,
        ["/batch/0/userId", "/batch/0/event", "/batch/1/groupId"]
    );
    let single = server.api.post("/v1/alias", r#"{"anonymousId":"a"}"#).await;
    let problem = single.expect_problem(400, "bad_event").json();
    assert_eq!(problem["errors"][0]["pointer"], "/previousId");
    assert_eq!(problem["errors"][1]["pointer"], "/userId");
    // An empty batch holds nothing wrong.
    server.api.batch(&[]).await.expect(200);
}

async fn limits_are_per_event_too(database: Database) {
    let server = Server::start(database).await;
    let large = |bytes: usize| json!({"type": "track", "userId": "u", "event": "e", "properties": {"x": "x".repeat(bytes)}});
    let answer = server
        .api
        .batch(&[large(33_000), large(32_000)])
        .await
        .expect(200)
        .json();
    assert_eq!(answer["rejected"][0]["index"], 0);
    assert_eq!(answer["rejected"].as_array().map(Vec::len), Some(1));
    // 512 KB fit into a batch, a byte more does not.
    let items: Vec<_> = (0..16).map(|_| large(31_000)).collect();
    server.api.batch(&items).await.expect(200);
    let items: Vec<_> = (0..17).map(|_| large(31_000)).collect();
    server
        .api
        .batch(&items)
        .await
        .expect_problem(413, "too_large");
    assert_eq!(server.api.contact("u").await["event_count"], 17);
}
