//! Several processes over one PostgreSQL: nothing lost, nothing doubled unseen, no limit
//! broken, whoever is killed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use kurier_core::event::{Event, Kind};
use kurier_core::id::{EventId, MessageId};
use kurier_core::message::{Rendered, Report, Request};
use kurier_core::value::Object;
use kurier_store::{MessageFilter, Scope, Store};
use serde_json::json;

use super::{LIMIT, VARIABLES, merge, set, webhook};
use crate::channels::Sink;
use crate::harness::{Database, Server, eventually};

const PROCESSES: usize = 4;

/// What came, and when: kept by the id it carried.
#[derive(Default)]
struct Kept {
    webhooks: Mutex<HashMap<String, u32>>,
    times: Mutex<Vec<Instant>>,
}

impl Kept {
    fn count(&self) -> usize {
        self.webhooks.lock().expect("kept").len()
    }
}

async fn keep(State(kept): State<Arc<Kept>>, headers: HeaderMap) -> &'static str {
    let id = headers.get("webhook-id").and_then(|id| id.to_str().ok());
    let id = id.expect("every webhook has an id").to_owned();
    kept.times.lock().expect("kept").push(Instant::now());
    *kept.webhooks.lock().expect("kept").entry(id).or_default() += 1;
    "ok"
}

/// A server that takes webhooks, many of them.
async fn catcher() -> (String, Arc<Kept>) {
    let kept = Arc::new(Kept::default());
    let router = Router::new().fallback(keep).with_state(kept.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("bound"));
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, kept)
}

/// Asked to stop in the middle, a server finishes what it has begun: of nothing it is unknown
/// what became.
#[tokio::test(flavor = "multi_thread")]
async fn who_is_asked_to_stop_finishes_what_is_under_way() {
    let database = Database::postgres().await;
    let (url, kept) = catcher().await;
    let server = Server::start_with(database.beside(), &VARIABLES).await;
    set(&server.api, "hook", webhook(json!({"url": url}))).await;
    let store = database.store().await;
    flood(&store, scope(&store).await, 20_000, 0).await;
    eventually("some came", LIMIT, async || {
        (kept.count() >= 500).then_some(())
    })
    .await;
    server.terminate().await;
    let begun = told(&store, Kind::MessageSending).await;
    let sent = told(&store, Kind::MessageSent).await;
    assert!(begun.len() < 20_000, "it was all over before");
    assert_eq!(begun.len(), sent.len());
    assert_eq!(kept.count(), sent.len());
}

/// Counts mails by recipient, as they come: a sink that nobody reads from stands still.
async fn collect(mut sink: Sink, mails: Arc<Mutex<HashMap<String, u32>>>) {
    loop {
        let mail = sink.next("mail").await;
        let to = mail["to"][0].to_string();
        *mails.lock().expect("kept").entry(to).or_default() += 1;
    }
}

async fn servers(database: &Database) -> Vec<Server> {
    let mut servers = Vec::new();
    for _ in 0..PROCESSES {
        servers.push(Server::start_with(database.beside(), &VARIABLES).await);
    }
    servers
}

fn request(n: usize, mails: usize) -> Event {
    let now = kurier::clock::now();
    let message = MessageId::new(now, kurier::clock::random());
    let is_mail = n < mails;
    let request = Request {
        message,
        origin: None,
        channel: if is_mail { "email" } else { "hook" }.into(),
        template: None,
        template_version: None,
        body: Some(Rendered {
            subject: Some("Hello".into()),
            text: Some("Hello.".into()),
            json: Some("{}".into()),
            ..Rendered::default()
        }),
        to: is_mail.then(|| format!("user{n}@example.com")),
        topic: None,
        inputs: Object::new(),
        priority: 5,
        scheduled_at: None,
    };
    Event {
        id: EventId::from_uuid(message.as_uuid()),
        kind: Kind::MessageRequested,
        contact: None,
        occurred_at: now,
        recorded_at: now,
        payload: serde_json::to_string(&request).expect("JSON"),
    }
}

/// Asks for messages; answers the ids.
async fn flood(store: &Store, scope: Scope, count: usize, mails: usize) -> Vec<String> {
    let mut ids = Vec::with_capacity(count);
    for from in (0..count).step_by(1_000) {
        let to = (from + 1_000).min(count);
        let events: Vec<Event> = (from..to).map(|n| request(n, mails)).collect();
        ids.extend(events.iter().map(|event| event.id.to_string()));
        store.queue.request(scope, events).await.expect("asked");
    }
    ids
}

async fn scope(store: &Store) -> Scope {
    Scope(store.access.workspaces().await.expect("listed")[0].id)
}

