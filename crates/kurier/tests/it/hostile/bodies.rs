//! Bodies that are too large, too clever or not what they say.

use flate2::Compression;
use flate2::write::GzEncoder;
use reqwest::Method;
use std::io::Write as _;

use crate::harness::{Answer, Database, Server, on_both};

on_both![
    bombs_are_refused,
    ten_megabytes_are_refused_and_the_client_can_read_it,
    what_is_not_json_is_refused,
    encodings_that_lie_are_refused,
];

async fn bombs_are_refused(database: Database) {
    let server = Server::start(database).await;
    let zeros = vec![b' '; 100 * 1024 * 1024];
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&zeros).expect("written");
    let once = gzip.finish().expect("finished");
    let mut bombs = vec![("gzip", once.clone())];
    // Members one after the other are one stream.
    bombs.push(("gzip", once.repeat(3)));
    bombs.push(("zstd", zstd::encode_all(&zeros[..], 1).expect("compressed")));
    let small = &zeros[..8 * 1024 * 1024];
    bombs.extend(
        crate::ingest::encoded(small)
            .into_iter()
            .filter(|(name, _)| *name != "zstd"),
    );
    for (encoding, bomb) in bombs {
        let request = server
            .api
            .ingest("/v1/batch", bomb)
            .header("content-encoding", encoding);
        let answer = Answer::of(request.send().await.expect("an answer")).await;
        answer.expect_problem(413, "too_large");
        server.api.assert_alive().await;
    }
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", server.pid())).expect("a process");
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("a peak");
    let peak: u64 = peak
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .expect("kilobytes");
    assert!(peak < 200 * 1024, "the bombs took {peak} kB");
}

async fn ten_megabytes_are_refused_and_the_client_can_read_it(database: Database) {
    let server = Server::start(database).await;
    let event = format!(
        r#"{{"userId":"u","event":"e","properties":{{"x":"{}"}}}}"#,
        "x".repeat(10 * 1024 * 1024)
    );
    for path in ["/v1/track", "/v1/batch"] {
        server
            .api
            .post(path, event.clone())
            .await
            .expect_problem(413, "too_large");
        server.api.assert_alive().await;
    }
    let request = server
        .api
        .bare(Method::POST, "/api/v1/contacts")
        .body(event);
    let response = request.bearer_auth(&server.api.admin_key).send().await;
    Answer::of(response.expect("an answer"))
        .await
        .expect_problem(413, "too_large");
    server.api.assert_alive().await;
}

async fn what_is_not_json_is_refused(database: Database) {
    let server = Server::start(database).await;
    let bodies: [&[u8]; 16] = [
        b"",
        b"   ",
        b"{",
        b"nonsense",
        b"[]",
        b"null",
        b"42",
        b"\"text\"",
        b"{\"batch\":[}",
        b"{\"batch\":[{]}",
        b"{\"batch\":{}}",
        b"{\"batch\":null}",
        b"{\"userId\":\"u\",\"event\":\"e\"} {}",
        b"{\"userId\":\"\xff\xfe\"}",
        b"\x00\x01\x02\x03",
        b"{'userId':'u'}",
    ];
    for body in bodies {
        for path in ["/v1/batch", "/v1/track"] {
            let answer = server.api.post(path, body.to_vec()).await;
            let shown = String::from_utf8_lossy(body);
            let code = answer.expect(400).json()["code"].clone();
            assert!(
                code == "bad_json" || code == "bad_event",
                "{path} {shown}: {code}"
            );
        }
    }
    server.api.assert_alive().await;
    assert_eq!(
        server
            .database
            .count("SELECT count(*) FROM log WHERE contact IS NOT NULL")
            .await,
        0
    );
}

async fn encodings_that_lie_are_refused(database: Database) {
    let server = Server::start(database).await;
    let plain = br#"{"userId":"u","event":"e"}"#;
    for encoding in ["gzip", "deflate", "br", "zstd"] {
        let request = server.api.ingest("/v1/track", plain.to_vec());
        let request = request.header("content-encoding", encoding);
        let answer = Answer::of(request.send().await.expect("an answer")).await;
        answer.expect_problem(400, "bad_encoding");
    }
    // Cut short, every encoding must notice: half a batch is no batch.
    let long: Vec<u8> = (0..20_000u32)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    for (encoding, bytes) in crate::ingest::encoded(&long) {
        let half = bytes[..bytes.len() / 2].to_vec();
        let request = server
            .api
            .ingest("/v1/track", half)
            .header("content-encoding", encoding);
        let answer = Answer::of(request.send().await.expect("an answer")).await;
        answer.expect_problem(400, "bad_encoding");
    }
    for encoding in ["lzma", "gzip, gzip", "x-nonsense"] {
        let request = server.api.ingest("/v1/track", plain.to_vec());
        let request = request.header("content-encoding", encoding);
        let answer = Answer::of(request.send().await.expect("an answer")).await;
        answer.expect_problem(415, "unknown_encoding");
    }
    server.api.assert_alive().await;
}
