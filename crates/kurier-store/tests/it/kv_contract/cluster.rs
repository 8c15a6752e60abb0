//! What only a cluster can do: move a slot while it is asked, and lack a master.

use kurier_store::kv::{Command, Error, Kv, KvExt, Redis, Reply, Script, Timeouts};

use crate::kv_contract::ground::{self, bytes};
use crate::kv_contract::servers::{Server, cluster, eventually};

const COUNT: Script = Script {
    name: "count",
    lua: "return redis.call('INCRBY', KEYS[1], ARGV[1])",
    local: |_, _, _| Err(Error::Refused("not in memory".to_owned())),
};

async fn open(servers: &[Server]) -> Redis {
    let nodes: Vec<String> = servers
        .iter()
        .map(|server| format!("127.0.0.1:{}", server.port))
        .collect();
    let url = format!("redis+cluster://{}", nodes.join(","));
    Redis::open(&url, Timeouts::default()).await.unwrap()
}

fn increment(key: &str) -> Command {
    Command::Increment {
        key: key.to_owned(),
        by: 1,
        ttl_ms: None,
    }
}

/// A slot on its way from one master to another.
struct Move<'a> {
    from: &'a Server,
    to: &'a Server,
    slot: String,
}

impl<'a> Move<'a> {
    fn of(key: &str, servers: &'a [Server]) -> Self {
        let slot: u16 = servers[0].ask(&["CLUSTER", "KEYSLOT", key]);
        let slot = slot.to_string();
        let has = |server: &&Server| server.ask::<u64>(&["CLUSTER", "COUNTKEYSINSLOT", &slot]) > 0;
        let from = servers.iter().find(has).unwrap();
        let to = servers
            .iter()
            .find(|server| server.port != from.port)
            .unwrap();
        Self { from, to, slot }
    }

    fn set(&self, server: &Server, words: &[&str]) {
        let mut all = vec!["CLUSTER", "SETSLOT", &self.slot];
        all.extend(words);
        server.ask::<()>(&all);
    }

    fn begin(&self) {
        let id = |server: &Server| server.ask::<String>(&["CLUSTER", "MYID"]);
        self.set(self.to, &["IMPORTING", &id(self.from)]);
        self.set(self.from, &["MIGRATING", &id(self.to)]);
    }

    fn take(&self, key: &str) {
        let port = self.to.port.to_string();
        self.from
            .ask::<()>(&["MIGRATE", "127.0.0.1", &port, key, "0", "5000"]);
    }

    fn end(&self) {
        let id: String = self.to.ask(&["CLUSTER", "MYID"]);
        self.set(self.to, &["NODE", &id]);
        self.set(self.from, &["NODE", &id]);
    }
}

/// Keys of one slot, one of them already there and one not: each command is run where its key
/// is, and none is run twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slot_that_moves_is_followed_and_nothing_runs_twice() {
    let servers = cluster(2);
    let redis = open(&servers).await;
    let (first, second) = ("{tie}:first", "{tie}:second");
    let both = || vec![increment(first), increment(second), increment(first)];
    let counted = |a, b, c| Ok([a, b, c].map(Reply::Integer).to_vec());
    assert_eq!(redis.run(both()).await, counted(1, 1, 2));

    let way = Move::of(first, &servers);
    way.begin();
    way.take(first);
    assert_eq!(redis.run(both()).await, counted(3, 2, 4));
    let one = [first.to_owned()];
    let script = redis.script(&COUNT, &one, &[bytes("10")]).await;
    assert_eq!(script, Ok(Reply::Integer(14)));

    way.take(second);
    way.end();
    assert_eq!(redis.run(both()).await, counted(15, 3, 16));
    let script = redis.script(&COUNT, &one, &[bytes("10")]).await;
    assert_eq!(script, Ok(Reply::Integer(26)));
}

/// What lies elsewhere is answered; what lies there fails in its place; and when the master is
/// back, everything is as it should be.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_master_that_is_away_takes_only_its_own_keys_with_it() {
    let mut servers = cluster(3);
    for server in &servers {
        server.ask::<()>(&["CONFIG", "SET", "cluster-require-full-coverage", "no"]);
    }
    let redis = open(&servers).await;
    let keys: Vec<String> = (0..60).map(|at| format!("key {at}")).collect();
    let gets = || {
        keys.iter()
            .map(|key| Command::Get { key: key.clone() })
            .collect()
    };
    for key in &keys {
        redis.set(key, "value", None).await.unwrap();
    }
    assert_eq!(redis.scan_all("key ").await.unwrap().len(), keys.len());
    drop(servers.pop());
    let is_there = |reply: &Reply| *reply == Reply::Value(Some(bytes("value")));
    let is_away = |reply: &Reply| matches!(reply, Reply::Failed(Error::Unavailable(_)));
    eventually("only its own keys are away", async || {
        // Right after the loss, while the client looks for the others, all may be away.
        let replies = redis.run(gets()).await.unwrap_or_default();
        assert!(
            replies
                .iter()
                .all(|reply| is_there(reply) || is_away(reply)),
            "{replies:?}"
        );
        let there = replies.iter().filter(|reply| is_there(reply)).count();
        (30..60).contains(&there)
    })
    .await;
    let ping = redis.ping().await;
    assert!(matches!(ping, Err(Error::Unavailable(_))), "{ping:?}");
    let scan = redis.scan_all("key ").await;
    assert!(matches!(scan, Err(Error::Unavailable(_))), "{scan:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_that_is_not_there_yet_is_found_later() {
    let port = crate::kv_contract::servers::free_port();
    let url = format!("redis+cluster://127.0.0.1:{port}");
    let redis = Redis::open(&url, Timeouts::default()).await.unwrap();
    for _ in 0..3 {
        let get = redis.get("key").await;
        assert!(matches!(get, Err(Error::Unavailable(_))), "{get:?}");
    }
    let server = Server::start_at(port, &["--cluster-enabled", "yes"]);
    server.ask::<()>(&["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
    eventually("the cluster is found", async || {
        redis.get("key").await == Ok(None)
    })
    .await;
}

/// On every backend, so that nobody learns it from the cluster.
#[tokio::test]
async fn a_script_over_two_slots_is_refused_with_the_keys_named() {
    for ground in [
        ground::memory(),
        ground::redis().await,
        ground::cluster().await,
    ] {
        let keys = ["{a}:key".to_owned(), "{b}:key".to_owned()];
        let refused = ground.kv.script(&COUNT, &keys, &[bytes("1")]).await;
        let Err(Error::Refused(reason)) = refused else {
            panic!("{refused:?}");
        };
        assert!(reason.contains("{a}:key and {b}:key"), "{reason}");
    }
}
