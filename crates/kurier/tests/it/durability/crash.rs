//! kill -9 at a random moment, again and again.

use std::sync::Arc;

use super::{BATCH, Ledger, load};
use crate::harness::{Database, Server, on_both, unique};

on_both![
    kill_9_under_load_loses_nothing,
    the_check_would_notice_a_loss
];

const ROUNDS: usize = 20;

mod long_run {
    use crate::harness::on_both;

    on_both![kill_9_under_load_loses_nothing];

    /// Ten times as many kills.
    async fn kill_9_under_load_loses_nothing(database: crate::harness::Database) {
        super::killed_under_load(database, 10 * super::ROUNDS).await;
    }
}
const CLIENTS: usize = 4;

/// One round: load, and death after a random number of acknowledgements.
async fn round(server: Server, ledger: &Arc<Ledger>) -> Server {
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..CLIENTS {
        clients.spawn(load(server.api.clone(), ledger.clone(), 50));
    }
    let [random] = kurier::clock::random::<1>();
    let batches = usize::from(random) % 40 + 1;
    ledger.reaches(ledger.len() + batches * BATCH).await;
    let stopped = server.kill9().await;
    for ended in clients.join_all().await {
        assert!(
            ended.is_none(),
            "only the end of the server may end the load"
        );
    }
    stopped.restart().await
}

async fn kill_9_under_load_loses_nothing(database: Database) {
    killed_under_load(database, ROUNDS).await;
}

async fn killed_under_load(database: Database, rounds: usize) {
    let ledger = Arc::new(Ledger::default());
    let mut server = Server::start(database).await;
    for _ in 0..rounds {
        server = round(server, &ledger).await;
    }
    server.api.settle().await;
    ledger
        .check(&server.database)
        .await
        .expect("nothing is lost, nothing doubled");
    assert!(ledger.len() > rounds * BATCH, "there was load");
}

/// The negative control: an id that was acknowledged and never written is missed.
async fn the_check_would_notice_a_loss(database: Database) {
    let ledger = Arc::new(Ledger::default());
    let server = Server::start(database).await;
    let server = round(server, &ledger).await;
    server.api.settle().await;
    ledger
        .check(&server.database)
        .await
        .expect("nothing is lost yet");
    // A projection that folded an event twice, and one that missed a timeline entry.
    let change = |by: &str| format!("UPDATE contact SET event_count = event_count {by}");
    server.database.execute(&change("+ 1")).await;
    let found = ledger
        .check(&server.database)
        .await
        .expect_err("a double fold");
    assert!(found.contains("contacts are"), "{found}");
    server.database.execute(&change("- 1")).await;
    server
        .database
        .execute("DELETE FROM timeline WHERE position = 5")
        .await;
    let found = ledger
        .check(&server.database)
        .await
        .expect_err("a missing entry");
    assert!(found.contains("timelines hold"), "{found}");
    ledger.acknowledge(vec![unique("never-written-")]);
    let found = ledger
        .check(&server.database)
        .await
        .expect_err("a lost event");
    assert!(found.starts_with("1 of"), "{found}");
}
