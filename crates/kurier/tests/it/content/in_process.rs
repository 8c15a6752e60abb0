//! Without Redis the process keeps the same keys.

use std::collections::BTreeMap;

use kurier::app::App;
use kurier::config::{Config, ServeArgs, StoreArgs};
use kurier::flow::content::{Importer, Source, catch_up};
use kurier::keyring;
use kurier_core::content::{Entry, Keyspace, Siblings, Slugger, Stored};
use kurier_store::Scope;
use kurier_store::kv::{KvExt as _, Order};

use super::HANDBOOK;

/// What stands at a key, in the form of an entry.
async fn held(app: &App, prefix: &str, entry: &Entry) -> Stored {
    let (kv, key) = (app.keyspace.as_ref(), format!("{prefix}{}", entry.key));
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    match &entry.stored {
        Stored::Hash(fields) => {
            let held = kv.hash_get_all(&key).await.expect("a hash");
            assert_eq!(held.len(), fields.len(), "{key}");
            let of = |name: &String| text(held.get(name).expect("a field").clone());
            Stored::Hash(
                fields
                    .iter()
                    .map(|(name, _)| (name.clone(), of(name)))
                    .collect(),
            )
        }
        Stored::SortedSet(_) => {
            let range = kv.sorted_range(&key, 0, -1, Order::Ascending);
            let members = range.await.expect("a sorted set").into_iter();
            let members =
                members.map(|it| (it.score as u32, text(it.member).parse().expect("a key")));
            Stored::SortedSet(members.collect())
        }
        Stored::Text(_) => {
            let value = kv.get(&key).await.expect("a text").expect("it is there");
            Stored::Text(text(value).parse().expect("a key"))
        }
        Stored::Set(wanted) => {
            let members = kv.set_members(&key).await.expect("a set");
            assert_eq!(members.len(), wanted.len(), "{key}");
            let has = |it: &&kurier_core::content::Key| members.contains(it.to_string().as_bytes());
            Stored::Set(wanted.iter().filter(has).copied().collect())
        }
    }
}

async fn keys(app: &App, prefix: &str) -> usize {
    let all = app.keyspace.scan_all(prefix).await.expect("scanned");
    let own = format!("{prefix}document:");
    all.iter().filter(|key| !key.starts_with(&own)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_process_keeps_the_same_keys_without_redis() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = StoreArgs {
        data: Some(folder.path().to_owned()),
        ..StoreArgs::default()
    };
    let config = Config::load(store, ServeArgs::default()).expect("settings");
    let app = App::open(&config).await.expect("opened");
    let founded = keyring::found(app.store.access.as_ref(), "default", None, None).await;
    founded.expect("a workspace");
    let scope = Scope(app.store.access.workspaces().await.expect("listed")[0].id);
    let prefix = format!("content:v1:{{{}}}:", scope.0);
    for text in [HANDBOOK, "# Orders\n\nAll else is gone.\n"] {
        let source = Source {
            id: "a.md".to_owned(),
            text: text.to_owned(),
        };
        let imported = Importer::new(&app, scope, false).take(vec![source]).await;
        imported.expect("imported");
        catch_up(&app).await.expect("folded");
        app.content_edge.reconcile_all().await.expect("swapped in");
        let known = app
            .library
            .documents(scope)
            .await
            .expect("listed")
            .remove(0);
        let document = app
            .library
            .held(scope, &known)
            .await
            .expect("read")
            .expect("there");
        let body = &document.body;
        let slugger = Slugger::new(&body.document.settings);
        let keyspace = Keyspace::new(&body.document, &body.source, Siblings::Derived);
        let wanted: Vec<Entry> = keyspace.entries(&slugger).collect();
        for entry in &wanted {
            assert_eq!(
                held(&app, &prefix, entry).await,
                entry.stored,
                "{}",
                entry.key
            );
        }
        let distinct: BTreeMap<&str, ()> = wanted.iter().map(|it| (it.key.as_str(), ())).collect();
        assert_eq!(keys(&app, &prefix).await, distinct.len(), "and no other");
    }
}
