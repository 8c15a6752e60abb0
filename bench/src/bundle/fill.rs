//! Versions to serve: published, committed to in two blocks, proven.

use std::sync::Arc;

use anyhow::{Context as _, ensure};
use kurier::app::open_store;
use kurier::config::Database;
use kurier::flow::Projector;
use kurier::flow::version::Unanchored;
use kurier::{clock, keyring};
use kurier_core::bundle::chain::Chain;
use kurier_core::bundle::proof::committing_tx;
use kurier_core::bundle::{Hex, Known, Shown};
use kurier_core::event::{Event, Kind};
use kurier_core::template::{Compiled, Publication};
use kurier_core::value::Value;
use kurier_store::{Scope, Store, VersionQuery};

use super::chain::HomeChain;

pub const ADMIN_KEY: &str = "admin-key-of-the-bench";
const WRITE_KEY: &str = "write-key-of-the-bench";
const BATCH: usize = 1_000;
/// Beside a transaction stand so many others: a path of 12 levels.
const OTHERS: usize = 4_000;

pub struct Filled {
    pub folder: tempfile::TempDir,
    pub ids: Vec<String>,
    /// Of these the block is replaced.
    pub replaced: usize,
}

/// All but a tenth are in one block, the others in the next, which is the last.
pub async fn fill(bundles: usize, chain: &mut HomeChain) -> anyhow::Result<Filled> {
    let folder = tempfile::tempdir()?;
    let database = Database::Embedded {
        folder: folder.path().to_owned(),
    };
    let store = open_store(&database).await?;
    let keys = (Some(WRITE_KEY.to_owned()), Some(ADMIN_KEY.to_owned()));
    let founded = keyring::found(store.access.as_ref(), "default", keys.0, keys.1).await?;
    let scope = Scope(founded.workspace.id);
    let versions = Arc::new(Projector::of_versions(store.clone(), Arc::default()));
    let replaced = bundles / 10;
    for (from, to) in [(0, bundles - replaced), (bundles - replaced, bundles)] {
        publish(&store, scope, from..to).await?;
        versions.drain().await?;
        anchor(&store, scope, chain).await?;
        versions.drain().await?;
    }
    chain.write()?;
    let query = VersionQuery {
        limit: usize::MAX,
        ..VersionQuery::default()
    };
    let all = store.versions.published(scope, &query).await?.versions;
    let ids: Vec<String> = all.iter().map(|known| known.id.to_string()).collect();
    ensure!(ids.len() == bundles, "{} versions are there", ids.len());
    Ok(Filled {
        folder,
        ids,
        replaced,
    })
}

async fn publish(
    store: &Store,
    scope: Scope,
    numbers: std::ops::Range<usize>,
) -> anyhow::Result<()> {
    let all: Vec<usize> = numbers.collect();
    for batch in all.chunks(BATCH) {
        let events: anyhow::Result<Vec<Event>> = batch.iter().map(|n| published(*n)).collect();
        store.log.append(scope, events?).await?;
    }
    Ok(())
}

fn published(number: usize) -> anyhow::Result<Event> {
    let json = format!(r#"{{"name":"t{number}","text":"Hello {{{{ contact.name }}}}, {number}"}}"#);
    let document: Value = serde_json::from_str(&json)?;
    let compiled = Compiled::new(&document).ok().context("a good template")?;
    let publication = Publication::new(&compiled, 1, document);
    let now = clock::now();
    Ok(Event {
        id: publication.event_id(),
        kind: Kind::TemplatePublished,
        contact: None,
        occurred_at: now,
        recorded_at: now,
        payload: serde_json::to_string(&publication)?,
    })
}

async fn anchor(store: &Store, scope: Scope, chain: &mut HomeChain) -> anyhow::Result<()> {
    let unanchored = Unanchored::gather(store, scope)
        .await?
        .context("some are new")?;
    let root = unanchored.root();
    let tx = committing_tx(&root, 1);
    let mut txs = vec![tx.clone()];
    txs.extend((0..OTHERS as u64).map(|salt| committing_tx(&root, salt + 2)));
    let block = chain.mine(&txs)?;
    let bump = block.txs.prove(chain.height(), 1)?;
    let shown = Shown {
        tx: Some(Hex(tx)),
        bump: Some(Hex(bump.bytes())),
        header: Some(Hex(block.header.bytes().to_vec())),
        ..Shown::default()
    };
    let known = Known {
        chain: Chain::Regtest,
        tree: None,
        now: clock::now().as_millis() / 1_000,
    };
    let evidence = shown.read(&root, Some(&known))?;
    unanchored.anchored(store, scope, &evidence).await?;
    Ok(())
}
