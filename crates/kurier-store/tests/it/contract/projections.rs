//! How projections stand, what those that count remember, and shadows beside the live tables.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use kurier_core::event::Position;
use kurier_core::id::{EventId, WorkspaceId};
use kurier_core::projection::{
    CONTACT, Cell, Change, Contacts, Folded, Health, MEMBER, Need, Projection, Row, SEGMENT_SIZE,
    Segments, Table, settle,
};
use kurier_store::{Applied, Batch, SetAside, Side, Store, Swap, Swapped};

use super::place::cases;
use super::space::{Space, now, seconds};

cases! {
    a_projection_says_how_it_stands,
    what_was_counted_is_remembered_by_each_projection_alone,
    rows_come_and_go_in_one_batch,
    a_shadow_takes_the_place_of_the_live_tables,
    a_shadow_that_is_behind_does_not,
    a_dropped_shadow_leaves_nothing,
    every_text_comes_back_from_a_filled_shadow,
}

fn member(space: &Space, user: &str, entered: i64) -> Row {
    let segment = Cell::Id(space.guest("segment").as_uuid());
    let (workspace, contact) = (space.scope.0.into(), space.user(user).into());
    vec![workspace, segment, contact, entered.into()]
}

fn gone(space: &Space, user: &str) -> Change {
    Change::drop(&Segments, &MEMBER, member(space, user, 0)[..3].to_vec())
}

async fn apply(store: &Store, between: (i64, i64), folded: Folded) {
    let between = (Position(between.0), Position(between.1));
    let batch = Batch::new(&Segments, between, folded);
    let applied = store.views.apply(batch).await;
    assert_eq!(applied.expect("applied"), Applied::Done);
}

fn changes(changes: Vec<Change>) -> Folded {
    Folded {
        changes,
        ..Folded::default()
    }
}

/// All rows of one table, and where the live side stands.
async fn all(store: &Store, side: Side, table: &'static Table) -> (i64, BTreeSet<Row>) {
    let rows = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = rows.clone();
    let visit = Box::new(move |of: &'static Table, row: Row| {
        if of.name == table.name {
            seen.lock().expect("whole").insert(row);
        }
    });
    let of: &'static dyn Projection = match table.name {
        "contact" => &Contacts,
        _ => &Segments,
    };
    let position = store.projections.survey(side, of, visit).await;
    let rows = rows.lock().expect("whole").clone();
    (position.expect("surveyed").0, rows)
}

async fn a_projection_says_how_it_stands(store: Store) {
    let of = &store.projections;
    let progress = async || of.progress("segments").await.expect("read");
    assert_eq!(progress().await, kurier_store::Progress::default());
    of.pause("segments", true).await.expect("paused");
    assert!(progress().await.is_paused);
    apply(&store, (0, 7), Folded::default()).await;
    let failure = Some((seconds(3), "no room".to_owned()));
    let noted = of.note_failure("segments", failure.clone()).await;
    noted.expect("noted");
    let stands = progress().await;
    assert_eq!((stands.position, stands.is_paused), (Position(7), true));
    assert_eq!(
        (&stands.failure, &stands.last_failure),
        (&failure, &failure)
    );
    of.pause("segments", false).await.expect("resumed");
    of.note_failure("segments", None).await.expect("noted");
    let stands = progress().await;
    assert_eq!((stands.is_paused, stands.failure), (false, None));
    assert_eq!(stands.position, Position(7));
    // What it was is known when it is over, until the next one comes.
    assert_eq!(stands.last_failure, failure);
    let next = Some((seconds(9), "no room again".to_owned()));
    let noted = of.note_failure("segments", next.clone()).await;
    noted.expect("noted");
    let stands = progress().await;
    assert_eq!((&stands.failure, &stands.last_failure), (&next, &next));
}

