//! A Redis Cluster of a test's own: three masters that have shared out all slots.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kurier_store::kv::{Redis, Timeouts};
use tempfile::TempDir;

use super::ground::Ground;
use crate::harness::eventually;

const SLOTS: [[&str; 2]; 3] = [["0", "5460"], ["5461", "10922"], ["10923", "16383"]];
const LIMIT: Duration = Duration::from_secs(30);

pub struct Cluster(Vec<Master>);

struct Master {
    folder: TempDir,
    child: Option<Child>,
    port: String,
    bus: String,
}

impl Cluster {
    pub async fn start() -> Self {
        let cluster = Self(SLOTS.iter().map(|_| Master::new()).collect());
        for (at, (master, slots)) in cluster.0.iter().zip(SLOTS).enumerate() {
            eventually("a master answers", LIMIT, async || {
                (master.say(&["PING"]) == "PONG").then_some(())
            })
            .await;
            assert_eq!(
                master.say(&["CLUSTER", "ADDSLOTSRANGE", slots[0], slots[1]]),
                "OK"
            );
            let epoch = (at + 1).to_string();
            assert_eq!(master.say(&["CLUSTER", "SET-CONFIG-EPOCH", &epoch]), "OK");
            let first = &cluster.0[0];
            if at > 0 {
                master.say(&["CLUSTER", "MEET", "127.0.0.1", &first.port, &first.bus]);
            }
        }
        cluster.wait().await;
        cluster
    }

    async fn wait(&self) {
        eventually("the cluster is whole", LIMIT, async || {
            self.is_whole().then_some(())
        })
        .await;
    }

    pub fn stop(&mut self) {
        self.0.iter_mut().for_each(Master::stop);
    }

    /// Empty, with the slots that each had.
    pub async fn start_again(&mut self) {
        self.0.iter_mut().for_each(Master::start);
        self.wait().await;
    }

    /// All masters must know who has which slots: one that does not redirects wrongly.
    fn is_whole(&self) -> bool {
        self.0.iter().all(|master| {
            let info = master.say(&["CLUSTER", "INFO"]);
            let slots = master.say(&["CLUSTER", "SLOTS"]);
            let knows = |other: &Master| slots.lines().any(|line| line.trim() == other.port);
            info.contains("cluster_state:ok") && self.0.iter().all(knows)
        })
    }

    pub fn url(&self) -> String {
        let addresses: Vec<String> = self.0.iter().map(Master::address).collect();
        format!("redis+cluster://{}", addresses.join(","))
    }

    /// What is answered to a command about one key, whoever has it.
    pub fn cli(&self, words: &[&str]) -> String {
        self.0[0].say(&[&["-c"], words].concat())
    }

    /// What each master says.
    pub fn each(&self, words: &[&str]) -> Vec<String> {
        self.0.iter().map(|master| master.say(words)).collect()
    }

    /// What `SAVE` has written, at all of them.
    pub fn dumps(&self) -> Vec<u8> {
        let files = self.0.iter();
        let files = files.map(|master| master.folder.path().join("dump.rdb"));
        let dumps = files.map(|file| std::fs::read(file).expect("a dump"));
        dumps.collect::<Vec<_>>().concat()
    }

    pub async fn open(&self) -> Redis {
        let opened = Redis::open(&self.url(), Timeouts::default()).await;
        opened.expect("prepared")
    }

    pub fn empty(&self) {
        for master in &self.0 {
            assert_eq!(master.say(&["FLUSHALL"]), "OK");
        }
    }

    fn slot(&self, key: &str) -> String {
        self.0[0].say(&["CLUSTER", "KEYSLOT", key])
    }
}

impl Master {
    fn new() -> Self {
        let [port, bus] = free_ports();
        let mut master = Self {
            folder: TempDir::new().expect("a temporary folder"),
            child: None,
            port,
            bus,
        };
        master.start();
        master
    }

    fn start(&mut self) {
        let mut command = Command::new("redis-server");
        command
            .args(["--port", &self.port, "--bind", "127.0.0.1"])
            .args(["--save", "", "--appendonly", "no"])
            .args(["--cluster-enabled", "yes", "--cluster-port", &self.bus])
            .args(["--cluster-node-timeout", "15000"])
            .arg("--dir")
            .arg(self.folder.path())
            .stdout(Stdio::null());
        self.child = Some(command.spawn().expect("redis-server starts"));
    }

    fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn say(&self, words: &[&str]) -> String {
        let mut command = Command::new("redis-cli");
        command.args(["-p", &self.port]).args(words);
        let said = command.output().expect("redis-cli runs");
        String::from_utf8_lossy(&said.stdout).trim().to_owned()
    }
}

impl Drop for Master {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Two that are free in the same moment.
fn free_ports() -> [String; 2] {
    let listen = |_| TcpListener::bind("127.0.0.1:0").expect("a free port");
    let listeners = [(), ()].map(listen);
    listeners.map(|it| it.local_addr().expect("bound").port().to_string())
}

/// What one script writes for one tenant, its indexes, hints and deduplication, must lie together.
#[tokio::test(flavor = "multi_thread")]
async fn the_keys_of_one_tenant_share_a_slot() {
    let ground = Ground::cluster().await;
    for tenant in 0..2 {
        ground.create(tenant, 1, "Acme", Some("sales")).await;
        ground.update(tenant, 1, "Acme", Some("support")).await;
        ground.archive(tenant, 1).await;
        ground.create(tenant, 2, "Beta", Some("sales")).await;
    }
    ground.fold().await;
    ground.slack().drain().await.expect("projected");
    let cluster = ground.cluster.as_ref().expect("a cluster");
    let keys: Vec<String> = ground.keys().await.into_keys().collect();
    let slots = |tenant: usize| {
        let tag = format!("{{{}}}", ground.tenant(tenant));
        let of_tenant = keys.iter().filter(|key| key.contains(&tag));
        let of_tenant: Vec<&String> = of_tenant.collect();
        assert!(of_tenant.len() >= 10, "{of_tenant:?}");
        let slots = of_tenant.into_iter().map(|key| cluster.slot(key));
        slots.collect::<BTreeSet<String>>()
    };
    assert_eq!((slots(0).len(), slots(1).len()), (1, 1));
}
