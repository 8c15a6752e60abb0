//! A document that is imported between two looks of one who reads it: what is found belongs
//! together, and what cannot be read is no answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use kurier::app::App;
use kurier::config::{Config, ServeArgs, StoreArgs};
use kurier::flow::content::{Found, Importer, Library, Quoting, Source, catch_up, withdraw};
use kurier::keyring;
use kurier_core::contact::Standing;
use kurier_core::content::{Digest, Key, Target};
use kurier_core::event::Position;
use kurier_core::id::{AddressKey, ContactId};
use kurier_core::projection::{CONTENT_BODY, CONTENT_DOCUMENT, Loaded, Need};
use kurier_core::template::Compiled;
use kurier_core::time::Timestamp;
use kurier_store::views::{
    Applied, Batch, ContactPage, ContactQuery, TimelinePage, TimelineQuery, Views,
};
use kurier_store::{Error, Result, Scope};
use serde_json::json;

use super::HANDBOOK;

const SOURCE: &str = "a.md";
const KEY: &str = "para:refund_policy:001";

/// What happens to the document just before it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meanwhile {
    Edited,
    Cut,
    Withdrawn,
}

/// Views before whose looks into a table something happens, so often.
struct Between {
    app: Arc<App>,
    scope: Scope,
    table: &'static str,
    meanwhile: Meanwhile,
    left: AtomicUsize,
}

impl Between {
    fn happens(&self, needs: &[Need]) -> Option<usize> {
        let is_it = needs.iter().any(|need| need.table.name == self.table);
        let take = |left: usize| left.checked_sub(1).filter(|_| is_it);
        self.left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, take)
            .ok()
    }

    async fn happen(&self, round: usize) {
        match self.meanwhile {
            Meanwhile::Edited => {
                let text = HANDBOOK.replace("two days", &format!("{round} days"));
                import(&self.app, self.scope, &text).await;
            }
            Meanwhile::Cut => import(&self.app, self.scope, "# Orders\n").await,
            Meanwhile::Withdrawn => {
                let withdrawn = withdraw(&self.app, self.scope, SOURCE).await;
                withdrawn.expect("withdrawn");
            }
        }
    }
}

#[async_trait]
impl Views for Between {
    async fn load(&self, needs: Vec<Need>) -> Result<Vec<Loaded>> {
        if let Some(round) = self.happens(&needs) {
            self.happen(round).await;
        }
        self.app.store.views.load(needs).await
    }

    async fn checkpoint(&self, name: &str) -> Result<Position> {
        self.app.store.views.checkpoint(name).await
    }

    async fn set_checkpoint(&self, name: &str, position: Position) -> Result<()> {
        self.app.store.views.set_checkpoint(name, position).await
    }

    async fn apply(&self, batch: Batch) -> Result<Applied> {
        self.app.store.views.apply(batch).await
    }

    async fn contact(&self, scope: Scope, id: ContactId) -> Result<Option<Standing>> {
        self.app.store.views.contact(scope, id).await
    }

    async fn contacts(&self, scope: Scope, query: &ContactQuery) -> Result<ContactPage> {
        self.app.store.views.contacts(scope, query).await
    }

    async fn timeline(
        &self,
        scope: Scope,
        contacts: &[ContactId],
        query: &TimelineQuery,
    ) -> Result<TimelinePage> {
        self.app.store.views.timeline(scope, contacts, query).await
    }

    async fn timeline_positions(&self, scope: Scope, ids: &[ContactId]) -> Result<Vec<Position>> {
        self.app.store.views.timeline_positions(scope, ids).await
    }

    async fn erased_at(&self, scope: Scope, address: AddressKey) -> Result<Option<Timestamp>> {
        self.app.store.views.erased_at(scope, address).await
    }

    async fn poisoned(&self, projection: &str) -> Result<u64> {
        self.app.store.views.poisoned(projection).await
    }
}

async fn import(app: &App, scope: Scope, text: &str) {
    let source = Source {
        id: SOURCE.to_owned(),
        text: text.to_owned(),
    };
    let imported = Importer::new(app, scope, false).take(vec![source]).await;
    imported.expect("imported");
    catch_up(app).await.expect("folded");
}

/// A library with a document, which reads while something happens to that.
async fn library(
    app: &Arc<App>,
    table: &'static str,
    meanwhile: Meanwhile,
    rounds: usize,
) -> (Library, Scope) {
    let name = format!("{table} {meanwhile:?} {rounds}");
    let founded = keyring::found(app.store.access.as_ref(), &name, None, None).await;
    let scope = Scope(founded.expect("a workspace").workspace.id);
    import(app, scope, HANDBOOK).await;
    let mut store = app.store.clone();
    store.views = Arc::new(Between {
        app: app.clone(),
        scope,
        table,
        meanwhile,
        left: AtomicUsize::new(rounds),
    });
    (Library::new(store), scope)
}

async fn app(folder: &std::path::Path) -> Arc<App> {
    let store = StoreArgs {
        data: Some(folder.to_owned()),
        ..StoreArgs::default()
    };
    let config = Config::load(store, ServeArgs::default()).expect("settings");
    App::open(&config).await.expect("opened")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_imported_while_it_is_read_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let app = app(folder.path()).await;
    let key: Key = KEY.parse().expect("a key");
    for table in [CONTENT_DOCUMENT.name, CONTENT_BODY.name] {
        for rounds in [1, 2] {
            let (library, scope) = library(&app, table, Meanwhile::Edited, rounds).await;
            let Found::Node { held, at } = library.find(scope, key).await.expect("read") else {
                panic!("{table}: it is there all the time");
            };
            assert_eq!(held.body.document.nodes[at].key, key);
            let source = &held.body.source;
            assert!(!source.contains("two days"), "{table}: the newer one");
            let sha256 = Digest::of_bytes(source.as_bytes());
            assert_eq!(held.known.sha256, sha256, "{table}: of one piece");
        }
        for meanwhile in [Meanwhile::Cut, Meanwhile::Withdrawn] {
            let (library, scope) = library(&app, table, meanwhile, 1).await;
            let found = library.find(scope, key).await.expect("read");
            let is_gone = matches!(&found, Found::Gone { node, .. } if node.gone.is_some());
            assert!(is_gone, "{table}, {meanwhile:?}: {found:?}");
        }
    }
}

/// Then it is tried again: a message is no dead letter of it, and nobody is told it is not there.
#[tokio::test(flavor = "multi_thread")]
async fn what_changes_all_the_time_is_not_absent() {
    let folder = tempfile::tempdir().expect("a folder");
    let app = app(folder.path()).await;
    let (library, scope) = library(&app, CONTENT_BODY.name, Meanwhile::Edited, 1_000).await;
    let quoting = Quoting::new(Arc::new(library));
    let template = json!({"name": "x", "text": format!("{{{{ content('{KEY}') }}}}")});
    let template = serde_json::from_value(template).expect("a document");
    let compiled = Compiled::new(&template).expect("a template");
    let quotes = quoting.quotes(scope, &compiled, Target::Text).await;
    assert!(matches!(quotes, Err(Error::Unavailable(_))), "{quotes:?}");
}
