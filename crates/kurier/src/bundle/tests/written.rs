//! What happens between reading and writing: a builder that was overtaken leaves nothing.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::{BoxFuture, FutureExt as _};
use kurier_core::bundle::chain::Chain;
use kurier_core::bundle::{Block, Digest, Envelope, Kind, Lineage, Version};
use kurier_store::kv::{Command, Error, Kv, KvExt as _, Memory, Reply, SET_IF_SAME, Script};

use super::super::build::within_bounds;
use super::super::{Asked, Bundles};
use super::kit::{Kit, now, pass, settings};

/// A keyspace in which something happens right before a bundle, or that there is none, is
/// written.
pub struct Meddling {
    kv: Arc<Memory>,
    act: tokio::sync::Mutex<Option<BoxFuture<'static, ()>>>,
    /// Whether who wrote hears no more of it, as if it had been killed.
    is_deadly: bool,
}

impl Meddling {
    pub fn of(kit: &Kit, is_deadly: bool) -> Arc<Self> {
        Arc::new(Self {
            kv: kit.kv.clone(),
            act: tokio::sync::Mutex::default(),
            is_deadly,
        })
    }

    pub async fn before_it_is_written(&self, act: impl Future<Output = ()> + Send + 'static) {
        *self.act.lock().await = Some(act.boxed());
    }

    pub async fn has_acted(&self) -> bool {
        self.act.lock().await.is_none()
    }

    /// Another process on the same keyspace.
    pub fn bundles(self: &Arc<Self>, kit: &Kit) -> Arc<Bundles> {
        let file = kit.file().display().to_string();
        let settings = settings(&format!("file://{file}?chain=regtest"), true);
        let (store, versions) = (kit.store.clone(), kit.versions.clone());
        let made = Bundles::new(store, self.clone(), versions, &settings, now);
        Arc::new(made.expect("usable"))
    }

    async fn meddle(&self) -> bool {
        let Some(act) = self.act.lock().await.take() else {
            return false;
        };
        act.await;
        true
    }
}

#[async_trait]
impl Kv for Meddling {
    async fn run(&self, commands: Vec<Command>) -> Result<Vec<Reply>, Error> {
        let is_unknown = |command: &Command| matches!(command, Command::Set { key, .. } if key.starts_with("cache:bundle:neg:"));
        if commands.iter().any(is_unknown) {
            self.meddle().await;
        }
        self.kv.run(commands).await
    }

    async fn script(
        &self,
        script: &Script,
        keys: &[String],
        args: &[Vec<u8>],
    ) -> Result<Reply, Error> {
        let is_write = script.name == SET_IF_SAME.name;
        let has_acted = is_write && self.meddle().await;
        let reply = self.kv.script(script, keys, args).await;
        if has_acted && self.is_deadly {
            std::future::pending::<()>().await;
        }
        reply
    }

    async fn ping(&self) -> Result<(), Error> {
        self.kv.ping().await
    }
}

/// A version, and a block with a transaction for it that was not shown yet.
async fn unproven(kit: &mut Kit) -> (Digest, Vec<u8>, Block) {
    let id = kit.publish("a").await;
    let tx = kit.transaction(&id).await;
    let block = kit.mine(Some(&tx));
    kit.look().await;
    (id, tx, block)
}

/// A proof is shown, and everybody has forgotten, after a bundle was built and before it is
/// written: it does not stay.
#[tokio::test]
async fn a_builder_that_was_overtaken_writes_nothing_that_stays() {
    let mut kit = Kit::new().await;
    let (id, tx, block) = unproven(&mut kit).await;
    let meddling = Meddling::of(&kit, false);
    let made = meddling.bundles(&kit);
    made.refresh().await;
    let (scope, kit) = (kit.scope, Arc::new(kit));
    let showing = kit.clone();
    let act = async move { showing.show(&id, &tx, &block, 1).await };
    meddling.before_it_is_written(act).await;
    let first = made.answer(scope, id, 0).await;
    let first = first.expect("answered").expect("known");
    assert_eq!(first.confs, Some(1), "it was built again");
    assert!(meddling.has_acted().await, "it happened");
    let next = made.answer(scope, id, 0).await;
    let next = next.expect("answered").expect("known");
    assert_eq!((next.confs, next.cache.hit), (Some(1), true));
}

