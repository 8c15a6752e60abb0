//! Where a case stands: a keyspace, a prefix of its own, and a way to let time pass.

use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kurier_store::kv::{Command, Error, Kv, KvExt, Memory, Redis, Reply, Script, Timeouts};

pub struct Ground {
    pub kv: Arc<dyn Kv>,
    pub prefix: String,
    time: Time,
}

enum Time {
    Virtual(Arc<AtomicU64>),
    Server,
}

/// How often to ask the server for its time before giving up; each asking takes some 50 µs.
const TIME_QUESTIONS_MAX: u32 = 400_000;

/// More than a backend removes in the few calls of a case.
const CROWD: usize = 200;

const SERVER_TIME: Script = Script {
    name: "server time",
    lua: "local time = redis.call('TIME')
          return string.format('%d', time[1] * 1000 + math.floor(time[2] / 1000))",
    local: |_, _, _| {
        Err(Error::Refused(
            "memory has its time from the test".to_owned(),
        ))
    },
};

pub fn memory() -> Ground {
    let now_ms = Arc::new(AtomicU64::new(1_700_000_000_000));
    let clock = Arc::clone(&now_ms);
    let memory = Memory::new(Arc::new(move || clock.load(Ordering::SeqCst)));
    Ground {
        kv: Arc::new(memory),
        prefix: prefix(),
        time: Time::Virtual(now_ms),
    }
}

/// Fails when there is no Redis to test on: a contract that is skipped is not kept.
fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run ./dev test"))
}

pub fn redis_url() -> String {
    variable("TEST_REDIS_URL")
}

pub async fn redis() -> Ground {
    at(&redis_url()).await
}

pub async fn cluster() -> Ground {
    at(&variable("TEST_REDIS_CLUSTER_URL")).await
}

async fn at(url: &str) -> Ground {
    let redis = Redis::open(url, Timeouts::default()).await.unwrap();
    Ground {
        kv: Arc::new(redis),
        prefix: prefix(),
        time: Time::Server,
    }
}

/// The server is shared, so no two cases may meet on a key.
fn prefix() -> String {
    let random = RandomState::new().hash_one(std::process::id());
    format!("kurier-test:{random:016x}:")
}

impl Ground {
    pub fn key(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// A key that lies in one slot with all others of this kind.
    pub fn tied(&self, name: &str) -> String {
        format!("{}{{tied}}:{name}", self.prefix)
    }

    /// The same ground with another keyspace in front of it.
    pub fn behind(self, cover: impl FnOnce(Arc<dyn Kv>) -> Arc<dyn Kv>) -> Self {
        Self {
            kv: cover(self.kv),
            ..self
        }
    }

    /// Returns when at least this much time has passed for the keyspace. On a server it really
    /// passes, and the server is asked when: our clock and its clock need not agree.
    pub async fn pass(&self, ms: u64) {
        let Time::Virtual(now_ms) = &self.time else {
            return self.pass_on_server(ms).await;
        };
        // A key lives through the whole of its last millisecond.
        now_ms.fetch_add(ms + 1, Ordering::SeqCst);
    }

    /// Makes it this late in memory.
    pub fn set_time(&self, ms: u64) {
        if let Time::Virtual(now_ms) = &self.time {
            now_ms.store(ms, Ordering::SeqCst);
        }
    }

    async fn pass_on_server(&self, ms: u64) {
        let until_ms = self.server_time_ms().await + ms + 1;
        for _ in 0..TIME_QUESTIONS_MAX {
            if self.server_time_ms().await > until_ms {
                return;
            }
        }
        panic!("{ms} ms did not pass on the server");
    }

    async fn server_time_ms(&self) -> u64 {
        let reply = self.kv.script(&SERVER_TIME, &[], &[]).await.unwrap();
        let Reply::Value(Some(text)) = reply else {
            panic!("{reply:?}")
        };
        String::from_utf8(text).unwrap().parse().unwrap()
    }

    /// Many keys that die before any key a case makes afterwards. Whoever removes the dead a few
    /// at a time is busy with these, so that the case's own key is still there, and dead.
    pub async fn crowd(&self) {
        let commands = (0..CROWD).map(|index| Command::Set {
            key: self.key(&format!("crowd:{index}")),
            value: Vec::new(),
            ttl_ms: Some(1),
            if_absent: false,
        });
        self.kv.run(commands.collect()).await.unwrap();
    }

    pub async fn sweep(&self) {
        let keys = self.kv.scan_all(&self.prefix).await.unwrap();
        self.kv.delete(keys.into_iter().collect()).await.unwrap();
    }
}

/// Runs a case and removes its keys, also when it failed.
pub async fn check<F>(ground: Ground, case: fn(Arc<Ground>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let ground = Arc::new(ground);
    let outcome = tokio::spawn(case(Arc::clone(&ground))).await;
    ground.sweep().await;
    if let Err(error) = outcome {
        resume_unwind(error.into_panic());
    }
}

pub fn bytes(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}
