//! What cannot be folded is set aside, what stops a projection is told, and how fast it goes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kurier::flow::Projector;
use kurier::flow::rebuild::{Work, rebuild};
use kurier::{clock, keyring};
use kurier_core::event::{Event, Kind, Recorded};
use kurier_core::projection::{
    Audit, Folded, Health, Loaded, Need, Projection, SlackWorkspaces, Table, UnreadableRow,
};
use kurier_store::{Scope, Store};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{HEADERS, LIMIT, happen, prove, restart, settled, start};
use crate::cli::on;
use crate::harness::{Database, Server, eventually, on_both};

on_both![
    what_cannot_be_folded_is_set_aside_live_and_in_a_rebuild,
    a_fold_that_panics_is_told_and_goes_on_when_it_can,
    what_stopped_a_projection_last_is_known_when_it_goes_on,
    a_flow_that_panics_ends_the_process,
    how_fast_a_projection_goes_is_told,
];

async fn founded(database: &Database) -> (Store, Scope) {
    let store = database.store().await;
    let made = keyring::found(store.access.as_ref(), "default", None, None).await;
    made.expect("a workspace");
    let workspaces = store.access.workspaces().await.expect("listed");
    let scope = Scope(workspaces[0].id);
    (store, scope)
}

async fn say(store: &Store, scope: Scope, kind: Kind, payload: &str) {
    let now = clock::now();
    let event = Event {
        id: clock::fresh_event_id(),
        kind,
        contact: None,
        occurred_at: now,
        recorded_at: now,
        payload: payload.to_owned(),
    };
    let appended = store.log.append(scope, vec![event]).await;
    appended.expect("appended");
}

fn projector(store: &Store, of: &'static dyn Projection) -> Projector {
    Projector::of(store.clone(), Arc::default(), of)
}

/// Neither skipped silently nor in the way of others, however it is folded.
async fn what_cannot_be_folded_is_set_aside_live_and_in_a_rebuild(database: Database) {
    let (store, scope) = founded(&database).await;
    let message = uuid::Uuid::nil();
    let sent = json!({"message": message, "channel": "outbox"}).to_string();
    let nowhere = json!({"message": message}).to_string();
    for payload in [&sent, &nowhere, &sent] {
        say(&store, scope, Kind::MessageSent, payload).await;
    }
    say(&store, scope, Kind::SegmentDeleted, "{").await;
    say(&store, scope, Kind::SlackWorkspaceCreated, "[1]").await;
    let cases: [(&'static dyn Projection, &str); 3] = [
        (&Health, "names no channel"),
        (&Audit, "EOF"),
        (&SlackWorkspaces, "invalid"),
    ];
    for (projection, reason) in cases {
        let name = projection.name();
        projector(&store, projection).drain().await.expect("folded");
        let live = store.projections.set_aside(name, 10).await.expect("read");
        assert!(!live.is_empty(), "{name} set nothing aside");
        assert!(live[0].reason.contains(reason), "{name}: {live:?}");
        let work = watch::Sender::new(Work::default());
        rebuild(&store, projection, &work).await.expect("rebuilt");
        let anew = store.projections.set_aside(name, 10).await.expect("read");
        assert_eq!(anew, live, "{name}");
    }
    let counted = database.count("SELECT sent FROM channel_health").await;
    assert_eq!(counted, 2, "the others are counted");
}

/// A projection with a mistake in it, until it is mended.
struct Mistaken {
    is_mended: AtomicBool,
}

impl Projection for Mistaken {
    fn name(&self) -> &'static str {
        "mistaken"
    }

    fn tables(&self) -> &'static [&'static Table] {
        &[]
    }

    fn needs(&self, _: &[Recorded]) -> Vec<Need> {
        Vec::new()
    }

    fn follows(&self, _: &[Loaded]) -> Vec<Need> {
        Vec::new()
    }

    fn fold(&self, _: Vec<Loaded>, _: &[Recorded]) -> Result<Folded, UnreadableRow> {
        assert!(self.is_mended.load(Ordering::SeqCst), "a mistake");
        Ok(Folded::default())
    }
}

