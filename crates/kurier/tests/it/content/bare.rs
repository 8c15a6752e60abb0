//! Keys without a tenant: of one workspace, and not on a cluster.

use kurier::app::App;
use kurier::config::{Config, ServeArgs, StoreArgs};
use kurier::flow::content::{Importer, Source, catch_up};
use kurier::keyring;
use kurier_core::keys::Form;
use kurier_store::Scope;
use kurier_store::kv::KvExt as _;

use super::HANDBOOK;
use crate::cli::with_variables;

#[tokio::test(flavor = "multi_thread")]
async fn a_second_workspace_takes_no_key_of_the_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = StoreArgs {
        data: Some(folder.path().to_owned()),
        ..StoreArgs::default()
    };
    let mut config = Config::load(store, ServeArgs::default()).expect("settings");
    config.content.form = Form::Bare;
    let app = App::open(&config).await.expect("opened");
    let access = app.store.access.as_ref();
    for (workspace, text) in [("one", HANDBOOK), ("two", "# Orders\n\nOf another.\n")] {
        let founded = keyring::found(access, workspace, None, None).await;
        let scope = Scope(founded.expect("a workspace").workspace.id);
        let source = Source {
            id: "a.md".to_owned(),
            text: text.to_owned(),
        };
        let imported = Importer::new(&app, scope, false).take(vec![source]).await;
        imported.expect("imported");
        catch_up(&app).await.expect("folded");
        let reconciled = app.content_edge.reconcile_all().await;
        assert_eq!(reconciled.is_ok(), workspace == "one", "{reconciled:?}");
    }
    let refused = app.content_edge.check().await.expect_err("two workspaces");
    assert!(refused.to_string().contains("there are 2"), "{refused}");
    let key = "ch:orders:001:children";
    let children = app
        .keyspace
        .sorted_range(key, 0, -1, kurier_store::kv::Order::Ascending);
    let children = children.await.expect("a sorted set");
    assert_eq!(children.len(), 3, "those of the first");
    drop(app);
    let (path, file) = (folder.path(), folder.path().join("kurier.toml"));
    std::fs::write(&file, "[content]\nkeys = \"bare\"\n").expect("written");
    let serve = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--data",
        path.to_str().expect("a path"),
    ];
    let variables = [("KURIER_CONFIG", file.to_str().expect("a path"))];
    let refused = with_variables(&serve, &variables).expect(1).stderr;
    assert!(
        refused.contains("is for one workspace, and there are 2"),
        "{refused}"
    );
}

#[test]
fn a_cluster_is_refused_at_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, file) = (folder.path(), folder.path().join("kurier.toml"));
    std::fs::write(&file, "[content]\nkeys = \"bare\"\n").expect("written");
    let serve = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--data",
        path.to_str().expect("a path"),
    ];
    let variables = [
        ("KURIER_CONFIG", file.to_str().expect("a path")),
        ("KURIER_REDIS_URL", "redis+cluster://127.0.0.1:1"),
    ];
    let refused = with_variables(&serve, &variables).expect(1).stderr;
    assert!(
        refused.contains("needs a Redis that is no cluster"),
        "{refused}"
    );
}