async fn what_was_counted_is_remembered_by_each_projection_alone(store: Store) {
    let (ours, theirs) = (Space::new(1).scope.0, Space::new(2).scope.0);
    let key = |workspace: WorkspaceId, name: &str| (workspace, EventId::of_message(name));
    let counted = vec![key(ours, "a"), key(theirs, "b"), key(ours, "a")];
    let folded = Folded {
        processed: counted,
        ..Folded::default()
    };
    apply(&store, (0, 3), folded).await;
    let asked = [key(ours, "a"), key(ours, "b"), key(theirs, "b")];
    let seen = async |name: &str| store.projections.processed(name, &asked).await;
    let segments = seen("segments").await.expect("read");
    assert_eq!(segments, [asked[0], asked[2]].into());
    // The same event may be counted by another projection.
    assert_eq!(seen("channel_health").await.expect("read"), [].into());
    let folded = Folded {
        processed: vec![asked[0]],
        ..Folded::default()
    };
    let again = Batch::new(&Health, (Position(0), Position(1)), folded);
    assert_eq!(
        store.views.apply(again).await.expect("applied"),
        Applied::Done
    );
    let health = seen("channel_health").await.expect("read");
    assert_eq!(health, [asked[0]].into());
}

async fn rows_come_and_go_in_one_batch(store: Store) {
    let space = Space::new(1);
    let put = |user, at| Change::put(&Segments, &MEMBER, member(&space, user, at));
    apply(&store, (0, 1), changes(vec![put("a", 1), put("b", 1)])).await;
    let mixed = vec![
        put("c", 2),
        gone(&space, "a"),
        put("b", 2),
        gone(&space, "nobody"),
        put("d", 2),
        gone(&space, "d"),
        gone(&space, "c"),
        put("c", 3),
    ];
    apply(&store, (1, 2), changes(mixed)).await;
    let (position, rows) = all(&store, Side::Live, &MEMBER).await;
    let expected = [member(&space, "b", 2), member(&space, "c", 3)];
    assert_eq!((position, rows), (2, expected.into()));
}

async fn a_shadow_takes_the_place_of_the_live_tables(store: Store) {
    let (of, space) = (&store.projections, Space::new(1));
    let put = |user, at| Change::put(&Segments, &MEMBER, member(&space, user, at));
    let poison = Folded {
        poison: vec![(Position(2), "an old reason".into())],
        processed: vec![(space.scope.0, EventId::of_message("old"))],
        ..changes(vec![put("old", 1)])
    };
    apply(&store, (0, 5), poison).await;
    for round in 1..=2 {
        of.open_shadow(&Segments).await.expect("opened");
        let first = vec![put("a", round), put("b", round)];
        let filled = of.fill_shadow(settle(first).remove(0)).await;
        filled.expect("filled");
        let key = member(&space, "b", 0)[..3].to_vec();
        let writes = settle(vec![put("a", round + 10), gone(&space, "b")]);
        of.write_shadow(writes).await.expect("written");
        let asked = Need::new(&MEMBER, vec![key, member(&space, "a", 0)[..3].to_vec()]);
        let loaded = of.load_shadow(vec![asked]).await.expect("loaded");
        assert_eq!(loaded[0].rows, [member(&space, "a", round + 10)]);
        let counted = vec![(space.scope.0, EventId::of_message("new"))];
        of.process_shadow(&Segments, counted).await.expect("kept");
        // The live tables are as they were.
        let live = all(&store, Side::Live, &MEMBER).await;
        let before = if round == 1 {
            member(&space, "old", 1)
        } else {
            member(&space, "a", 11)
        };
        assert_eq!(live, (4 + round, [before].into()));
        let swap = Swap {
            projection: &Segments,
            at: Position(5 + round),
            set_aside: vec![SetAside {
                position: Position(3),
                reason: "a new reason".into(),
            }],
        };
        assert_eq!(of.swap(swap).await.expect("swapped"), Swapped::Done);
        let live = all(&store, Side::Live, &MEMBER).await;
        assert_eq!(live, (5 + round, [member(&space, "a", round + 10)].into()));
        let asked = ["old", "new"].map(|name| (space.scope.0, EventId::of_message(name)));
        let seen = of.processed("segments", &asked).await.expect("read");
        assert_eq!(seen, [asked[1]].into());
        let aside = of.set_aside("segments", 10).await.expect("read");
        assert_eq!(aside.len(), 1);
        assert_eq!(aside[0].reason, "a new reason");
        assert!(!of.has_shadows().await.expect("looked"));
    }
    // And what is folded next goes into the new tables.
    apply(&store, (7, 8), changes(vec![put("c", 3)])).await;
    assert_eq!(all(&store, Side::Live, &MEMBER).await.1.len(), 2);
}