async fn a_fold_that_panics_is_told_and_goes_on_when_it_can(database: Database) {
    let (store, scope) = founded(&database).await;
    let mistaken: &'static Mistaken = Box::leak(Box::new(Mistaken {
        is_mended: AtomicBool::new(false),
    }));
    let projector = Arc::new(projector(&store, mistaken));
    let running = projector.clone();
    let running = tokio::spawn(async move { running.run().await });
    let progress = async || {
        let progress = store.projections.progress("mistaken").await;
        progress.expect("read")
    };
    let told = eventually("the panic is told", LIMIT, async || {
        progress().await.failure
    })
    .await;
    assert!(told.1.contains("panicked: a mistake"), "{told:?}");
    let work = watch::Sender::new(Work::default());
    let rebuilt = rebuild(&store, mistaken, &work).await;
    let refused = rebuilt.expect_err("it panics, too").to_string();
    assert!(refused.contains("panicked: a mistake"), "{refused}");
    mistaken.is_mended.store(true, Ordering::SeqCst);
    say(&store, scope, Kind::SegmentDeleted, "{}").await;
    let head = store.log.head().await.expect("read");
    assert!(projector.reach(head, LIMIT).await, "it goes on");
    eventually("the failure is over", LIMIT, async || {
        progress().await.failure.is_none().then_some(())
    })
    .await;
    assert_eq!(progress().await.last_failure, Some(told));
    assert!(!running.is_finished(), "it was never ended");
    running.abort();
}

async fn view(server: &Server, name: &str) -> Value {
    let path = format!("/api/v1/projections/{name}");
    server.api.get(&path).await.expect(200).json()
}

async fn what_stopped_a_projection_last_is_known_when_it_goes_on(database: Database) {
    let server = start(database).await;
    settled(&server.api).await;
    assert_eq!(view(&server, "daily").await["last_error"], Value::Null);
    let rename = async |from: &str, to: &str| {
        let sql = format!("ALTER TABLE {from} RENAME TO {to}");
        server.database.execute(&sql).await;
    };
    rename("daily_count", "taken_away").await;
    happen(&server.api, 1).await;
    let failing = eventually("it fails", LIMIT, async || {
        let view = view(&server, "daily").await;
        (!view["failure"].is_null()).then_some(view)
    })
    .await;
    assert_eq!(failing["last_error"]["at"], failing["failure"]["since"]);
    let reason = failing["last_error"]["reason"].as_str().expect("a text");
    assert!(reason.contains("daily_count"), "{reason}");
    rename("taken_away", "daily_count").await;
    settled(&server.api).await;
    eventually("the failure is over", LIMIT, async || {
        let view = view(&server, "daily").await;
        assert_eq!(view["last_error"], failing["last_error"]);
        view["failure"].is_null().then_some(())
    })
    .await;
    let status = on(&server.database, &["projection", "status", "daily"]).expect(0);
    assert!(status.stdout.contains("last error  "), "{}", status.stdout);
    assert!(
        status.stdout.contains("state       ok"),
        "{}",
        status.stdout
    );
    prove(&server.database);
}

/// Whoever watches the process starts it again; standing still would be noticed by nobody.
async fn a_flow_that_panics_ends_the_process(database: Database) {
    let stopped = start(database).await.terminate().await;
    let variables = [HEADERS, ("TEST_PANIC_AT", "daily.read")];
    let server = stopped.restart_with(&variables).await;
    happen(&server.api, 1).await;
    let (status, left) = server.wait().await;
    assert_eq!(status.code(), Some(1));
    let log = left.log();
    assert!(log.contains("a flow panicked"), "{log}");
    let server = restart(left).await;
    settled(&server.api).await;
    prove(&server.database);
}

async fn how_fast_a_projection_goes_is_told(database: Database) {
    let server = start(database).await;
    let api = server.api.clone();
    let load = tokio::spawn(async move {
        for round in 0.. {
            happen(&api, round).await;
        }
    });
    eventually("the API tells how fast", LIMIT, async || {
        let list = server.api.get("/api/v1/projections").await.expect(200);
        let list = list.json();
        let all = list["data"].as_array().expect("a list").clone();
        let is_fast = |it: &Value| it["events_per_second"].as_f64() > Some(0.0);
        all.iter().all(is_fast).then_some(())
    })
    .await;
    let options = server.database.options();
    let command = move || {
        let mut words = vec!["projection", "status", "contacts", "--json"];
        words.extend(options.iter().map(String::as_str));
        crate::cli::kurier(&words).expect(0).json()
    };
    eventually("the command tells how fast", LIMIT, async || {
        let told = tokio::task::spawn_blocking(command.clone()).await;
        let rate = told.expect("it ran")["events_per_second"].as_f64();
        (rate > Some(0.0)).then_some(())
    })
    .await;
    load.abort();
    let list = on(&server.database, &["projection", "list"]).expect(0);
    assert!(list.stdout.contains("EVENTS/S") || list.stdout.contains("events/s"));
}
