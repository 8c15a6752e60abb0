//! Headers served by one command for another, and wallets that are asked by URL.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::Arc;

use kurier_core::bundle::proof::committing_tx;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::{Chain, LIMIT, anchor, bundle, confirmed, publish};
use crate::cli::{Output, with_variables};
use crate::harness::server::command;
use crate::harness::{ADMIN_KEY, Database, Server, WRITE_KEY, eventually};

/// `kurier headers serve`, until it is dropped.
struct Serving {
    child: Child,
    url: String,
}

impl Serving {
    fn start(chain: &Chain) -> Self {
        let file = chain.file().display().to_string();
        let mut child = command()
            .args([
                "headers",
                "serve",
                &file,
                "--listen",
                "127.0.0.1:0",
                "--json",
            ])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut line = String::new();
        let output = child.stdout.take().expect("piped");
        BufReader::new(output).read_line(&mut line).expect("a line");
        let told: Value = serde_json::from_str(&line).expect("JSON");
        let url = told["url"].as_str().expect("text").to_owned();
        Self { child, url }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("ended");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_that_are_served_are_another_servers_source() {
    let chain = Chain::of(3);
    let serving = Serving::start(&chain);
    let source = format!("{}/tip?chain=regtest", serving.url);
    let variables = [
        ("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY),
        ("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY),
        ("HEADERS_SOURCE", &source),
        ("CACHE_TTLS_JSON", "{\"headers\":1}"),
    ];
    let server = Server::start_with(Database::sqlite(), &variables).await;
    let api = &server.api;
    let id = publish(api, "hello").await;
    anchor(api, &chain, &id).await;
    let one = confirmed(api, &id, 1).await;
    assert_eq!(
        (&one["tip"]["height"], &one["unstable"]),
        (&json!(4), &json!(false))
    );
    chain.mine(&["--blocks", "2"]);
    confirmed(api, &id, 3).await;
    chain.mine(&["--fork", "2", "--blocks", "9"]);
    confirmed(api, &id, -1).await;
    // Both shapes, as others ask for them.
    let bytes = reqwest::get(format!("{}/headers?from=1&count=2", serving.url)).await;
    let bytes = bytes.expect("an answer").bytes().await.expect("bytes");
    let file = std::fs::read(chain.file()).expect("read");
    assert_eq!(bytes[..], file[80..240]);
    drop(serving);
    eventually("unstable", LIMIT, async || {
        let log = server.log();
        log.contains("headers cannot be had from a source")
            .then_some(())
    })
    .await;
}

/// A wallet that is posted a commitment and answers as it is told.
async fn wallet(answer: impl Fn(&str) -> Value + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let url = format!("http://{}/anchor", listener.local_addr().expect("bound"));
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move {
                let mut read = Vec::new();
                let given = loop {
                    let mut bytes = [0; 4_096];
                    let count = stream.read(&mut bytes).await.expect("read");
                    assert_ne!(count, 0, "it was all there");
                    read.extend(&bytes[..count]);
                    let text = String::from_utf8_lossy(&read);
                    let body = text.split("\r\n\r\n").nth(1).unwrap_or_default();
                    if let Ok(given) = serde_json::from_str::<Value>(body) {
                        break given;
                    }
                };
                let body = answer(given["root"].as_str().expect("a root")).to_string();
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all((head + &body).as_bytes()).await;
            });
        }
    });
    url
}

/// A wallet whose transactions are in no block yet.
async fn patient_wallet() -> String {
    let salt = std::sync::atomic::AtomicU64::new(0);
    wallet(move |root| {
        let salt = salt.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let tx = committing_tx(&root.parse().expect("a root"), salt);
        json!({"tx": hex::encode(tx)})
    })
    .await
}

/// `kurier bundle` beside a server, with its headers.
fn told(server: &Server, chain: &Chain, words: &[&str]) -> Output {
    let options = server.database.options();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let words = [&["bundle"], words, &options[..]].concat();
    let source = chain.source();
    with_variables(&words, &[("HEADERS_SOURCE", &source)])
}

