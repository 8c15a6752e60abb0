//! What only a file can get wrong.

use std::path::{Path, PathBuf};
use std::time::Instant;

use kurier_core::event::Position;
use kurier_store::Scrub;
use kurier_store::{Error, Sqlite, Store};
use rusqlite::Connection;

use super::backend::with_sqlite;
use super::runner::happen;
use super::space::{Space, event, events, now};

/// Makes a test of a case that only SQLite has.
macro_rules! sqlite_cases {
    ($($case:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                super::with_sqlite(super::$case).await;
            })*
        }
    };
}

sqlite_cases! {
    what_is_erased_and_scrubbed_is_in_no_file,
    a_scrub_that_a_reader_prevents_says_so,
    opening_does_not_wait_for_a_writer,
    a_newer_database_is_refused,
    something_else_is_refused,
}

fn open(path: &Path) -> Store {
    Sqlite::open(path).expect("opened").into()
}

/// How often a text stands in the files of a database.
fn count(path: &Path, text: &str) -> usize {
    let folder = path.parent().expect("a folder");
    let files = std::fs::read_dir(folder).expect("listed");
    let bytes = files.map(|file| std::fs::read(file.expect("listed").path()).expect("read"));
    let text = text.as_bytes();
    bytes
        .map(|bytes| {
            bytes
                .windows(text.len())
                .filter(|part| part == &text)
                .count()
        })
        .sum()
}

async fn what_is_erased_and_scrubbed_is_in_no_file(path: PathBuf) {
    let (store, space) = (open(&path), Space::new(1));
    let secret = "secret@example.com";
    // Short and long, so that it stands in pages of every kind.
    for (n, filler) in [0, 100, 9_000].into_iter().enumerate() {
        let filler = "x".repeat(filler);
        let raw = format!(
            r#"{{"type":"identify","userId":"u","traits":
               {{"email":"{secret}","filler":"{filler}","n":{n}}}}}"#
        );
        happen(&store, &space, vec![space.said(now(), &raw)]).await;
    }
    assert!(
        count(&path, secret) > 0,
        "the test looks into the wrong files"
    );
    let mut erased = event("erased");
    erased.kind = kurier_core::event::Kind::ContactErased;
    erased.payload = format!(r#"{{"contacts":["{}"],"addresses":[]}}"#, space.user("u"));
    happen(&store, &space, vec![erased]).await;
    let positions = [1, 2, 3].map(Position);
    store
        .log
        .tombstone(space.scope, &positions)
        .await
        .expect("buried");
    store.log.scrub(Scrub::Quick).await.expect("scrubbed");
    assert_eq!(count(&path, secret), 0);
}

/// An operator who was told "erased" must be able to rely on it.
async fn a_scrub_that_a_reader_prevents_says_so(path: PathBuf) {
    let (store, scope) = (open(&path), Space::new(1).scope);
    store
        .log
        .append(scope, events(&["a"]))
        .await
        .expect("appended");
    let reader = Connection::open(&path).expect("opened");
    reader
        .execute_batch("BEGIN; SELECT * FROM log;")
        .expect("reading");
    store
        .log
        .append(scope, events(&["b"]))
        .await
        .expect("appended");
    let started = Instant::now();
    let scrubbed = store.log.scrub(Scrub::Quick).await;
    assert!(
        matches!(scrubbed, Err(Error::Unavailable(_))),
        "{scrubbed:?}"
    );
    assert!(
        started.elapsed().as_secs() < 8,
        "it waits, but not for long"
    );
    reader.execute_batch("ROLLBACK").expect("done reading");
    store.log.scrub(Scrub::Quick).await.expect("scrubbed");
}

async fn opening_does_not_wait_for_a_writer(path: PathBuf) {
    let scope = Space::new(1).scope;
    let appended = open(&path).log.append(scope, events(&["a"])).await;
    appended.expect("appended");
    let writer = Connection::open(&path).expect("opened");
    writer.execute_batch("BEGIN IMMEDIATE").expect("writing");
    let store = open(&path);
    assert_eq!(store.log.head().await.expect("read"), Position(1));
    writer.execute_batch("ROLLBACK").expect("done writing");
}

async fn a_newer_database_is_refused(path: PathBuf) {
    drop(open(&path));
    let file = Connection::open(&path).expect("opened");
    file.pragma_update(None, "user_version", 9_999)
        .expect("set");
    let opened = Sqlite::open(&path).map(drop);
    assert!(matches!(opened, Err(Error::Unusable(_))), "{opened:?}");
}

async fn something_else_is_refused(path: PathBuf) {
    std::fs::write(
        &path,
        "this is no database, but long enough to look like one".repeat(99),
    )
    .expect("written");
    let opened = Sqlite::open(&path).map(drop);
    assert!(matches!(opened, Err(Error::Damaged(_))), "{opened:?}");
}
