//! What only sentinels can do: make another server the master.

use kurier_store::kv::{Error, Kv, KvExt, Redis, Timeouts};

use crate::kv_contract::servers::{Server, eventually, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failover_is_followed() {
    let master = Server::start(&[]);
    let replica = Server::start(&["--replicaof", &format!("127.0.0.1 {}", master.port)]);
    until("the replica is in step", || {
        replica.says(&["INFO", "replication"], "master_link_status:up")
    });
    let sentinel = Server::sentinel("mymaster", master.port);
    // It would look every ten seconds.
    sentinel.ask::<()>(&[
        "SENTINEL",
        "DEBUG",
        "INFO-PERIOD",
        "100",
        "PING-PERIOD",
        "100",
    ]);
    let port = replica.port.to_string();
    until("the sentinel knows the replica", || {
        sentinel.says(&["SENTINEL", "REPLICAS", "mymaster"], &port)
    });
    let url = format!("redis+sentinel://127.0.0.1:{}/mymaster", sentinel.port);
    let redis = Redis::open(&url, Timeouts::default()).await.unwrap();
    redis.set("key", "before", None).await.unwrap();
    assert_eq!(master.ask::<String>(&["GET", "key"]), "before");
    assert_eq!(redis.nodes().await.unwrap()[0].role, "master");

    // A busy sentinel may give a failover up, and has to be asked again; while one is under way it refuses.
    until("the replica is the master", || {
        if replica.says(&["INFO", "replication"], "role:master") {
            return true;
        }
        sentinel.does(&["SENTINEL", "FAILOVER", "mymaster"]);
        false
    });
    eventually("the client follows", async || {
        let is_set = redis.set("key", "after", None).await.is_ok();
        is_set && replica.says(&["GET", "key"], "after")
    })
    .await;
    assert_eq!(redis.topology(), "sentinel");
}

#[tokio::test]
async fn sentinels_that_are_away_or_know_no_such_master_make_it_unavailable() {
    let nobody = "redis+sentinel://127.0.0.1:1/mymaster".to_owned();
    let master = Server::start(&[]);
    let sentinel = Server::sentinel("mymaster", master.port);
    let other = format!("redis+sentinel://127.0.0.1:{}/other", sentinel.port);
    for url in [nobody, other] {
        let redis = Redis::open(&url, Timeouts::default()).await.unwrap();
        let ping = redis.ping().await;
        assert!(matches!(ping, Err(Error::Unavailable(_))), "{ping:?}");
    }
}
