//! Content from outside: imported, addressed, quoted, lost and found again.

mod api;
mod bare;
mod commands;
mod crash;
mod in_process;
mod keyspace;
mod large;
mod lost;
mod messages;
mod reimport;
mod templates;
mod torn;

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};

use crate::cli::on;
use crate::harness::{Answer, Api, Database};

const HANDBOOK: &str = "---\ntitle: Handbook\ncategory: Support\nauthor: Ann B\ntags: [money, care]\n---\n\
# Orders\n\nOrders ship within two days.\n\n## Refund policy\n\nMoney **back** within [30 days](https://x.de/r).\n\n\
No questions asked, ever.\n\n## Shipping\n\nWe ship with care.\n\n# Contact\n\nWrite to us at any time.\n";

/// Imports documents; answers what became of each.
async fn import(api: &Api, documents: &[(&str, &str)]) -> Vec<Value> {
    let answer = try_import(api, documents).await.expect(200).json();
    answer["data"].as_array().expect("a list").clone()
}

async fn try_import(api: &Api, documents: &[(&str, &str)]) -> Answer {
    let documents: Vec<Value> = documents
        .iter()
        .map(|(source, markdown)| json!({"source": source, "markdown": markdown}))
        .collect();
    let request = api.bare(Method::POST, "/api/v1/content");
    let request = request.bearer_auth(&api.admin_key);
    let request = request.json(&json!({ "documents": documents }));
    Answer::of(request.send().await.expect("an answer")).await
}

/// What stands at every documented key, by the command line.
fn export(database: &Database) -> BTreeMap<String, Value> {
    let lines = on(database, &["content", "export", "--json"])
        .expect(0)
        .stdout;
    let mut all = BTreeMap::new();
    for line in lines.lines() {
        let entry: Value = serde_json::from_str(line).expect("JSON");
        let key = entry["key"].as_str().expect("a key").to_owned();
        // Documents share sets: each adds its own.
        let kept: &mut Value = all.entry(key).or_default();
        match (kept["value"].as_array_mut(), entry["value"].as_array()) {
            (Some(kept), Some(more)) => kept.extend(more.iter().cloned()),
            _ => *kept = entry,
        }
    }
    all
}

/// The keys of nodes by their own text.
fn keys_by_text(export: &BTreeMap<String, Value>) -> BTreeMap<String, String> {
    let hashes = export.iter().filter(|(_, entry)| entry["kind"] == "hash");
    let texts = hashes.map(|(key, entry)| {
        let fields = entry["value"].as_array().expect("fields");
        let text = fields.iter().find(|field| field[0] == "text");
        let text = text.and_then(|field| field[1].as_str()).expect("a text");
        (text.to_owned(), key.clone())
    });
    texts.collect()
}

async fn log_length(database: &Database) -> i64 {
    database.count("SELECT count(*) FROM log").await
}
