//! Content: what is folded is read back whole, and of two who give the same number one does.

use kurier_core::content::{
    Decision, Import, Imported, Numbers, Outline, Plan, Settings, Slugger, Withdrawal, withdrawn,
};
use kurier_core::event::{Event, Kind, Position};
use kurier_core::projection::{
    CONTENT_BODY, CONTENT_COUNTER, CONTENT_DOCUMENT, CONTENT_NODE, CONTENT_STATE, Content, Need,
    Projection as _, Row, Table, content_body_of_row, content_document_of_row, content_node_of_row,
    content_used_of_row,
};
use kurier_store::{Appended, Applied, Batch, Scope, Store};

use super::place::cases;
use super::space::{Space, seconds};

cases! {
    content_is_read_back_whole,
    a_withdrawn_document_leaves_its_keys_gone,
    of_two_imports_of_one_number_the_log_takes_one,
    no_content_reaches_another_workspace,
    a_reading_ends_behind_much,
}

/// Whatever a document may hold, NUL among it.
const ODD: &str = "# ' \" \\ ä 🦀 {x}\n\nText \0 \u{1} here.\n\n## Two\n\nMore.\n";

fn imported(source_id: &str, source: &str, numbers: &mut Numbers) -> Imported {
    let slugger = Slugger::new(&Settings::default());
    let outline = Outline::read(source, Some(source_id), &slugger).expect("read");
    match Plan::new(source_id, None, &outline).decide(numbers) {
        Decision::Changed(change) => Imported {
            document: change.document,
            source: source.to_owned(),
            given: change.given,
            gone: change.gone,
        },
        Decision::Unchanged => panic!("nothing was there"),
    }
}

fn event(scope: Scope, import: &Import) -> Event {
    Event {
        id: import.event_id(scope.0),
        kind: Kind::ContentImported,
        contact: None,
        occurred_at: seconds(1),
        recorded_at: seconds(1),
        payload: serde_json::to_string(import).expect("JSON"),
    }
}

async fn fold(store: &Store) {
    let name = Content.name();
    let from = store.views.checkpoint(name).await.expect("read");
    let events = store.log.read(from, 100).await.expect("read");
    let folded = Content.fold(Vec::new(), &events).expect("readable");
    assert_eq!(folded.poison, []);
    let to = events.last().map_or(Position(0), |event| event.position);
    let batch = Batch::new(&Content, (from, to), folded);
    let applied = store.views.apply(batch).await;
    assert_eq!(applied.expect("applied"), Applied::Done);
}

async fn rows(store: &Store, scope: Scope, table: &'static Table) -> Vec<Row> {
    let need = Need::by(table, &table.columns[..1], vec![vec![scope.0.into()]]);
    let loaded = store.views.load(vec![need]).await.expect("loaded");
    loaded.into_iter().flat_map(|loaded| loaded.rows).collect()
}

async fn import(store: &Store, scope: Scope) -> Imported {
    let one = imported("a ä.md", ODD, &mut Numbers::default());
    let import = Import::new(1, vec![one.clone()]);
    let told = store.log.append(scope, vec![event(scope, &import)]).await;
    assert!(matches!(told.expect("appended")[0], Appended::At(_)));
    fold(store).await;
    one
}

async fn content_is_read_back_whole(store: Store) {
    let scope = Space::new(1).scope;
    let one = import(&store, scope).await;
    let bodies = rows(&store, scope, &CONTENT_BODY).await;
    let body = content_body_of_row(&bodies[0]).expect("readable");
    assert_eq!(
        (body.document, body.source.as_str()),
        (one.document.clone(), ODD)
    );
    let documents = rows(&store, scope, &CONTENT_DOCUMENT).await;
    let known = content_document_of_row(&documents[0]).expect("readable");
    assert_eq!((known.source_id.as_str(), known.import), ("a ä.md", 1));
    assert_eq!(Some(known.key), one.document.key());
    let nodes = rows(&store, scope, &CONTENT_NODE).await;
    let mut keys: Vec<_> = nodes
        .iter()
        .map(|row| content_node_of_row(row).expect("readable").key)
        .collect();
    let mut given = one.given.clone();
    keys.sort_unstable();
    given.sort_unstable();
    assert_eq!(keys, given);
    let counters = rows(&store, scope, &CONTENT_COUNTER).await;
    let used = counters
        .iter()
        .map(|row| content_used_of_row(row).expect("readable"));
    assert!(used.clone().all(|(_, used)| used == 1));
    assert_eq!(used.count(), given.len());
}

