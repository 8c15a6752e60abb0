//! Two processes on one database: one leads, and when it is gone or asleep the other does.

use std::time::{Duration, Instant};

use serde_json::json;

use super::books::audit;
use super::{EAGER, LIMIT, define, members};
use crate::harness::{Api, Database, Server, eventually};

const PROS: &str = "contact.plan = 'pro'";
const TAKEN_OVER: Duration = Duration::from_secs(10);

/// Two servers, and a segment with one member; the first leads.
async fn pair() -> (Server, Server, String) {
    let database = Database::postgres().await;
    let beside = database.beside();
    let first = Server::start_with(database, &EAGER).await;
    eventually("the first leads", LIMIT, async || {
        first.log().contains("reacting to the log").then_some(())
    })
    .await;
    let second = Server::start_with(beside, &EAGER).await;
    let segment = define(&first.api, PROS).await;
    pro(&first.api, "before").await;
    has_members(&second.api, &segment, 1).await;
    (first, second, segment)
}

async fn pro(api: &Api, user: &str) {
    let traits = json!({"userId": user, "traits": {"plan": "pro"}});
    api.send("identify", traits).await;
}

async fn has_members(api: &Api, segment: &str, count: usize) {
    eventually("members follow", LIMIT, async || {
        (members(api, segment).await.len() == count).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_takes_over_when_the_first_is_killed() {
    let (first, second, segment) = pair().await;
    assert!(!second.log().contains("reacting to the log"), "one leads");
    let stopped = first.kill9().await;
    let began = Instant::now();
    pro(&second.api, "after").await;
    has_members(&second.api, &segment, 2).await;
    assert!(began.elapsed() <= TAKEN_OVER, "{:?}", began.elapsed());
    assert!(second.log().contains("reacting to the log"));
    // Who comes back follows.
    let first = stopped.restart_with(&EAGER).await;
    pro(&first.api, "back").await;
    has_members(&first.api, &segment, 3).await;
    audit(&second.database).await.expect("told once");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_slept_through_its_lease_writes_nothing_more() {
    let (first, second, segment) = pair().await;
    first.signal("-STOP");
    pro(&second.api, "asleep").await;
    has_members(&second.api, &segment, 2).await;
    first.signal("-CONT");
    pro(&first.api, "awake").await;
    pro(&second.api, "too").await;
    has_members(&second.api, &segment, 4).await;
    eventually("the first knows", LIMIT, async || {
        let log = first.log();
        let knows = log.contains("another process reacts") || log.contains("was overtaken");
        knows.then_some(())
    })
    .await;
    pro(&first.api, "later").await;
    has_members(&first.api, &segment, 5).await;
    let told = audit(&second.database).await.expect("told once");
    assert_eq!(told[&segment].len(), 5);
    let led = first.log().matches("reacting to the log").count();
    assert_eq!(led, 1, "it does not lead again: {}", first.log());
}