/// The same, and the builder ends with its write: nobody is told what it had built.
#[tokio::test]
async fn a_builder_that_was_overtaken_and_killed_leaves_nothing() {
    let mut kit = Kit::new().await;
    let (id, tx, block) = unproven(&mut kit).await;
    let meddling = Meddling::of(&kit, true);
    let made = meddling.bundles(&kit);
    made.refresh().await;
    let (scope, kit) = (kit.scope, Arc::new(kit));
    let (showing, (shown, seen)) = (kit.clone(), tokio::sync::oneshot::channel());
    let act = async move {
        showing.show(&id, &tx, &block, 1).await;
        let _ = shown.send(());
    };
    meddling.before_it_is_written(act).await;
    let dying = tokio::spawn(async move { made.answer(scope, id, 0).await });
    seen.await.expect("it was overtaken");
    // Its lock ends by itself.
    pass(10_001);
    let answer = kit.ask(&id).await;
    assert_eq!((answer.confs, answer.cache.hit), (Some(1), false));
    dying.abort();
}

/// It is published, and everybody has forgotten that it was unknown, after it was looked for and
/// before that is noted.
#[tokio::test]
async fn a_version_published_while_it_is_looked_for_is_known_at_once() {
    let (kit, elsewhere) = (Kit::new().await, Kit::new().await);
    let id = elsewhere.publish("later").await;
    let meddling = Meddling::of(&kit, false);
    let made = meddling.bundles(&kit);
    made.refresh().await;
    let (scope, kit) = (kit.scope, Arc::new(kit));
    let publishing = kit.clone();
    let act = async move {
        assert_eq!(publishing.publish("later").await, id);
        publishing.forget().await;
    };
    meddling.before_it_is_written(act).await;
    let first = made.answer(scope, id, 0).await.expect("answered");
    assert!(meddling.has_acted().await, "it happened");
    assert!(first.is_some(), "it was looked for again");
    let next = made.answer(scope, id, 0).await.expect("answered");
    assert!(next.expect("known").cache.hit);
    let noted = kit.kv.exists(&format!("cache:bundle:neg:{id}")).await;
    assert!(!noted.expect("asked"));
}

/// Whoever noted it was killed before it could look again: what it noted is older than what
/// changed since.
#[tokio::test]
async fn that_a_version_is_unknown_is_not_believed_once_versions_have_changed() {
    let kit = Kit::new().await;
    let id = kit.publish("a").await;
    kit.forget().await;
    let asked = Asked {
        workspace: kit.scope.0,
        version: id,
        depth: 0,
    };
    let before = kurier_core::event::Position(0);
    kit.bundles.shelf.put_unknown(&asked, before).await;
    assert_eq!(kit.ask(&id).await.confs, None);
}

#[tokio::test]
async fn what_is_asked_for_and_unknown_leaves_only_that_it_is() {
    let kit = Kit::new().await;
    let id = Digest::of(b"nothing");
    let answer = kit.bundles.answer(kit.scope, id, 0).await;
    assert!(answer.expect("answered").is_none());
    let left: Vec<String> = kit.keys().await;
    let of_it = left.iter().filter(|key| key.contains(&id.to_string()));
    let of_it: Vec<&String> = of_it.collect();
    assert_eq!(of_it, [&format!("cache:bundle:neg:{id}")]);
}

/// Of ancestors that would make a bundle too large the nearest are in it, and it says so.
#[test]
fn a_lineage_that_is_cut_says_so() {
    let version = |number: usize| {
        let parents =
            (0..100).map(|parent: usize| Digest::of(&[number, parent].map(|it| it as u8)));
        Version::new(
            Kind::Template,
            &format!("v{number}"),
            b"",
            parents.collect(),
        )
        .expect("good")
    };
    let lineage = |count: usize| Lineage {
        versions: (0..count).map(version).collect(),
        ..Lineage::default()
    };
    let cut = |count: usize| {
        let envelope = Envelope::of(Chain::Regtest, "acme", &version(99), now());
        let text = within_bounds(envelope.descended(32, lineage(count))).expect("text");
        let read = Envelope::parse(text.get().as_bytes()).expect("a bundle");
        (
            read.lineage.len(),
            text.get().contains("lineageCut"),
            read.lineage_cut,
        )
    };
    assert_eq!(cut(20), (20, false, false));
    assert_eq!(cut(60), (30, true, true));
}