#[tokio::test(flavor = "multi_thread")]
async fn anchor_by_url_posts_the_root_and_takes_the_answer() {
    let chain = Arc::new(Chain::of(2));
    let server = chain.serve(Database::sqlite(), None, &[]).await;
    let id = publish(&server.api, "hello").await;
    let mining = chain.clone();
    let url = wallet(move |root| mining.mine(&["--commit", root])).await;
    let done = told(&server, &chain, &["anchor", "--url", &url, "--json"]);
    let done = done.expect(0).json();
    assert_eq!(
        (&done["anchored"], &done["blockHeight"]),
        (&json!(1), &json!(3))
    );
    confirmed(&server.api, &id, 1).await;
    let again = told(&server, &chain, &["anchor", "--url", &url]).expect(0);
    assert_eq!(again.stdout, "all versions are anchored\n");
    // What the wallet answers is held against the root, as everything is.
    publish(&server.api, "other").await;
    let liar = wallet(|_| json!({"tx": hex::encode(committing_tx(&Default::default(), 1))})).await;
    let refused = told(&server, &chain, &["anchor", "--url", &liar]).expect(1);
    assert!(
        refused.stderr.contains("carries the commitment"),
        "{}",
        refused.stderr
    );
    let left = told(&server, &chain, &["anchor", "--dry-run", "--json"]).expect(0);
    assert_eq!(left.json()["versions"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proof_that_comes_later_is_shown_for_the_whole_batch() {
    let chain = Chain::of(2);
    let server = chain.serve(Database::sqlite(), None, &[]).await;
    let api = &server.api;
    let ids = [publish(api, "a").await, publish(api, "b").await];
    let url = patient_wallet().await;
    told(&server, &chain, &["anchor", "--url", &url]).expect(0);
    let third = publish(api, "c").await;
    let unmined = eventually("committed", LIMIT, async || {
        let answer = bundle(api, &ids[0]).await;
        (answer["confs"] == 0).then_some(answer)
    })
    .await;
    let tx = unmined["envelope"]["tx"]["raw"].as_str().expect("text");
    let proof = chain.folder.path().join("proof.json");
    let file = proof.display().to_string();
    // A transaction that commits to nothing of ours is refused.
    let strange = chain.mine(&["--commit", &"ab".repeat(32)]);
    std::fs::write(&proof, strange.to_string()).expect("written");
    let refused = told(&server, &chain, &["prove", "--batch", &file]).expect(1);
    assert!(
        refused.stderr.contains("no version is known"),
        "{}",
        refused.stderr
    );
    std::fs::write(&proof, chain.mine(&["--tx", tx]).to_string()).expect("written");
    let shown = told(&server, &chain, &["prove", "--batch", &file, "--json"]).expect(0);
    assert_eq!(shown.json()["versions"], 2);
    for id in &ids {
        confirmed(api, id, 1).await;
    }
    assert_eq!(bundle(api, &third).await["state"], "unmined");
}

/// Who asked not to be written to, proven by one root; with what was kept, and headers, it is
/// verified elsewhere, and not if anything in it was changed.
#[tokio::test(flavor = "multi_thread")]
async fn evidence_is_gathered_anchored_and_verified_elsewhere() {
    let chain = Arc::new(Chain::of(2));
    let server = chain.serve(Database::sqlite(), None, &[]).await;
    let api = &server.api;
    let kept = chain.folder.path().join("kept.json");
    let file = kept.display().to_string();
    let early = told(&server, &chain, &["evidence", &file]).expect(1);
    assert!(
        early.stderr.contains("nothing is known"),
        "{}",
        early.stderr
    );
    let many = json!([{"address": "ann@x.de", "reason": "complained"}, {"address": "bob@x.de"}]);
    let path = "/api/v1/suppressions";
    super::post(api, reqwest::Method::POST, path, &many)
        .await
        .expect(200);
    let made = told(&server, &chain, &["evidence", &file, "--json"])
        .expect(0)
        .json();
    assert_eq!(made["events"], 2);
    let id = made["versionId"].as_str().expect("text");
    let gathered = std::fs::read_to_string(&kept).expect("kept");
    assert!(!gathered.contains("x.de"), "nobody is given away");
    let mining = chain.clone();
    let url = wallet(move |root| mining.mine(&["--commit", root])).await;
    told(&server, &chain, &["anchor", "--url", &url]).expect(0);
    let answer = confirmed(api, id, 1).await;
    assert_eq!(answer["envelope"]["kind"], "evidence");
    let listed = api
        .get("/api/v1/versions?kind=evidence")
        .await
        .expect(200)
        .json();
    assert_eq!(listed["data"][0]["versionId"], id);
    let bundle = chain.folder.path().join("evidence.bundle");
    std::fs::write(&bundle, answer.to_string()).expect("written");
    let (bundle, headers) = (
        bundle.display().to_string(),
        chain.file().display().to_string(),
    );
    let verify = || {
        let words = [
            "bundle",
            "verify",
            &bundle,
            "--headers",
            &headers,
            "--content",
            &file,
        ];
        with_variables(&words, &[])
    };
    assert!(verify().expect(0).stdout.contains("the bundle is proven"));
    let forged = gathered.replace("address.suppressed", "address.released");
    assert_ne!(forged, gathered);
    std::fs::write(&kept, forged).expect("written");
    let found = verify().expect(1).stdout;
    assert!(found.contains("fails content"), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_is_lost_is_made_again() {
    let chain = Arc::new(Chain::of(2));
    let server = chain.serve(Database::sqlite(), None, &[]).await;
    let api = &server.api;
    let ids = [publish(api, "a").await, publish(api, "b").await];
    let url = patient_wallet().await;
    told(&server, &chain, &["anchor", "--url", &url]).expect(0);
    let waiting = told(&server, &chain, &["anchor", "--url", &url]).expect(0);
    for part in ["2 of them", "prove --batch", "anchor --again"] {
        assert!(waiting.stdout.contains(part), "{}", waiting.stdout);
    }
    let mining = chain.clone();
    let miner = wallet(move |root| mining.mine(&["--commit", root])).await;
    let again = ["anchor", "--again", "--url", &miner, "--json"];
    let done = told(&server, &chain, &again).expect(0).json();
    assert_eq!(done["anchored"], 2);
    for id in &ids {
        confirmed(api, id, 1).await;
    }
    assert_eq!(
        told(&server, &chain, &again).expect(0).json()["anchored"],
        0
    );
    // A block that was replaced may have taken its transaction along.
    chain.mine(&["--fork", "1", "--blocks", "5"]);
    confirmed(api, &ids[0], -1).await;
    let done = told(&server, &chain, &again).expect(0).json();
    assert_eq!(done["anchored"], 2);
    for id in &ids {
        confirmed(api, id, 1).await;
    }
}