/// A bucket of 60 a minute: 60 at once, then one each second, by all processes together.
#[tokio::test(flavor = "multi_thread")]
async fn a_rate_holds_over_four_processes() {
    let database = Database::postgres().await;
    let (url, kept) = catcher().await;
    let servers = servers(&database).await;
    let mut settings = webhook(json!({"url": url}));
    merge(&mut settings, json!({"rate_limit_per_minute": 60}));
    set(&servers[0].api, "hook", settings).await;
    let store = database.store().await;
    flood(&store, scope(&store).await, 100, 0).await;
    eventually("more than a bucket came", LIMIT, async || {
        (kept.count() >= 64).then_some(())
    })
    .await;
    let times = kept.times.lock().expect("kept").clone();
    let late = |n: usize| (times[n] - times[0]).as_secs_f64();
    for n in 60..times.len() {
        let earliest = (n - 59) as f64 - 0.5;
        assert!(late(n) >= earliest, "the {n}th came after {} s", late(n));
    }
}

/// A load, and how often a process is killed under it.
struct Torture {
    messages: usize,
    mails: usize,
    kills: usize,
}

/// Whoever is killed in the middle: every message arrives; one that arrives twice was said to
/// be unknown, and came under the same id; and the ledger tells of all.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_and_nothing_doubled_unseen() {
    torture(Torture {
        messages: 4_000,
        mails: 200,
        kills: 3,
    })
    .await;
}

mod long_run {
    use super::{Torture, torture};

    /// 20,000 messages, twelve processes killed, and leases that have to end.
    #[tokio::test(flavor = "multi_thread")]
    async fn nothing_is_lost_and_nothing_doubled_unseen() {
        torture(Torture {
            messages: 20_000,
            mails: 1_000,
            kills: 12,
        })
        .await;
    }
}

async fn torture(torture: Torture) {
    let Torture {
        messages,
        mails: mail_count,
        kills,
    } = torture;
    let database = Database::postgres().await;
    let (url, kept) = catcher().await;
    let smtp = Sink::smtp(json!({})).await;
    let port = smtp.port;
    let mails = Arc::new(Mutex::new(HashMap::new()));
    tokio::spawn(collect(smtp, mails.clone()));
    let mut servers = servers(&database).await;
    let quick = json!({"url": url, "timeout_seconds": 10});
    set(&servers[0].api, "hook", webhook(quick)).await;
    let email = json!({"host": "127.0.0.1", "port": port, "security": "none",
        "timeout_seconds": 10, "from": {"address": "kurier@example.com"}});
    set(
        &servers[0].api,
        "email",
        json!({"kind": "email", "settings": email}),
    )
    .await;
    let store = database.store().await;
    let scope = scope(&store).await;
    let ids = flood(&store, scope, messages, mail_count).await;
    for kill in 1..=kills {
        let share = messages * kill / (kills + 4);
        eventually("some more came", LIMIT, async || {
            (kept.count() >= share).then_some(())
        })
        .await;
        let killed = servers.remove(kurier::clock::random::<1>()[0] as usize % PROCESSES);
        killed.kill9().await;
        servers.push(Server::start_with(database.beside(), &VARIABLES).await);
    }
    let mut stand = Vec::new();
    let all = async {
        loop {
            stand = counts(&store, scope).await;
            if stand == [("sent", messages as u64)] {
                break;
            }
            tokio::task::yield_now().await;
        }
    };
    let in_time = tokio::time::timeout(LIMIT * 3, all).await;
    assert!(in_time.is_ok(), "not all are sent: {stand:?}");
    let unknown = told(&store, Kind::MessageUnknown).await;
    let came = kept.webhooks.lock().expect("kept").clone();
    for id in &ids[mail_count..] {
        let times = came.get(id).copied().unwrap_or(0);
        assert!(times >= 1, "{id} never came");
        assert!(
            times == 1 || unknown.contains_key(id),
            "{id} came {times} times, unseen"
        );
    }
    assert_eq!(came.len(), messages - mail_count);
    eventually("all mails are counted", LIMIT, async || {
        (mails.lock().expect("kept").len() == mail_count).then_some(())
    })
    .await;
    let mails = mails.lock().expect("kept");
    let again = mails.values().filter(|times| **times > 1).count();
    assert!(again <= unknown.len());
    assert!(!unknown.is_empty(), "no kill hit anything");
}

/// How many there are in each state.
async fn counts(store: &Store, scope: Scope) -> Vec<(&'static str, u64)> {
    let all = MessageFilter::default();
    let counted = store.messages.message_counts(scope, &all).await;
    let mut counts: std::collections::BTreeMap<&'static str, u64> = Default::default();
    for count in counted.expect("counted") {
        *counts.entry(count.state.as_str()).or_default() += count.count;
    }
    counts.into_iter().collect()
}

/// The messages of which the log says something, and how often.
async fn told(store: &Store, kind: Kind) -> HashMap<String, u32> {
    let mut told = HashMap::new();
    let mut after = kurier_core::event::Position(0);
    loop {
        let batch = store.log.read(after, 10_000).await.expect("read");
        let Some(last) = batch.last() else {
            return told;
        };
        after = last.position;
        for recorded in batch.iter().filter(|it| it.event.kind == kind) {
            let report: Report = serde_json::from_str(&recorded.event.payload).expect("a report");
            *told.entry(report.message.to_string()).or_default() += 1;
        }
    }
}
