//! Memory and Redis in one time: the same replies and the same times to live, to the millisecond,
//! while time passes.
//!
//! Redis says what time it was: a key set before and one set after the commands, both for the
//! same time, expire at instants that tell. When they agree, everything between them happened in
//! one millisecond, and memory is asked in the same one. Time is moved on Redis by having every
//! key expire earlier.

use std::cell::Cell;

use kurier_store::kv::{Command, Error, Keyspace, Kv, Reply, Script, Ttl};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};
use redis::Connection;
use tokio::runtime::Runtime;

use crate::kv_contract::agreement::comparable;
use crate::kv_contract::commands::{KEYS, any_command, any_key, every_read_and_change};
use crate::kv_contract::ground::{Ground, bytes, memory, redis, redis_url};

const CASES: u32 = 300;
/// How long the keys live that tell the time.
const FAR_MS: u64 = 1_000_000_000;

#[derive(Debug, Clone)]
enum Step {
    Ask(Vec<Command>),
    Script(usize, String, Vec<Vec<u8>>),
    Pass(u64),
}

/// Keys: the one it is about, and the two that tell the time. Arguments: a number, a time to live.
const SCRIPTS: [Script; 3] = [
    Script {
        name: "count for a while",
        lua: "redis.call('SET', KEYS[2], '', 'PX', 1000000000)
              redis.call('INCRBY', KEYS[1], ARGV[1])
              local sum = redis.call('GET', KEYS[1])
              redis.call('PEXPIRE', KEYS[1], ARGV[2])
              redis.call('SET', KEYS[3], '', 'PX', 1000000000)
              return sum",
        local: |keyspace, keys, args| {
            let sum = keyspace.increment(&keys[0], number(&args[0]), None)?;
            keyspace.expire(&keys[0], u64::try_from(number(&args[1])).unwrap());
            Ok(Reply::Value(Some(sum.to_string().into_bytes())))
        },
    },
    Script {
        name: "read with its ttl",
        lua: "redis.call('SET', KEYS[2], '', 'PX', 1000000000)
              local held = {redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])}
              redis.call('SET', KEYS[3], '', 'PX', 1000000000)
              return held",
        local: |keyspace, keys, _| {
            let held = Reply::Value(keyspace.get(&keys[0])?);
            Ok(Reply::List(vec![held, ttl(keyspace, &keys[0])]))
        },
    },
    Script {
        name: "set if it is new",
        lua: "redis.call('SET', KEYS[2], '', 'PX', 1000000000)
              local is_new = redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
              redis.call('SET', KEYS[3], '', 'PX', 1000000000)
              return is_new and 1 or 0",
        local: |keyspace, keys, args| {
            let ttl_ms = u64::try_from(number(&args[1])).unwrap();
            let is_new = keyspace.set_if_absent(&keys[0], args[0].clone(), Some(ttl_ms));
            Ok(Reply::Integer(i64::from(is_new)))
        },
    },
];

fn number(text: &[u8]) -> i64 {
    std::str::from_utf8(text).unwrap().parse().unwrap()
}

fn ttl(keyspace: &Keyspace<'_>, key: &str) -> Reply {
    Reply::Integer(match keyspace.ttl_ms(key) {
        Ttl::Missing => -2,
        Ttl::Forever => -1,
        Ttl::Ms(ms) => i64::try_from(ms).unwrap(),
    })
}

/// Both keyspaces, and how much later it is in memory than on the server.
struct Pair {
    memory: Ground,
    redis: Ground,
    server: Connection,
    ahead_ms: u64,
    /// How much faster memory's clock is: 0, except to see that it is noticed.
    skew_ms: u64,
}

/// What the server did, and in which millisecond; `None` if in more than one.
type Told = (Result<Vec<Reply>, Error>, Option<u64>);

impl Pair {
    fn open(runtime: &Runtime, skew_ms: u64) -> Self {
        let (mut memory, mut redis) = (memory(), runtime.block_on(redis()));
        // All in one slot, for the scripts; and both under one prefix.
        let tied = format!("{}{{tied}}:", memory.prefix);
        (memory.prefix, redis.prefix) = (tied.clone(), tied);
        let client = redis::Client::open(redis_url()).unwrap();
        Self {
            memory,
            redis,
            server: client.get_connection().unwrap(),
            ahead_ms: 0,
            skew_ms,
        }
    }

    fn clocks(&self) -> [String; 2] {
        [self.redis.key("before"), self.redis.key("after")]
    }

    /// Whether both say the same; `None` if the millisecond ended meanwhile.
    async fn take(&mut self, step: &Step) -> Option<Result<(), TestCaseError>> {
        if let Step::Pass(ms) = step {
            self.pass(*ms);
            return Some(Ok(()));
        }
        let (on_redis, at_ms) = self.on_redis(step).await;
        self.memory.set_time(at_ms? + self.ahead_ms);
        let on_memory = run(&*self.memory.kv, step, &self.clocks()).await;
        let same = on_memory == on_redis;
        Some(same.then_some(()).ok_or_else(|| {
            TestCaseError::fail(format!(
                "{step:?}\nin memory {on_memory:?}\non Redis {on_redis:?}"
            ))
        }))
    }

    async fn on_redis(&mut self, step: &Step) -> Told {
        let clocks = self.clocks();
        let replies = run(&*self.redis.kv, step, &clocks).await;
        // A script that fails has told the beginning only.
        let last = usize::from(!matches!(step, Step::Script(..)) || replies.is_ok());
        let told = [&clocks[0], &clocks[last]].map(|key| self.expires_at(key));
        let at_ms = (told[0] == told[1]).then(|| told[0].unwrap() - FAR_MS);
        (replies, at_ms)
    }

