//! Read models: rows by key, batches that are written whole or not at all, one runner at a
//! time.

use kurier_core::event::{Position, Recorded};
use kurier_core::projection::{
    CONTACT, Cell, Change, Contacts, Folded, Loaded, MEMBER, Need, Projection, Row, Segments,
    TIMELINE, Table, UnreadableRow,
};
use kurier_store::{Applied, Batch, Error, Store};

use super::place::cases;
use super::runner::happen;
use super::space::{Space, now};

cases! {
    rows_are_loaded_by_key,
    nothing_needed_is_nothing_loaded,
    every_kind_of_cell_comes_back,
    changes_are_written_in_order,
    a_row_put_twice_is_the_last_one,
    a_drop_takes_what_begins_so,
    a_table_of_another_projection_is_refused,
    a_checkpoint_elsewhere_stops_a_batch,
    of_two_runners_one_is_overtaken,
    checkpoints_are_by_name,
    what_cannot_be_folded_is_set_aside,
}

/// Says of these tables what a test wants said.
struct Test;

impl Projection for Test {
    fn name(&self) -> &'static str {
        "test"
    }

    fn tables(&self) -> &'static [&'static Table] {
        &[&CONTACT, &TIMELINE]
    }

    fn needs(&self, _: &[Recorded]) -> Vec<Need> {
        Vec::new()
    }

    fn follows(&self, _: &[Loaded]) -> Vec<Need> {
        Vec::new()
    }

    fn fold(&self, _: Vec<Loaded>, _: &[Recorded]) -> Result<Folded, UnreadableRow> {
        Ok(Folded::default())
    }
}

fn time_row(space: &Space, user: &str, position: i64, title: &str) -> Row {
    vec![
        space.scope.0.into(),
        space.user(user).into(),
        now().into(),
        position.into(),
        now().into(),
        "track".into(),
        title.into(),
    ]
}

fn put(row: Row) -> Change {
    Change::put(&Test, &TIMELINE, row)
}

fn changes(changes: Vec<Change>) -> Folded {
    Folded {
        changes,
        ..Folded::default()
    }
}

async fn apply(store: &Store, between: (i64, i64), folded: Folded) -> Applied {
    let (from, to) = (Position(between.0), Position(between.1));
    let batch = Batch::new(&Test, (from, to), folded);
    store.views.apply(batch).await.expect("answered")
}

pub async fn load(store: &Store, table: &'static Table, keys: Vec<Vec<Cell>>) -> Vec<Row> {
    let mut loaded = store
        .views
        .load(vec![Need::new(table, keys)])
        .await
        .expect("loaded");
    let loaded = loaded.pop().expect("an answer for each need");
    assert_eq!(loaded.table, table);
    let mut rows = loaded.rows;
    rows.sort();
    rows
}

/// The titles in the timeline at these positions of a user.
async fn titles(store: &Store, space: &Space, user: &str, positions: &[i64]) -> Vec<String> {
    let key = |position: &i64| time_row(space, user, *position, "")[..4].to_vec();
    let rows = load(store, &TIMELINE, positions.iter().map(key).collect()).await;
    let title = |row: &Row| row[6].as_text().expect("a title").to_owned();
    rows.iter().map(title).collect()
}

async fn rows_are_loaded_by_key(store: Store) {
    let (ours, theirs) = (Space::new(1), Space::new(2));
    let rows = ["a", "b"].map(|title| put(time_row(&ours, "u", 1 + (title == "b") as i64, title)));
    assert_eq!(
        apply(&store, (0, 2), changes(rows.into())).await,
        Applied::Done
    );
    assert_eq!(titles(&store, &ours, "u", &[2, 1]).await, ["a", "b"]);
    assert_eq!(titles(&store, &ours, "u", &[7, 2]).await, ["b"]);
    assert_eq!(titles(&store, &ours, "v", &[1, 2]).await, [""; 0]);
    assert_eq!(titles(&store, &theirs, "u", &[1, 2]).await, [""; 0]);
}

async fn nothing_needed_is_nothing_loaded(store: Store) {
    assert_eq!(load(&store, &CONTACT, Vec::new()).await, [[]; 0]);
    assert_eq!(store.views.load(Vec::new()).await.expect("loaded"), []);
}

