//! The negative control: the same workload against a serial number. Numbers are given when
//! a row is written and seen when it is committed, so a reader that has passed a number
//! never comes back for the one before it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sqlx::{Connection, PgConnection};

use super::backend::with_empty_postgres;
use super::dice::Dice;
use super::{BATCHES, WRITERS, Work, pause};

const ROUNDS_MAX: u64 = 10;

#[tokio::test(flavor = "multi_thread")]
async fn a_serial_number_loses_events() {
    with_empty_postgres(async |url| {
        let mut connection = PgConnection::connect(&url).await.expect("connected");
        sqlx::raw_sql("CREATE TABLE naive (seq bigserial PRIMARY KEY)")
            .execute(&mut connection)
            .await
            .expect("made");
        let mut lost = 0;
        for round in 0..ROUNDS_MAX {
            lost += lost_in_a_round(&url, round).await;
            if lost > 0 {
                break;
            }
        }
        assert!(lost > 0, "the workload is too tame to prove anything");
    })
    .await;
}

async fn lost_in_a_round(url: &str, round: u64) -> usize {
    let (work, done) = (Work::of(BATCHES), Arc::new(AtomicUsize::new(0)));
    let last = newest(url).await;
    let reading = tokio::spawn(read(url.to_owned(), last, done.clone()));
    let writers: Vec<_> = (0..WRITERS)
        .map(|n| tokio::spawn(write(url.to_owned(), work.clone(), round * WRITERS + n)))
        .collect();
    let mut committed = 0;
    for writer in writers {
        committed += writer.await.expect("a writer to the end");
        done.fetch_add(1, Ordering::SeqCst);
    }
    committed - reading.await.expect("a reader to the end")
}

/// Where an earlier round has ended.
async fn newest(url: &str) -> i64 {
    let mut connection = PgConnection::connect(url).await.expect("connected");
    let newest = sqlx::query_scalar("SELECT coalesce(max(seq), 0) FROM naive");
    newest.fetch_one(&mut connection).await.expect("read")
}

/// Answers how many it committed.
async fn write(url: String, work: Arc<Work>, seed: u64) -> usize {
    let mut connection = PgConnection::connect(&url).await.expect("connected");
    let mut dice = Dice::new(seed);
    let mut committed = 0;
    while work.take().is_some() {
        let mut transaction = connection.begin().await.expect("begun");
        sqlx::raw_sql("INSERT INTO naive DEFAULT VALUES")
            .execute(&mut *transaction)
            .await
            .expect("inserted");
        pause(&mut dice).await;
        if dice.below(2) == 0 {
            transaction.rollback().await.expect("rolled back");
        } else {
            transaction.commit().await.expect("committed");
            committed += 1;
        }
    }
    committed
}

/// Answers how many it saw after `last`.
async fn read(url: String, mut last: i64, done: Arc<AtomicUsize>) -> usize {
    let mut connection = PgConnection::connect(&url).await.expect("connected");
    let mut seen = 0;
    let news = "SELECT seq FROM naive WHERE seq > $1 ORDER BY seq LIMIT 50";
    loop {
        let was_done = done.load(Ordering::SeqCst) == WRITERS as usize;
        let rows: Vec<i64> = sqlx::query_scalar(news)
            .bind(last)
            .fetch_all(&mut connection)
            .await
            .expect("read");
        match rows.last() {
            Some(newest) => last = *newest,
            None if was_done => return seen,
            None => {}
        }
        seen += rows.len();
    }
}
