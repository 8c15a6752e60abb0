//! What the log tells of crossings, and whether it is told once.

use std::collections::BTreeMap;

use super::{EXPRESSIONS, LIMIT, members, preview};
use crate::harness::{Api, Database, eventually};

/// Per segment and contact, crossings alternate and begin with entering. Answers who is in.
pub async fn audit(database: &Database) -> Result<BTreeMap<String, Vec<String>>, String> {
    let sql = "SELECT kind, contact, payload FROM log \
               WHERE kind IN ('segment.entered', 'segment.left') ORDER BY position";
    let mut inside: BTreeMap<(String, String), bool> = BTreeMap::new();
    for row in database.rows(sql).await {
        let (kind, rest) = row.split_once('|').expect("three cells");
        let (contact, payload) = rest.split_once('|').expect("three cells");
        let payload: serde_json::Value = serde_json::from_str(payload).expect("JSON");
        let segment = payload["segment"].as_str().expect("an id").to_owned();
        let entered = kind == "segment.entered";
        let was = inside.insert((segment, contact.to_owned()), entered);
        if was.unwrap_or(false) == entered {
            return Err(format!("told twice: {row}"));
        }
    }
    let mut by_segment: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for ((segment, contact), _) in inside.into_iter().filter(|(_, is_in)| *is_in) {
        by_segment.entry(segment).or_default().push(contact);
    }
    Ok(by_segment)
}

/// Members are those of a fresh scan, and those the log tells of; windows move meanwhile, so
/// this may take a few looks.
pub async fn agree(api: &Api, database: &Database, segments: &[String]) {
    for (segment, expression) in segments.iter().zip(EXPRESSIONS) {
        eventually(expression, LIMIT, async || {
            let found = members(api, segment).await;
            let told = audit(database).await.expect("told once").remove(segment);
            let is_same =
                found == preview(api, expression).await && found == told.unwrap_or_default();
            is_same.then_some(())
        })
        .await;
    }
}
