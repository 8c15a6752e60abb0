//! What was acknowledged, and whether a database kept it.

use std::collections::HashMap;

use kurier_core::event::Said;
use tokio::sync::watch;

use crate::harness::Database;

#[derive(Default)]
pub struct Ledger {
    acknowledged: watch::Sender<Vec<String>>,
}

impl Ledger {
    pub fn acknowledge(&self, ids: Vec<String>) {
        self.acknowledged.send_modify(|all| all.extend(ids));
    }

    pub fn len(&self) -> usize {
        self.acknowledged.borrow().len()
    }

    /// Waits until so many events were acknowledged.
    pub async fn reaches(&self, count: usize) {
        let mut all = self.acknowledged.subscribe();
        all.wait_for(|all| all.len() >= count)
            .await
            .expect("the sender is here");
    }

    /// Every acknowledged event is in the log once, positions have no gap, and the read
    /// models hold what the log says, neither less nor twice.
    pub async fn check(&self, database: &Database) -> Result<(), String> {
        let mut stored: HashMap<String, u32> = HashMap::new();
        let mut by_user: HashMap<String, i64> = HashMap::new();
        for payload in database
            .rows("SELECT payload FROM log WHERE contact IS NOT NULL")
            .await
        {
            let said: Said<'_> = serde_json::from_str(&payload).map_err(|e| e.to_string())?;
            let (message, user) = (
                said.message_id.expect("an id"),
                said.user_id.expect("a user"),
            );
            *stored.entry(message.into_owned()).or_default() += 1;
            *by_user.entry(user.into_owned()).or_default() += 1;
        }
        self.check_stored(&stored)?;
        check_positions(database).await?;
        check_contacts(database, by_user).await
    }

    fn check_stored(&self, stored: &HashMap<String, u32>) -> Result<(), String> {
        let all = self.acknowledged.borrow();
        let lost = all.iter().filter(|id| !stored.contains_key(*id)).count();
        let double = stored.values().filter(|times| **times > 1).count();
        if lost + double > 0 {
            return Err(format!(
                "{lost} of {} acknowledged lost, {double} stored twice",
                all.len()
            ));
        }
        Ok(())
    }
}

async fn check_positions(database: &Database) -> Result<(), String> {
    let sql = "SELECT count(*) AS n, min(position) AS a, max(position) AS z FROM log";
    let row = database.rows(sql).await.remove(0);
    let numbers: Vec<i64> = row
        .split('|')
        .map(|n| n.parse().expect("a number"))
        .collect();
    match numbers[..] {
        [count, 1, last] if count == last => Ok(()),
        _ => Err(format!(
            "positions have gaps: count, first and last are {row}"
        )),
    }
}

async fn check_contacts(database: &Database, by_user: HashMap<String, i64>) -> Result<(), String> {
    let mut expected: Vec<String> = by_user
        .iter()
        .map(|(user, n)| format!("{user}|{n}"))
        .collect();
    expected.sort_unstable();
    let events: i64 = by_user.values().sum();
    let sql = "SELECT user_id, event_count FROM contact WHERE standing = 'live'";
    let mut found = database.rows(sql).await;
    found.sort_unstable();
    if found != expected {
        return Err(format!("contacts are {found:?}, the log says {expected:?}"));
    }
    let timeline = database.count("SELECT count(*) FROM timeline").await;
    if timeline != events {
        return Err(format!(
            "timelines hold {timeline} events, the log {events}"
        ));
    }
    let poison = database.count("SELECT count(*) FROM poison").await;
    (poison == 0)
        .then_some(())
        .ok_or_else(|| format!("{poison} events were set aside"))
}