async fn every_kind_of_cell_comes_back(store: Store) {
    let space = Space::new(1);
    let mut row = vec![Cell::Null; CONTACT.columns.len()];
    row[0] = space.scope.0.into();
    row[1] = space.user("u").into();
    row[2] = "live % _ ' \" \\ ä 🦀".into();
    row[3] = space.guest("a").into();
    row[7] = Cell::Json("{}".into());
    row[9] = i64::MIN.into();
    row[14] = i64::MAX.into();
    let key = row[..2].to_vec();
    apply(
        &store,
        (0, 1),
        changes(vec![Change::put(&Test, &CONTACT, row.clone())]),
    )
    .await;
    assert_eq!(
        load(&store, &CONTACT, vec![key.clone()]).await,
        [row.clone()]
    );
    let empty = [&row[..3], &vec![Cell::Null; CONTACT.columns.len() - 3]].concat();
    apply(
        &store,
        (1, 2),
        changes(vec![Change::put(&Test, &CONTACT, empty.clone())]),
    )
    .await;
    assert_eq!(load(&store, &CONTACT, vec![key]).await, [empty]);
}

async fn changes_are_written_in_order(store: Store) {
    let space = Space::new(1);
    let user = vec![space.scope.0.into(), space.user("u").into()];
    let batch = vec![
        put(time_row(&space, "u", 1, "gone")),
        put(time_row(&space, "v", 2, "other")),
        Change::drop(&Test, &TIMELINE, user),
        put(time_row(&space, "u", 3, "after")),
    ];
    apply(&store, (0, 3), changes(batch)).await;
    assert_eq!(titles(&store, &space, "u", &[1, 3]).await, ["after"]);
    assert_eq!(titles(&store, &space, "v", &[2]).await, ["other"]);
}

async fn a_row_put_twice_is_the_last_one(store: Store) {
    let space = Space::new(1);
    let row = |position, title| put(time_row(&space, "u", position, title));
    let batch = vec![row(1, "a"), row(2, "x"), row(1, "b"), row(1, "c")];
    apply(&store, (0, 1), changes(batch)).await;
    assert_eq!(titles(&store, &space, "u", &[1, 2]).await, ["c", "x"]);
    apply(&store, (1, 2), changes(vec![row(2, "y")])).await;
    assert_eq!(titles(&store, &space, "u", &[1, 2]).await, ["c", "y"]);
}

async fn a_drop_takes_what_begins_so(store: Store) {
    let (ours, theirs) = (Space::new(1), Space::new(2));
    let rows = [
        (&ours, "u", 1),
        (&ours, "u", 2),
        (&ours, "v", 3),
        (&theirs, "u", 4),
    ];
    let rows = rows.map(|(space, user, n)| put(time_row(space, user, n, "there")));
    apply(&store, (0, 4), changes(rows.into())).await;
    let counts = async || {
        [
            titles(&store, &ours, "u", &[1, 2]).await.len(),
            titles(&store, &ours, "v", &[3]).await.len(),
            titles(&store, &theirs, "u", &[4]).await.len(),
        ]
    };
    let whole_key = time_row(&ours, "u", 1, "")[..4].to_vec();
    apply(
        &store,
        (4, 5),
        changes(vec![Change::drop(&Test, &TIMELINE, whole_key)]),
    )
    .await;
    assert_eq!(counts().await, [1, 1, 1]);
    let user = vec![ours.scope.0.into(), ours.user("u").into()];
    apply(
        &store,
        (5, 6),
        changes(vec![Change::drop(&Test, &TIMELINE, user)]),
    )
    .await;
    assert_eq!(counts().await, [0, 1, 1]);
    apply(
        &store,
        (6, 7),
        changes(vec![Change::drop(
            &Test,
            &TIMELINE,
            vec![ours.scope.0.into()],
        )]),
    )
    .await;
    assert_eq!(counts().await, [0, 0, 1]);
}

/// What another folded is not written under a projection's name: neither rows nor checkpoint.
async fn a_table_of_another_projection_is_refused(store: Store) {
    let space = Space::new(1);
    let mut member = vec![space.scope.0.into(), Cell::Id(space.guest("s").as_uuid())];
    member.extend([space.user("u").into(), 1.into()]);
    let entered = Change::put(&Segments, &MEMBER, member.clone());
    let mixed = changes(vec![put(time_row(&space, "u", 1, "a")), entered]);
    let batch = Batch::new(&Test, (Position(0), Position(1)), mixed);
    let refused = store.views.apply(batch).await;
    let is_named = matches!(
        refused,
        Err(Error::Foreign {
            projection: "test",
            table: "member"
        })
    );
    assert!(is_named, "{refused:?}");
    let key = time_row(&space, "u", 1, "a")[..TIMELINE.key].to_vec();
    assert_eq!(load(&store, &TIMELINE, vec![key]).await, [] as [Row; 0]);
    let key = member[..MEMBER.key].to_vec();
    assert_eq!(load(&store, &MEMBER, vec![key]).await, [] as [Row; 0]);
    let checkpoint = store.views.checkpoint("test").await.expect("read");
    assert_eq!(checkpoint, Position(0));
}

