//! Read models that can be proven: rebuilt beside the old ones, compared with the log, and the
//! same after a death between any two steps.

mod crash;
mod records;
mod seed_002;
mod verify;

use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::on;
use crate::harness::{Api, Database, eventually};

const LIMIT: Duration = Duration::from_secs(60);

/// Something for every projection to fold: contacts who enter a segment, an operator's act, a
/// message to each of them.
async fn happen(api: &Api, round: usize) {
    let name = format!("{{\"name\":\"Round {round}\",\"expression\":\"contact.round = {round}\"}}");
    post(api, "/api/v1/segments", name).await;
    let items = (0..5).map(|n| {
        let (user, email) = (format!("u{round}-{n}"), format!("u{round}-{n}@example.com"));
        json!({"type": "identify", "userId": user, "traits": {"round": round, "email": email}})
    });
    let items: Vec<Value> = items.collect();
    let body = json!({ "batch": items }).to_string();
    let _dead = api.ingest("/v1/batch", body).send().await;
    for n in 0..2 {
        let letter = json!({
            "channel": "outbox", "user_id": format!("u{round}-{n}"),
            "body": {"subject": "Hello", "text": "There"},
        });
        post(api, "/api/v1/messages", letter.to_string()).await;
    }
}

/// A server that died answers nothing; what it took is in the log.
async fn post(api: &Api, path: &str, body: String) {
    let request = api.bare(reqwest::Method::POST, path);
    let request = request.bearer_auth(crate::harness::ADMIN_KEY);
    let request = request.header("content-type", "application/json");
    if let Ok(answer) = request.body(body).send().await {
        assert!(answer.status().is_success(), "{path}: {answer:?}");
    }
}

/// Waits until nothing is left to fold, to react to and to send.
async fn settled(api: &Api) {
    eventually("everything is folded", LIMIT, async || {
        let list = api.get("/api/v1/projections").await.expect(200).json();
        let all = list["data"].as_array().expect("a list").clone();
        let ready = api.get("/readyz").await.expect(200).json();
        let queued = api
            .get("/api/v1/messages?state=queued")
            .await
            .expect(200)
            .json();
        if queued["data"] != json!([]) {
            return None;
        }
        let is_done = all.iter().all(|it| it["lag"] == 0) && ready["reactor_lag"] == 0;
        is_done.then_some(())
    })
    .await;
}

/// Every projection is what the log says, as the command says.
fn prove(database: &Database) {
    let output = on(database, &["projection", "verify"]).expect(0);
    let proven = output.stdout.matches("is what the log says").count();
    assert_eq!(
        proven,
        kurier_core::projection::ALL.len(),
        "{}",
        output.stdout
    );
}
