//! Interrupted at every step, a migration ends where an uninterrupted one does.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use kurier_store::kv::{Memory, Reply, Script};

use super::*;

/// A keyspace that is gone after so many calls.
struct Mortal {
    kv: Memory,
    calls_left: AtomicU64,
}

impl Mortal {
    fn new() -> Self {
        Self {
            kv: Memory::new(Arc::new(|| 1_700_000_000_000)),
            calls_left: AtomicU64::new(u64::MAX),
        }
    }

    fn call(&self) -> Result<(), Error> {
        let spend = |left: u64| left.checked_sub(1);
        let left = self
            .calls_left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, spend);
        left.map(drop)
            .map_err(|_| Error::Unavailable("gone".to_owned()))
    }
}

#[async_trait]
impl Kv for Mortal {
    async fn run(&self, commands: Vec<Command>) -> Result<Vec<Reply>, Error> {
        self.call()?;
        self.kv.run(commands).await
    }

    async fn script(
        &self,
        script: &Script,
        keys: &[String],
        args: &[Vec<u8>],
    ) -> Result<Reply, Error> {
        self.call()?;
        self.kv.script(script, keys, args).await
    }

    async fn ping(&self) -> Result<(), Error> {
        self.call()
    }
}

const OLD: &str = "notification:workspace-projector:";

/// Everything there was: texts, a hash, indexes of both kinds, what is newer, and hints.
async fn filled() -> Mortal {
    let mortal = Mortal::new();
    let kv = &mortal.kv;
    let w1 = r#"{"name":"One","version":4}"#;
    kv.set(&format!("{OLD}{{acme}}:workspace:W1"), w1, None)
        .await
        .unwrap();
    kv.set(
        &format!("{OLD}acme:workspace:W2"),
        r#"{"name":"Two"}"#,
        Some(90_000),
    )
    .await
    .unwrap();
    let fields = vec![("name".to_owned(), b"Three".to_vec())];
    kv.hash_set(&format!("{OLD}{{beta}}:workspace:W3"), fields)
        .await
        .unwrap();
    kv.set(
        &format!("{OLD}{{acme}}:workspace:W4"),
        r#"{"name":"old"}"#,
        None,
    )
    .await
    .unwrap();
    kv.set("notification.slack:v1:{acme}:workspace:W4", "newer", None)
        .await
        .unwrap();
    let ids = ["W1", "W2", "W4"].map(|id| id.as_bytes().to_vec()).to_vec();
    kv.set_add(&format!("{OLD}{{acme}}:workspace-index"), ids)
        .await
        .unwrap();
    kv.set("notification:workspace-index:beta", r#"["W3","W:5"]"#, None)
        .await
        .unwrap();
    for untouched in [
        "pp:ver:acme:workspace:W1",
        "notification.slack:pp:ver:{acme}:workspace:W1",
    ] {
        kv.set(untouched, "4", None).await.unwrap();
    }
    mortal
}

/// Every key with its value and its time to live.
async fn content(kv: &Memory) -> BTreeSet<String> {
    let mut content = BTreeSet::new();
    for key in kv.scan_all("").await.unwrap() {
        let value = match kv.get(&key).await {
            Ok(text) => format!("{:?}", text.map(|text| String::from_utf8(text).unwrap())),
            Err(_) => format!("{:?}", kv.set_members(&key).await),
        };
        content.insert(format!(
            "{key} = {value} for {:?}",
            kv.ttl_ms(&key).await.unwrap()
        ));
    }
    content
}

async fn run(mortal: &Mortal, apply: bool) -> Result<Migrated, Error> {
    migrate(mortal, 2, apply, |_, _, _| {}).await
}

#[tokio::test]
async fn a_dry_run_changes_nothing_and_says_what_would_be() {
    let mortal = filled().await;
    let before = content(&mortal.kv).await;
    let planned = run(&mortal, false).await.unwrap();
    assert_eq!(content(&mortal.kv).await, before);
    assert_eq!(planned, run(&mortal, true).await.unwrap());
    let fates = [
        (Fate::Workspace, 3),
        (Fate::Index, 2),
        (Fate::Superseded, 1),
    ];
    assert_eq!(planned.fates, fates.into_iter().collect());
}

#[tokio::test]
async fn everything_stands_where_it_belongs_and_hints_where_they_were() {
    let mortal = filled().await;
    run(&mortal, true).await.unwrap();
    let content = content(&mortal.kv).await;
    assert!(
        content
            .iter()
            .all(|line| !line.starts_with("notification:")),
        "{content:#?}"
    );
    let value = |key: &str| {
        content
            .iter()
            .find(|line| line.starts_with(key))
            .unwrap()
            .clone()
    };
    let w1 = value("notification.slack:v1:{acme}:workspace:W1 ");
    assert!(
        w1.contains(r#"\"revision\":4"#) && w1.contains("One"),
        "{w1}"
    );
    assert!(value("notification.slack:v1:{acme}:workspace:W2 ").ends_with("for Ms(90000)"));
    assert!(value("notification.slack:v1:{acme}:workspace:W4 ").contains("newer"));
    assert!(value("notification.slack:v1:{beta}:workspace:W3 ").contains("Three"));
    let kv = &mortal.kv;
    let list = kv
        .set_members("notification.slack:v1:{beta}:idx:workspace:list")
        .await
        .unwrap();
    assert_eq!(list, [b"W%3A5".to_vec(), b"W3".to_vec()].into());
    assert_eq!(
        kv.get("pp:ver:acme:workspace:W1").await.unwrap(),
        Some(b"4".to_vec())
    );
}

/// Seed 004 §5: it ends anywhere, begins again, and the end is the same.
#[tokio::test]
async fn interrupted_at_every_call_it_ends_the_same() {
    let whole = filled().await;
    run(&whole, true).await.unwrap();
    let expected = content(&whole.kv).await;
    let mut interruptions = 0;
    for calls in 0.. {
        let mortal = filled().await;
        mortal.calls_left.store(calls, Ordering::SeqCst);
        let is_done = run(&mortal, true).await.is_ok();
        mortal.calls_left.store(u64::MAX, Ordering::SeqCst);
        run(&mortal, true).await.unwrap();
        assert_eq!(
            content(&mortal.kv).await,
            expected,
            "interrupted after {calls} calls"
        );
        if is_done {
            break;
        }
        interruptions += 1;
    }
    assert!(interruptions > 20, "{interruptions}");
    let again = run(&whole, true).await.unwrap();
    assert_eq!(again, Migrated::default());
}