async fn a_withdrawn_document_leaves_its_keys_gone(store: Store) {
    let scope = Space::new(1).scope;
    let one = import(&store, scope).await;
    let withdrawal = Withdrawal {
        number: 2,
        id: one.document.id(),
        name: one.document.source_id.clone(),
        gone: withdrawn(&one.document),
    };
    let event = Event {
        id: withdrawal.event_id(scope.0),
        kind: Kind::ContentWithdrawn,
        payload: serde_json::to_string(&withdrawal).expect("JSON"),
        ..event(scope, &Import::new(2, Vec::new()))
    };
    store
        .log
        .append(scope, vec![event])
        .await
        .expect("appended");
    fold(&store).await;
    assert!(rows(&store, scope, &CONTENT_DOCUMENT).await.is_empty());
    assert!(rows(&store, scope, &CONTENT_BODY).await.is_empty());
    let nodes = rows(&store, scope, &CONTENT_NODE).await;
    assert_eq!(nodes.len(), one.given.len());
    for row in &nodes {
        let node = content_node_of_row(row).expect("readable");
        assert_eq!(node.gone, Some((seconds(1), 2)));
    }
    assert_eq!(
        rows(&store, scope, &CONTENT_STATE).await[0][1].as_int(),
        Some(2)
    );
}

async fn of_two_imports_of_one_number_the_log_takes_one(store: Store) {
    let scope = Space::new(1).scope;
    let theirs = imported("b.md", "# B\n", &mut Numbers::default());
    let ours = imported("c.md", "# B\n", &mut Numbers::default());
    assert_ne!(theirs.document, ours.document);
    let one = |it: Imported| vec![event(scope, &Import::new(1, vec![it]))];
    let both = [one(theirs), one(ours)].map(|events| store.log.append(scope, events));
    let [first, second] = both;
    let (first, second) = tokio::join!(first, second);
    let both = [first.expect("appended")[0], second.expect("appended")[0]];
    let taken = both.iter().filter(|it| matches!(it, Appended::At(_)));
    assert_eq!(taken.count(), 1, "{both:?}");
    let elsewhere = Space::new(2).scope;
    let other = imported("b.md", "# B\n", &mut Numbers::default());
    let told = vec![event(elsewhere, &Import::new(1, vec![other]))];
    let told = store.log.append(elsewhere, told).await.expect("appended");
    assert!(
        matches!(told[0], Appended::At(_)),
        "another workspace counts for itself"
    );
}

async fn no_content_reaches_another_workspace(store: Store) {
    let (ours, theirs) = (Space::new(1).scope, Space::new(2).scope);
    import(&store, ours).await;
    for table in Content.tables() {
        assert!(
            rows(&store, theirs, table).await.is_empty(),
            "{}",
            table.name
        );
        assert!(
            !rows(&store, ours, table).await.is_empty(),
            "{}",
            table.name
        );
    }
}

/// Documents may be large: who reads the log holds a bounded amount of it.
async fn a_reading_ends_behind_much(store: Store) {
    let scope = Space::new(1).scope;
    let payload = serde_json::json!({"x": "y".repeat(12 << 20)}).to_string();
    for number in 1..=5 {
        let event = Event {
            payload: payload.clone(),
            ..event(scope, &Import::new(number, Vec::new()))
        };
        store
            .log
            .append(scope, vec![event])
            .await
            .expect("appended");
    }
    let (mut after, mut seen) = (Position(0), Vec::new());
    loop {
        let events = store.log.read(after, 100).await.expect("read");
        let Some(last) = events.last() else { break };
        assert!(events.len() <= 3, "{} at once", events.len());
        after = last.position;
        seen.extend(events.iter().map(|event| event.position.0));
    }
    assert_eq!(seen, [1, 2, 3, 4, 5]);
}
