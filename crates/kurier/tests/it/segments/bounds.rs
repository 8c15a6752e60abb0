//! More names than columns, and more bytes than the budget: it is said, and nothing breaks.

use serde_json::json;

use super::{EAGER, LIMIT, define, members};
use crate::harness::{Database, Server, eventually};

#[tokio::test(flavor = "multi_thread")]
async fn names_beyond_the_limit_are_counted_and_missing() {
    let server = Server::start_with(Database::sqlite(), &EAGER).await;
    for n in 0..30 {
        let many: serde_json::Map<_, _> =
            (0..20).map(|k| (format!("k{n}_{k}"), json!(1))).collect();
        let traits = json!({"userId": "u", "traits": many});
        server.api.send("identify", traits).await;
    }
    let segment = define(&server.api, "contact.k0_0 = 1 AND contact.k29_19 IS NULL").await;
    eventually("a member", LIMIT, async || {
        (members(&server.api, &segment).await.len() == 1).then_some(())
    })
    .await;
    eventually("it is counted", LIMIT, async || {
        let series = "kurier_world_unkept_values{kind=\"attribute\"}";
        (server.api.metric(series).await == 100).then_some(())
    })
    .await;
    let said = server.log().matches("too many different names").count();
    assert_eq!(said, 1, "{}", server.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_that_is_exceeded_is_said_loudly() {
    let mut variables = EAGER.to_vec();
    variables.push(("KURIER_WORLD_BYTES_MAX", "10"));
    let server = Server::start_with(Database::sqlite(), &variables).await;
    server.api.send("identify", json!({"userId": "u"})).await;
    eventually("it is said", LIMIT, async || {
        let ready = server.api.get("/readyz").await.expect(200).json();
        let warning = ready["warnings"][0].as_str().unwrap_or_default().to_owned();
        warning.contains("world_bytes_max").then_some(())
    })
    .await;
    assert!(
        server.log().contains("more memory than world_bytes_max"),
        "{}",
        server.log()
    );
}