async fn a_checkpoint_elsewhere_stops_a_batch(store: Store) {
    let space = Space::new(1);
    let batch = |title| Folded {
        changes: vec![put(time_row(&space, "u", 1, title))],
        poison: vec![(Position(9), "bad".to_owned())],
        ..Folded::default()
    };
    assert_eq!(
        apply(&store, (3, 4), batch("early")).await,
        Applied::Overtaken
    );
    assert_eq!(
        apply(&store, (0, 5), changes(Vec::new())).await,
        Applied::Done
    );
    for from in [0, 4, 6] {
        assert_eq!(
            apply(&store, (from, 7), batch("late")).await,
            Applied::Overtaken
        );
    }
    assert_eq!(titles(&store, &space, "u", &[1]).await, [""; 0]);
    assert_eq!(store.views.poisoned("test").await.expect("counted"), 0);
    assert_eq!(
        store.views.checkpoint("test").await.expect("read"),
        Position(5)
    );
    assert_eq!(apply(&store, (5, 7), batch("right")).await, Applied::Done);
    assert_eq!(titles(&store, &space, "u", &[1]).await, ["right"]);
}

async fn of_two_runners_one_is_overtaken(store: Store) {
    for round in 0..20 {
        let runners: Vec<_> = ["one", "two"]
            .map(|title| {
                let row = time_row(&Space::new(1), "u", 1, &format!("{title} {round}"));
                let (store, batch) = (store.clone(), changes(vec![put(row)]));
                tokio::spawn(async move { apply(&store, (round, round + 1), batch).await })
            })
            .into();
        let mut done = Vec::new();
        for (runner, title) in runners.into_iter().zip(["one", "two"]) {
            if runner.await.expect("to the end") == Applied::Done {
                done.push(format!("{title} {round}"));
            }
        }
        assert_eq!(done.len(), 1);
        assert_eq!(titles(&store, &Space::new(1), "u", &[1]).await, done);
    }
}

async fn checkpoints_are_by_name(store: Store) {
    let checkpoint = async |name| store.views.checkpoint(name).await.expect("read").0;
    assert_eq!(checkpoint("one").await, 0);
    store
        .views
        .set_checkpoint("one", Position(7))
        .await
        .expect("set");
    store
        .views
        .set_checkpoint("two", Position(8))
        .await
        .expect("set");
    store
        .views
        .set_checkpoint("one", Position(3))
        .await
        .expect("set back");
    assert_eq!((checkpoint("one").await, checkpoint("two").await), (3, 8));
    assert_eq!(
        apply(&store, (0, 1), Folded::default()).await,
        Applied::Done
    );
    store
        .views
        .set_checkpoint("test", Position(0))
        .await
        .expect("set");
    assert_eq!(
        apply(&store, (0, 1), Folded::default()).await,
        Applied::Done
    );
}

async fn what_cannot_be_folded_is_set_aside(store: Store) {
    let space = Space::new(1);
    let mut bad = space.said(now(), r#"{"type":"track","userId":"u","event":"Bad"}"#);
    bad.payload = "{".to_owned();
    let good = space.said(now(), r#"{"type":"track","userId":"u","event":"Good"}"#);
    happen(&store, &space, vec![bad, good]).await;
    let poisoned = async |name| store.views.poisoned(name).await.expect("counted");
    assert_eq!(poisoned(Contacts.name()).await, 1);
    assert_eq!(poisoned("another").await, 0);
    let ids = [space.user("u")];
    let positions = store.views.timeline_positions(space.scope, &ids).await;
    assert_eq!(positions.expect("read"), [Position(2)]);
    // Folded again from the start, it is still one.
    store
        .views
        .set_checkpoint(Contacts.name(), Position(0))
        .await
        .expect("set");
    super::runner::project(&store, 1).await;
    assert_eq!(poisoned(Contacts.name()).await, 1);
}