    fn expires_at(&mut self, key: &str) -> Option<u64> {
        let at: i64 = redis::cmd("PEXPIRETIME")
            .arg(key)
            .query(&mut self.server)
            .unwrap();
        u64::try_from(at).ok()
    }

    fn pass(&mut self, ms: u64) {
        for index in 0..KEYS {
            let key = self.redis.key(&index.to_string());
            if let Some(at_ms) = self.expires_at(&key) {
                let mut earlier = redis::cmd("PEXPIREAT");
                earlier.arg(&key).arg(at_ms - ms);
                earlier.query::<()>(&mut self.server).unwrap();
            }
        }
        // A key given this very millisecond as its last is gone at once; it would live through it.
        let now_ms = self.now_ms();
        while self.now_ms() == now_ms {}
        self.ahead_ms += ms + self.skew_ms;
    }

    fn now_ms(&mut self) -> u64 {
        let (s, micros): (u64, u64) = redis::cmd("TIME").query(&mut self.server).unwrap();
        s * 1_000 + micros / 1_000
    }
}

/// What a keyspace answers, without what it may do differently.
async fn run(kv: &dyn Kv, step: &Step, clocks: &[String; 2]) -> Result<Vec<Reply>, Error> {
    let clock = |key: &String| Command::Set {
        key: key.clone(),
        value: Vec::new(),
        ttl_ms: Some(FAR_MS),
        if_absent: false,
    };
    let replies = match step {
        Step::Pass(_) => Ok(Vec::new()),
        Step::Ask(commands) => {
            let mut all = vec![clock(&clocks[0])];
            all.extend(commands.iter().cloned());
            all.push(clock(&clocks[1]));
            kv.run(all).await
        }
        Step::Script(index, key, args) => {
            let keys = [key.clone(), clocks[0].clone(), clocks[1].clone()];
            let reply = kv.script(&SCRIPTS[*index], &keys, args).await;
            reply.map(|reply| vec![reply])
        }
    };
    let replies = replies.map(|replies| replies.into_iter().map(comparable).collect());
    replies.map_err(|error| match error {
        Error::Refused(_) => Error::Refused(String::new()),
        other => other,
    })
}

/// Short and long, so that some end by themselves, some by being moved, and some not.
fn any_ms() -> BoxedStrategy<u64> {
    prop_oneof![1..4_u64, 1..40_u64, 900..1_100_u64, 100_000..200_000_u64].boxed()
}

fn any_steps(prefix: &str) -> impl Strategy<Value = Vec<Step>> + use<> {
    let script = (0..SCRIPTS.len(), any_key(prefix), -3..4_i64, any_ms()).prop_map(
        |(index, key, by, ttl_ms)| {
            Step::Script(
                index,
                key,
                vec![bytes(&by.to_string()), bytes(&ttl_ms.to_string())],
            )
        },
    );
    let step = prop_oneof![
        4 => vec(any_command(prefix, any_ms()), 1..12).prop_map(Step::Ask),
        2 => script,
        2 => any_ms().prop_map(Step::Pass),
    ];
    vec(step, 1..12)
}

/// Every key read in every way, and how long it will live.
fn everything(prefix: &str) -> Step {
    let keys = (0..KEYS).map(|index| format!("{prefix}{index}"));
    Step::Ask(
        keys.flat_map(|key| {
            let reads = every_read_and_change(&key).into_iter();
            let reads = reads.map(|(_, command)| command).filter(|command| {
                let changes = [
                    "Increment",
                    "HashSet",
                    "SetAdd",
                    "SortedAdd",
                    "CompareDelete",
                ];
                !changes
                    .iter()
                    .any(|name| format!("{command:?}").starts_with(name))
            });
            reads
                .chain([Command::TtlMs { key: key.clone() }])
                .collect::<Vec<_>>()
        })
        .collect(),
    )
}

/// Runs random steps on both; says how many of them could be compared, of how many.
fn compare(skew_ms: u64) -> Result<(u32, u32), TestError<Vec<Step>>> {
    let runtime = Runtime::new().unwrap();
    let prefix = Pair::open(&runtime, 0).memory.prefix;
    let (compared, all) = (Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new(Config {
        cases: CASES,
        failure_persistence: None,
        ..Config::default()
    });
    let outcome = runner.run(&any_steps(&prefix), |mut steps| {
        let mut pair = Pair::open(&runtime, skew_ms);
        (pair.memory.prefix, pair.redis.prefix) = (prefix.clone(), prefix.clone());
        steps.push(everything(&prefix));
        let same = runtime.block_on(async {
            for step in &steps {
                all.set(all.get() + 1);
                match pair.take(step).await {
                    Some(same) => same?,
                    None => break,
                }
                compared.set(compared.get() + 1);
            }
            Ok(())
        });
        runtime.block_on(pair.redis.sweep());
        same
    });
    outcome.map(|()| (compared.get(), all.get()))
}

#[test]
fn memory_and_redis_agree_to_the_millisecond() {
    match compare(0) {
        Ok((compared, all)) => assert!(compared * 2 > all, "only {compared} of {all} steps"),
        Err(error) => panic!("{error}"),
    }
}

/// The negative control: a memory in which a millisecond more passes is told apart.
#[test]
fn a_millisecond_too_much_is_noticed() {
    assert!(compare(1).is_err());
}
