//! Two processes append, and transactions of others append, pause, and half of them roll
//! back.

use std::sync::Arc;

use kurier_core::event::Event;
use kurier_core::id::EventId;
use kurier_store::{Log, Postgres, Store};
use sqlx::{Connection, PgConnection};

use super::backend::with_postgres;
use super::dice::Dice;
use super::{
    BATCHES, BATCHES_SLOW, Committed, WRITERS, Work, append, batch, event, now, pause, race, scope,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_misses_nothing() {
    race_on_postgres(BATCHES).await;
}

mod long_run {
    #[tokio::test(flavor = "multi_thread")]
    async fn a_reader_misses_nothing() {
        super::race_on_postgres(super::BATCHES_SLOW).await;
    }
}

async fn race_on_postgres(batches: usize) {
    with_postgres(async move |url| {
        let stores = [open(&url).await, open(&url).await];
        let work = Work::of(batches);
        let writers = (0..WRITERS)
            .map(|n| match n % 2 {
                0 => tokio::spawn(append(stores[n as usize / 2 % 2].clone(), work.clone(), n)),
                _ => tokio::spawn(transact(url.clone(), work.clone(), n)),
            })
            .collect();
        race(open(&url).await, writers).await;
    })
    .await;
}

async fn open(url: &str) -> Store {
    let store = Postgres::open(url).await.expect("opened");
    store.maintain(now()).await.expect("prepared");
    store.into()
}

/// Appends in transactions of its own, and rolls some back.
async fn transact(url: String, work: Arc<Work>, seed: u64) -> Committed {
    let mut connection = PgConnection::connect(&url).await.expect("connected");
    let mut dice = Dice::new(seed);
    let mut committed = Committed::new();
    while let Some(number) = work.take() {
        let events = batch(&mut dice, &format!("transaction {number}"));
        let mut transaction = connection.begin().await.expect("begun");
        pause(&mut dice).await;
        log_append(&mut transaction, &events).await;
        pause(&mut dice).await;
        if dice.below(2) == 0 {
            transaction.rollback().await.expect("rolled back");
        } else {
            transaction.commit().await.expect("committed");
            committed.extend(events.iter().map(|event| event.id));
        }
    }
    committed
}

async fn log_append(connection: &mut PgConnection, events: &[Event]) {
    let count = events.len();
    let ids: Vec<_> = events.iter().map(|event| event.id.as_uuid()).collect();
    let times: Vec<i64> = events.iter().map(|e| e.recorded_at.as_micros()).collect();
    sqlx::query("SELECT log_append_within($1, $2, $3, $4, $5, $6, $7, $8)")
        .bind(vec![scope().0.as_uuid(); count])
        .bind(ids)
        .bind(vec!["track"; count])
        .bind(vec![None::<uuid::Uuid>; count])
        .bind(vec![0_i16; count])
        .bind(&times)
        .bind(&times)
        .bind(vec!["{}"; count])
        .execute(connection)
        .await
        .expect("appended");
}

/// Promise A8. A cursor that waits for the oldest transaction would wait here for ever.
#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_in_another_database_does_not_stall_the_reader() {
    with_postgres(async |elsewhere| {
        let mut connection = PgConnection::connect(&elsewhere).await.expect("connected");
        let mut open_transaction = connection.begin().await.expect("begun");
        sqlx::raw_sql("CREATE TABLE busy (n int); INSERT INTO busy VALUES (1)")
            .execute(&mut *open_transaction)
            .await
            .expect("written, not committed");
        with_postgres(async |url| {
            let store = open(&url).await;
            let appended = store.log.append(scope(), vec![event("a")]).await;
            appended.expect("appended");
            let read = store.log.read(Default::default(), 10).await.expect("read");
            let ids: Vec<EventId> = read.iter().map(|recorded| recorded.event.id).collect();
            assert_eq!(ids, [event("a").id]);
        })
        .await;
        let still = sqlx::query_scalar::<_, i64>("SELECT count(*) FROM busy");
        let still = still.fetch_one(&mut *open_transaction).await;
        assert_eq!(still.expect("the transaction was open all along"), 1);
    })
    .await;
}
