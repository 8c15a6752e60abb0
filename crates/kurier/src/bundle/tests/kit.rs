//! A store, a keyspace, a clock that is moved, and a chain that is mined.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use kurier_core::bundle::chain::{Chain, Header};
use kurier_core::bundle::proof::committing_tx;
use kurier_core::bundle::{
    Block, Commitment, Digest, Hash256, Hex, Policy, Shown, Subject, leaf, mine_block,
};
use kurier_core::id::WorkspaceId;
use kurier_core::keys::bundle::BundleTtls;
use kurier_core::template::Compiled;
use kurier_core::time::Timestamp;
use kurier_store::kv::{KvExt as _, Memory};
use kurier_store::{Scope, Sqlite, Store};

use super::super::{Answer, BundleSettings, Bundles};
use crate::flow::version::{Showing, show};
use crate::flow::{Projector, template, version};
use crate::headers::Setting;

/// 2026-03-15, in milliseconds; each test is a process of its own.
static NOW_MS: AtomicI64 = AtomicI64::new(1_773_576_000_000);

pub fn now() -> Timestamp {
    Timestamp::from_millis(NOW_MS.load(Ordering::SeqCst))
}

pub fn pass(ms: i64) {
    NOW_MS.fetch_add(ms, Ordering::SeqCst);
}

pub struct Kit {
    pub folder: tempfile::TempDir,
    pub store: Store,
    pub kv: Arc<Memory>,
    pub versions: Arc<Projector>,
    pub bundles: Arc<Bundles>,
    pub chain: Vec<Header>,
    pub scope: Scope,
}

pub fn settings(source: &str, swr: bool) -> BundleSettings {
    BundleSettings {
        headers: Setting::parse(source).expect("a source"),
        policy: Policy::new(2, false).expect("two"),
        ttls: BundleTtls::default(),
        swr,
    }
}

impl Kit {
    pub async fn new() -> Self {
        Self::with(|file| settings(&format!("file://{file}?chain=regtest"), true)).await
    }

    pub async fn with(settings: impl FnOnce(&str) -> BundleSettings) -> Self {
        // What is counted before it is there is counted nowhere.
        crate::metrics::recorder();
        let folder = tempfile::tempdir().expect("a folder");
        let store: Store = Sqlite::open(&folder.path().join("db"))
            .expect("opened")
            .into();
        let kv = Arc::new(Memory::new(Arc::new(|| {
            u64::try_from(NOW_MS.load(Ordering::SeqCst)).expect("after 1970")
        })));
        let versions = Projector::of_versions(store.clone(), Arc::default());
        let versions = Arc::new(versions);
        let file = folder.path().join("chain.headers");
        let settings = settings(&file.display().to_string());
        let made = Bundles::new(store.clone(), kv.clone(), versions.clone(), &settings, now);
        let kit = Self {
            bundles: Arc::new(made.expect("usable")),
            folder,
            store,
            kv,
            versions,
            chain: vec![Chain::Regtest.genesis()],
            scope: Scope(WorkspaceId::new(now(), [1; 10])),
        };
        kit.write();
        kit.bundles.refresh().await;
        kit
    }

    pub fn file(&self) -> PathBuf {
        self.folder.path().join("chain.headers")
    }

    pub fn write(&self) {
        let bytes: Vec<u8> = self.chain.iter().flat_map(Header::bytes).collect();
        std::fs::write(self.file(), bytes).expect("written");
    }

    /// A block with this transaction, or with some other.
    pub fn mine(&mut self, tx: Option<&[u8]>) -> Block {
        static SALT: AtomicU64 = AtomicU64::new(0);
        let salt = SALT.fetch_add(1, Ordering::SeqCst);
        let other = Hash256::of(&salt.to_le_bytes());
        let txids = std::iter::once(other).chain(tx.map(Hash256::of)).collect();
        let parent = self.chain[self.chain.len() - 1];
        let block = mine_block(&parent, txids, parent.time + 600, 1_000).expect("soon");
        self.chain.push(block.header);
        block
    }

    pub fn mine_many(&mut self, count: usize) {
        for _ in 0..count {
            self.mine(None);
        }
    }

    /// Has the headers looked at, however lately they were.
    pub async fn look(&self) {
        self.write();
        pass(500);
        self.bundles.headers().hurry();
        self.bundles.refresh().await;
    }

    pub async fn publish(&self, name: &str) -> Digest {
        let document = serde_json::from_str(&format!(r#"{{"name":"{name}","text":"Hello"}}"#));
        let document = document.expect("JSON");
        let compiled = Compiled::new(&document).expect("good");
        let done = template::publish(&self.store, self.scope, &compiled, document).await;
        done.expect("published");
        self.versions.drain().await.expect("folded");
        let query = kurier_store::VersionQuery {
            limit: 100,
            ..Default::default()
        };
        let page = self.store.versions.published(self.scope, &query).await;
        let all = page.expect("read").versions;
        let found = all.iter().find(|it| it.version.name == format!("{name}@1"));
        found.expect("published").id
    }

    /// A transaction that commits to a version, and to nothing else.
    pub async fn transaction(&self, id: &Digest) -> Vec<u8> {
        let known = version::find(&self.store, self.scope, id).await;
        let content = known.expect("read").expect("there").version.content_sha256;
        committing_tx(&leaf(&self.scope.0.to_string(), id, &content), 7)
    }

    /// Shows the block of a transaction for a version.
    pub async fn show(&self, id: &Digest, tx: &[u8], block: &Block, height: u32) {
        let bump = block.txs.prove(height, 1).expect("the second");
        let shown = Shown {
            tx: Some(Hex(tx.to_vec())),
            bump: Some(Hex(bump.bytes())),
            header: Some(Hex(block.header.bytes().to_vec())),
            ..Shown::default()
        };
        let subject = Subject {
            version: *id,
            commitment: Commitment::OpReturn {},
        };
        let headers = Some(self.bundles.headers());
        let done = show(&self.store, self.scope, subject, &shown, headers).await;
        assert!(matches!(done, Ok(Showing::Done { .. })), "{done:?}");
        self.versions.drain().await.expect("folded");
        self.forget().await;
    }

    /// What the follower does.
    pub async fn forget(&self) {
        let zero = kurier_core::event::Position(0);
        self.bundles.forget_changed(zero).await.expect("forgotten");
    }

    /// A version in a block of its own, on top of which are so many others.
    pub async fn proven(&mut self, name: &str, others: usize) -> Digest {
        let id = self.publish(name).await;
        let tx = self.transaction(&id).await;
        let block = self.mine(Some(&tx));
        let height = self.chain.len() as u32 - 1;
        self.mine_many(others);
        self.look().await;
        self.show(&id, &tx, &block, height).await;
        id
    }

    pub async fn ask(&self, id: &Digest) -> Answer {
        let answer = self.bundles.answer(self.scope, *id, 0).await;
        answer.expect("answered").expect("known")
    }

    pub async fn keys(&self) -> Vec<String> {
        let keys = self.kv.scan_all("cache:").await.expect("scanned");
        keys.into_iter().collect()
    }

    pub async fn value(&self, key: &str) -> String {
        let value = self.kv.get(key).await.expect("read").expect("there");
        String::from_utf8(value).expect("UTF-8")
    }

    /// What a counter or gauge stands at.
    pub fn metric(name: &str) -> f64 {
        let text = crate::metrics::recorder().render();
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let line = lines.find(|line| line.split([' ', '{']).next() == Some(name));
        line.and_then(|line| line.split(' ').next_back()?.parse().ok())
            .unwrap_or(0.0)
    }
}
