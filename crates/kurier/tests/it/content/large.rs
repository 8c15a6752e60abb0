//! A long document in Redis: death finds the old one or the new one.

use std::time::Duration;

use kurier_core::content::{Entry, Stored};
use kurier_store::kv::{Command, Kv as _, Order, Redis as Keyspace, Reply, Timeouts};

use crate::cli::on;
use crate::harness::{ADMIN_KEY, Database, Redis, Server, WRITE_KEY, eventually};

const LIMIT: Duration = Duration::from_secs(100);
/// Long enough that it is written aside.
const CHAPTERS: usize = 15;
const NODES: usize = 1 + CHAPTERS + CHAPTERS * 20 + CHAPTERS * 20 * 100;

fn text(version: usize) -> String {
    let mut text = String::with_capacity(8 << 20);
    for chapter in 0..CHAPTERS {
        text.push_str(&format!("# Chapter {chapter}\n\n"));
        for part in 0..20 {
            text.push_str(&format!("## Part {chapter} {part}\n\n"));
            for chunk in 0..100 {
                let name = (chapter * 20 + part) * 100 + chunk;
                text.push_str(&format!(
                    "Word{name} is what stays the same, version {version}.\n\n"
                ));
            }
        }
    }
    text
}

async fn start(database: Database, redis: &Redis) -> Server {
    let url = redis.url();
    Server::start_with(database, &variables(&url)).await
}

fn variables(url: &str) -> [(&'static str, &str); 3] {
    [
        ("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY),
        ("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY),
        ("KURIER_REDIS_URL", url),
    ]
}

/// Imports a version, beside the server.
fn import(database: &Database, version: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.md");
    std::fs::write(&path, text(version)).expect("written");
    let (path, root) = (
        path.display().to_string(),
        folder.path().display().to_string(),
    );
    let words = ["content", "import", &path, "--root", &root];
    on(database, &words).expect(0);
}

/// Everything behind the prefix that does not stand aside, as one number.
fn fingerprint(redis: &Redis, prefix: &str) -> String {
    let lua = "local keys, sum = redis.call('KEYS', ARGV[1] .. '*'), ''
        table.sort(keys)
        for _, key in ipairs(keys) do
          if not string.find(key, '}:aside:', 1, true) then
            sum = redis.sha1hex(sum .. key .. redis.call('DUMP', key))
          end
        end
        return sum";
    redis.cli(&["EVAL", lua, "0", prefix])
}

fn keys(redis: &Redis) -> u64 {
    redis.cli(&["DBSIZE"]).parse().expect("a number")
}

fn export(database: &Database) -> Vec<Entry> {
    let lines = on(database, &["content", "export", "--json"]).expect(0);
    let lines = lines.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("an entry"))
        .collect()
}

fn asked(prefix: &str, entry: &Entry) -> Command {
    let key = format!("{prefix}{}", entry.key);
    match entry.stored {
        Stored::Hash(_) => Command::HashGetAll { key },
        Stored::SortedSet(_) => Command::SortedRange {
            key,
            start: 0,
            stop: -1,
            order: Order::Ascending,
        },
        Stored::Text(_) => Command::Get { key },
        Stored::Set(_) => Command::SetMembers { key },
    }
}

fn is_told(entry: &Entry, reply: Reply) -> bool {
    let sorted = |mut all: Vec<Vec<u8>>| {
        all.sort_unstable();
        all
    };
    match (&entry.stored, reply) {
        (Stored::Hash(fields), Reply::Fields(held)) => {
            let is_held = |(name, value): &(String, String)| {
                held.iter()
                    .any(|it| it.0 == *name && it.1 == value.as_bytes())
            };
            held.len() == fields.len() && fields.iter().all(is_held)
        }
        (Stored::SortedSet(keys), Reply::Scored(held)) => {
            let pairs = keys
                .iter()
                .map(|(at, key)| (f64::from(*at), key.to_string().into_bytes()));
            pairs.eq(held.into_iter().map(|it| (it.score, it.member)))
        }
        (Stored::Text(key), Reply::Value(held)) => held == Some(key.to_string().into_bytes()),
        (Stored::Set(keys), Reply::Members(held)) => {
            let keys = keys.iter().map(|key| key.to_string().into_bytes());
            sorted(keys.collect()) == sorted(held.into_iter().collect())
        }
        _ => false,
    }
}

/// Redis has all of this, and says up to which import.
async fn agrees(redis: &Redis, prefix: &str, wanted: &[Entry]) {
    let keyspace = Keyspace::open(&redis.url(), Timeouts::default()).await;
    let keyspace = keyspace.expect("an address");
    for entries in wanted.chunks(2_000) {
        let commands = entries.iter().map(|entry| asked(prefix, entry)).collect();
        let replies = keyspace.run(commands).await.expect("replies");
        for (entry, reply) in entries.iter().zip(replies) {
            assert!(is_told(entry, reply), "{}", entry.key);
        }
    }
}

async fn told_up_to(redis: &Redis, generation: &str, number: &str) {
    eventually("the document is there", LIMIT, async || {
        (redis.cli(&["HGET", generation, "upto"]) == number).then_some(())
    })
    .await;
}

/// The database makes no difference to Redis.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_document_is_swapped_in_at_once() {
    let redis = Redis::start();
    let server = start(Database::sqlite(), &redis).await;
    let workspaces = server.database.store().await.access.workspaces().await;
    let tenant = workspaces.expect("listed")[0].id;
    let (prefix, generation) = (
        format!("content:v1:{{{tenant}}}:"),
        format!("content:pp:gen:{{{tenant}}}"),
    );
    import(&server.database, 0);
    told_up_to(&redis, &generation, "1").await;
    let (before, count) = (fingerprint(&redis, &prefix), keys(&redis));

    // Killed while the next one stands aside, a part of it at least.
    import(&server.database, 1);
    eventually("something stands aside", LIMIT, async || {
        (keys(&redis) > count + 5_000).then_some(())
    })
    .await;
    let stopped = server.kill9().await;
    assert!(keys(&redis) > count, "it died in the middle");
    assert_eq!(
        fingerprint(&redis, &prefix),
        before,
        "nothing of the new one"
    );

    let url = redis.url();
    let server = stopped.restart_with(&variables(&url)).await;
    told_up_to(&redis, &generation, "2").await;
    let wanted = export(&server.database);
    let is_hash = |entry: &&Entry| matches!(entry.stored, Stored::Hash(_));
    assert_eq!(wanted.iter().filter(is_hash).count(), NODES);
    agrees(&redis, &prefix, &wanted).await;
    assert_ne!(fingerprint(&redis, &prefix), before);
}