async fn a_shadow_that_is_behind_does_not(store: Store) {
    let (of, space) = (&store.projections, Space::new(1));
    let row = member(&space, "live", 1);
    apply(
        &store,
        (0, 9),
        changes(vec![Change::put(&Segments, &MEMBER, row.clone())]),
    )
    .await;
    of.open_shadow(&Segments).await.expect("opened");
    let swap = |at| Swap {
        projection: &Segments,
        at: Position(at),
        set_aside: Vec::new(),
    };
    let behind = of.swap(swap(8)).await.expect("answered");
    assert_eq!(behind, Swapped::Behind(Position(9)));
    assert_eq!(all(&store, Side::Live, &MEMBER).await, (9, [row].into()));
    assert_eq!(of.swap(swap(9)).await.expect("answered"), Swapped::Done);
    assert_eq!(all(&store, Side::Live, &MEMBER).await, (9, [].into()));
}

async fn a_dropped_shadow_leaves_nothing(store: Store) {
    let (of, space) = (&store.projections, Space::new(1));
    let size = vec![
        space.scope.0.into(),
        Cell::Id(space.guest("segment").as_uuid()),
        now().into(),
        1.into(),
    ];
    of.open_shadow(&Segments).await.expect("opened");
    let size = settle(vec![Change::put(&Segments, &SEGMENT_SIZE, size)]);
    let filled = of.fill_shadow(size.into_iter().next().expect("one table"));
    filled.await.expect("filled");
    let counted = vec![(space.scope.0, EventId::of_message("e"))];
    of.process_shadow(&Health, counted.clone())
        .await
        .expect("kept");
    assert!(of.has_shadows().await.expect("looked"));
    of.drop_shadow(&Segments).await.expect("dropped");
    assert!(!of.has_shadows().await.expect("looked"));
    // Opened anew it is empty, and what was remembered for a shadow counts for none.
    of.open_shadow(&Segments).await.expect("opened");
    assert_eq!(all(&store, Side::Shadow, &SEGMENT_SIZE).await.1, [].into());
    let seen = of.processed("channel_health", &counted).await;
    assert_eq!(seen.expect("read"), [].into());
    of.drop_shadow(&Segments).await.expect("dropped");
    of.drop_shadow(&Health).await.expect("dropped");
}

async fn every_text_comes_back_from_a_filled_shadow(store: Store) {
    let space = Space::new(1);
    let texts = [
        "",
        "\\N",
        "\\",
        "a\tb\\t",
        "\n\r\\.\n",
        "ä🦀 ' \" \u{1}",
        "\\.",
    ];
    let row = |(n, text): (usize, &str)| {
        let mut row = vec![Cell::Null; CONTACT.columns.len()];
        row[0] = space.scope.0.into();
        row[1] = space.user(&n.to_string()).into();
        row[2] = text.into();
        row[4] = (n > 2).then_some(text).into();
        row[7] = Cell::Json(r#"{"a": "\\ \n \t"}"#.into());
        row
    };
    let rows: Vec<Row> = texts.into_iter().enumerate().map(row).collect();
    let of = &store.projections;
    of.open_shadow(&Contacts).await.expect("opened");
    let puts = rows.iter().cloned();
    let puts = puts.map(|row| Change::put(&Contacts, &CONTACT, row));
    let mut puts = settle(puts.collect());
    of.fill_shadow(puts.remove(0)).await.expect("filled");
    let found = all(&store, Side::Shadow, &CONTACT).await.1;
    assert_eq!(found, rows.into_iter().collect());
    of.drop_shadow(&Contacts).await.expect("dropped");
}
