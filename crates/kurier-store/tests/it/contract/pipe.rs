//! Calls that are under way at the same time on PostgreSQL, whatever becomes of them.

use std::sync::Arc;

use kurier_store::{Appended, Error, Log as _, Postgres};
use sqlx::{Connection as _, PgConnection};

use super::backend::with_postgres;
use super::months::postgres_cases;
use super::place::open_postgres;
use super::space::{Space, event};

postgres_cases! {
    small_groups_go_through_the_pipe,
    who_loses_the_pipe_keeps_each_event_once,
    who_is_far_behind_starts_anew_in_the_pipe,
    an_older_process_appends_beside_a_newer,
}

const SENDERS: usize = 48;
const EVENTS: usize = 40;

async fn scalar(url: &str, sql: &'static str) -> i64 {
    let mut connection = PgConnection::connect(url).await.expect("connected");
    let scalar = sqlx::query_scalar(sql).fetch_one(&mut connection).await;
    scalar.expect("answered")
}

async fn append(store: &Postgres, name: &str) -> Result<Appended, Error> {
    let appended = store.append(Space::new(1).scope, vec![event(name)]).await;
    appended.map(|appended| appended[0])
}

/// Each sends its events one after the other, again and again until they are taken, and has
/// something done after every tenth.
async fn send<Done: Future<Output = ()>>(
    store: Arc<Postgres>,
    sender: usize,
    and: impl Fn() -> Done,
) {
    for n in 0..EVENTS {
        while append(&store, &format!("{sender} {n}")).await.is_err() {}
        if n % 10 == 9 {
            and().await;
        }
    }
}

async fn each_is_there_once(url: &str) {
    let all = (SENDERS * EVENTS) as i64;
    assert_eq!(scalar(url, "SELECT count(DISTINCT id) FROM log").await, all);
    assert_eq!(scalar(url, "SELECT count(*) FROM log").await, all);
    assert_eq!(scalar(url, "SELECT max(position) FROM log").await, all);
}

async fn small_groups_go_through_the_pipe(url: String) {
    let store = Arc::new(open_postgres(&url).await);
    let senders: Vec<_> = (0..SENDERS)
        .map(|sender| tokio::spawn(send(store.clone(), sender, || async {})))
        .collect();
    for sender in senders {
        sender.await.expect("sent");
    }
    each_is_there_once(&url).await;
    let by_whom = "SELECT coalesce(pen, 0) FROM log_head";
    assert!(scalar(&url, by_whom).await > 0, "there was no pipe");
    assert_eq!(
        append(&store, "0 0").await.expect("sent"),
        Appended::Duplicate
    );
}

/// What was under way then may have been taken or not: who sends it again is told which.
async fn who_loses_the_pipe_keeps_each_event_once(url: String) {
    let store = Arc::new(open_postgres(&url).await);
    let cut = |url: String| async move {
        let others = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                      WHERE datname = current_database() AND application_name = 'kurier'";
        scalar(&url, others).await;
    };
    let senders: Vec<_> = (0..SENDERS)
        .map(|sender| {
            let (store, url) = (store.clone(), url.clone());
            let cuts = sender == 0;
            tokio::spawn(send(store, sender, move || {
                let url = Some(url.clone()).filter(|_| cuts);
                async move {
                    if let Some(url) = url {
                        cut(url).await;
                    }
                }
            }))
        })
        .collect();
    for sender in senders {
        sender.await.expect("sent");
    }
    each_is_there_once(&url).await;
    assert!(scalar(&url, "SELECT last_value FROM log_pen").await > 1);
}

async fn who_is_far_behind_starts_anew_in_the_pipe(url: String) {
    let (busy, late) = (open_postgres(&url).await, open_postgres(&url).await);
    append(&late, "first").await.expect("sent");
    let events = (0..12_000).map(|n| event(&n.to_string())).collect();
    let appended = busy.append(Space::new(1).scope, events).await;
    assert_eq!(appended.expect("sent").len(), 12_000);
    assert_eq!(append(&late, "7").await.expect("sent"), Appended::Duplicate);
    let new = append(&late, "new").await.expect("sent");
    assert!(matches!(new, Appended::At(at) if at.0 == 12_002));
    assert_eq!(
        append(&busy, "new").await.expect("sent"),
        Appended::Duplicate
    );
}

/// It says less of what it knows, and is looked after all the same.
async fn an_older_process_appends_beside_a_newer(url: String) {
    let store = open_postgres(&url).await;
    append(&store, "one").await.expect("sent");
    let older = "WITH one AS (SELECT workspace, id, recorded_at FROM log WHERE position = 1)
        SELECT before + 10 * coalesce(repeats[1], 0)
        FROM one, log_append(0::bigint, 100::bigint, '{}'::bigint[], ARRAY[workspace], ARRAY[$1],
          '{track}', ARRAY[NULL::uuid], '{0}'::smallint[], '{0}'::bigint[], ARRAY[recorded_at], '{\"{}\"}')";
    let mut connection = PgConnection::connect(&url).await.expect("connected");
    for (name, expected) in [("two", 1), ("one", 12), ("two", 12)] {
        let call = sqlx::query_scalar::<_, i64>(older).bind(event(name).id.as_uuid());
        let told = call.fetch_one(&mut connection).await.expect("appended");
        assert_eq!(told, expected, "{name}");
    }
    assert_eq!(
        append(&store, "two").await.expect("sent"),
        Appended::Duplicate
    );
    assert!(matches!(append(&store, "three").await, Ok(Appended::At(at)) if at.0 == 3));
}
