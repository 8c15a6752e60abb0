//! The index of ids on PostgreSQL follows later: whatever of it is there, a repeat is one.

use kurier_core::event::Event;
use kurier_store::{Appended, Log as _, Postgres};
use sqlx::{Connection as _, PgConnection};

use super::backend::with_postgres;
use super::months::postgres_cases;
use super::place::open_postgres;
use super::space::{Space, event};

postgres_cases! {
    a_repeat_is_found_in_the_index_and_behind_it,
    who_is_far_behind_starts_anew,
    who_asks_for_many_reads_the_index,
    the_index_takes_in_what_is_there_already,
    an_older_process_appends_nothing_more,
}

/// More than are looked through while appending.
const FAR: usize = 12_000;
const BATCH: usize = 3_000;

fn numbered(numbers: impl Iterator<Item = usize>) -> Vec<Event> {
    numbers.map(|n| event(&format!("event {n}"))).collect()
}

async fn append(store: &Postgres, numbers: std::ops::Range<usize>) -> Vec<Appended> {
    let mut appended = Vec::with_capacity(numbers.len());
    for from in numbers.clone().step_by(BATCH) {
        let events = numbered(from..numbers.end.min(from + BATCH));
        let scope = Space::new(1).scope;
        appended.extend(store.append(scope, events).await.expect("appended"));
    }
    appended
}

async fn are_repeats(store: &Postgres, numbers: std::ops::Range<usize>) -> bool {
    let appended = append(store, numbers).await;
    appended.iter().all(|it| *it == Appended::Duplicate)
}

async fn scalar(url: &str, sql: &'static str) -> i64 {
    let mut connection = PgConnection::connect(url).await.expect("connected");
    let scalar = sqlx::query_scalar(sql).fetch_one(&mut connection).await;
    scalar.expect("answered")
}

async fn a_repeat_is_found_in_the_index_and_behind_it(url: String) {
    let first = open_postgres(&url).await;
    append(&first, 0..3_000).await;
    assert_eq!(scalar(&url, "SELECT count(*) FROM log_id").await, 0);
    assert_eq!(scalar(&url, "SELECT log_index(2000)").await, 2_000);
    assert_eq!(scalar(&url, "SELECT count(*) FROM log_id").await, 2_000);
    assert!(are_repeats(&first, 0..3_000).await, "remembered");
    let second = open_postgres(&url).await;
    assert!(are_repeats(&second, 0..3_000).await, "asked for, or read");
    assert_eq!(scalar(&url, "SELECT log_index(2000)").await, 3_000);
    let third = open_postgres(&url).await;
    assert!(are_repeats(&third, 0..3_000).await, "asked for");
    assert_eq!(scalar(&url, "SELECT position FROM log_head").await, 3_000);
}

async fn who_is_far_behind_starts_anew(url: String) {
    let (busy, late) = (open_postgres(&url).await, open_postgres(&url).await);
    append(&late, 0..1).await;
    append(&busy, 1..FAR).await;
    assert!(are_repeats(&late, 0..FAR).await);
    let appended = append(&late, FAR..FAR + 1).await;
    assert!(matches!(appended[..], [Appended::At(at)] if at.0 == FAR as i64 + 1));
    assert!(are_repeats(&busy, FAR..FAR + 1).await);
}

async fn who_asks_for_many_reads_the_index(url: String) {
    let first = open_postgres(&url).await;
    append(&first, 0..FAR).await;
    assert_eq!(scalar(&url, "SELECT log_index(20000)").await, FAR as i64);
    let second = open_postgres(&url).await;
    // Before, while and after the index is read.
    for _ in 0..4 {
        assert!(are_repeats(&second, 0..FAR).await);
    }
    let appended = append(&second, FAR..2 * FAR).await;
    assert_eq!(appended.last().map(is_new), Some(true));
    assert!(are_repeats(&first, 0..2 * FAR).await);
}

const fn is_new(appended: &Appended) -> bool {
    matches!(appended, Appended::At(_))
}

async fn the_index_takes_in_what_is_there_already(url: String) {
    let store = open_postgres(&url).await;
    append(&store, 0..10).await;
    let id = numbered(3..4)[0].id.as_uuid();
    let mut connection = PgConnection::connect(&url).await.expect("connected");
    let early = sqlx::query("INSERT INTO log_id VALUES ($1, $2)")
        .bind(Space::new(1).scope.0.as_uuid())
        .bind(id);
    early.execute(&mut connection).await.expect("inserted");
    assert_eq!(scalar(&url, "SELECT log_index(100)").await, 10);
    assert_eq!(scalar(&url, "SELECT count(*) FROM log_id").await, 10);
    assert_eq!(scalar(&url, "SELECT log_index(100)").await, 10);
}

/// It would look for repeats in the index alone.
async fn an_older_process_appends_nothing_more(url: String) {
    open_postgres(&url).await;
    let mut connection = PgConnection::connect(&url).await.expect("connected");
    let older = "SELECT log_append('{}'::uuid[], '{}'::uuid[], '{}'::text[], '{}'::uuid[],
                 '{}'::smallint[], '{}'::bigint[], '{}'::bigint[], '{}'::text[])";
    let refused = sqlx::query(older).execute(&mut connection).await;
    assert!(refused.is_err());
}
