//! An answer of 200 means durable: through kill -9, a full disk and an orderly end.

mod crash;
mod disk_full;
mod journeys;
mod ledger;
mod terminate;

use std::sync::Arc;

use ledger::Ledger;
use serde_json::json;

use crate::harness::{Answer, Api, unique};

const BATCH: usize = 20;
/// No disk here is so large, no server lives so long.
const BATCHES_MAX: usize = 5_000;
const USERS: u64 = 23;

/// Posts batches until one is not accepted; answers what was answered to that, if anything.
/// What is acknowledged goes into the ledger. The padding cannot be compressed.
async fn load(api: Api, ledger: Arc<Ledger>, padding: usize) -> Option<Answer> {
    let padding: String = (0..padding / 16).map(|_| unique("")).collect();
    for _ in 0..BATCHES_MAX {
        let ids: Vec<String> = (0..BATCH).map(|_| unique("m-")).collect();
        let items = ids.iter().map(|id| {
            let user = id.bytes().map(u64::from).sum::<u64>() % USERS;
            json!({"type": "track", "messageId": id, "userId": format!("u{user}"), "event": "e",
                   "properties": {"padding": padding}})
        });
        let body = json!({"batch": items.collect::<Vec<_>>()}).to_string();
        let Ok(response) = api.ingest("/v1/batch", body).send().await else {
            return None;
        };
        // The status alone is the promise: the body may be lost with the server.
        if response.status() == 200 {
            ledger.acknowledge(ids);
        } else {
            return Some(Answer::of(response).await);
        }
    }
    panic!("{BATCHES_MAX} batches were accepted and nothing ended it")
}
