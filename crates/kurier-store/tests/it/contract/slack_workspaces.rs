//! Slack workspaces: read by id and by the workspace they belong to.

use kurier_core::event::{Event, Kind, Position};
use kurier_core::id::{EventId, SlackWorkspaceId};
use kurier_core::projection::{
    Cell, Need, Projection as _, SLACK_WORKSPACE, SlackWorkspaces, slack_workspace_of_row,
};
use kurier_core::slack_workspace::SlackWorkspace;
use kurier_store::{Applied, Batch, Scope, Store};
use serde_json::json;

use super::place::cases;
use super::space::{Space, seconds};

cases! {
    slack_workspaces_are_read_back_whole_and_lose_their_secrets_when_archived,
    no_slack_workspace_reaches_another_workspace,
}

fn id(number: u8) -> SlackWorkspaceId {
    SlackWorkspaceId::from_bytes([number; 16])
}

fn event(n: i64, kind: Kind, payload: &serde_json::Value) -> Event {
    Event {
        id: EventId::of_message(&n.to_string()),
        kind,
        contact: None,
        occurred_at: seconds(n),
        recorded_at: seconds(n),
        payload: payload.to_string(),
    }
}

fn life() -> Vec<Event> {
    let odd = "' \" \\ ä 🦀 {x}:*";
    let stated = json!({"id": id(1), "name": odd, "category": odd, "default_channel": "#a",
        "secrets": ["bot_token"], "sealed": "AQID"});
    vec![
        event(1, Kind::SlackWorkspaceCreated, &stated),
        event(
            2,
            Kind::SlackWorkspaceCreated,
            &json!({"id": id(2), "name": "b"}),
        ),
        event(
            3,
            Kind::SlackWorkspaceUpdated,
            &json!({"id": id(2), "name": "c"}),
        ),
    ]
}

async fn fold(store: &Store, scope: Scope, events: Vec<Event>) {
    store.log.append(scope, events).await.expect("appended");
    let name = SlackWorkspaces.name();
    let from = store.views.checkpoint(name).await.expect("read");
    let events = store.log.read(from, 100).await.expect("read");
    let loaded = store.views.load(SlackWorkspaces.needs(&events)).await;
    let folded = SlackWorkspaces.fold(loaded.expect("loaded"), &events);
    let to = events.last().map_or(Position(0), |event| event.position);
    let batch = Batch::new(&SlackWorkspaces, (from, to), folded.expect("readable"));
    let applied = store.views.apply(batch).await;
    assert_eq!(applied.expect("applied"), Applied::Done);
}

async fn all(store: &Store, scope: Scope) -> Vec<(SlackWorkspace, Option<String>)> {
    let columns = &SLACK_WORKSPACE.columns[..1];
    let need = Need::by(&SLACK_WORKSPACE, columns, vec![vec![scope.0.into()]]);
    let loaded = store.views.load(vec![need]).await.expect("loaded");
    let rows = loaded[0].rows.iter();
    let read = rows.map(|row| {
        let (workspace, known, sealed) = slack_workspace_of_row(row).expect("readable");
        assert_eq!(workspace, scope.0);
        (known, sealed)
    });
    let mut all: Vec<_> = read.collect();
    all.sort_by_key(|(known, _)| known.id);
    all
}

async fn slack_workspaces_are_read_back_whole_and_lose_their_secrets_when_archived(store: Store) {
    let space = Space::new(1);
    fold(&store, space.scope, life()).await;
    let known = all(&store, space.scope).await;
    let (first, sealed) = &known[0];
    assert_eq!(first.definition.name, "' \" \\ ä 🦀 {x}:*");
    assert_eq!(
        first.definition.category.as_ref(),
        Some(&first.definition.name)
    );
    assert_eq!((first.secrets.len(), sealed.as_deref()), (1, Some("AQID")));
    assert_eq!(known[1].0.definition.name, "c");
    assert_eq!(known[1].0.created_at, seconds(2));
    let archived = event(4, Kind::SlackWorkspaceArchived, &json!({"id": id(1)}));
    fold(&store, space.scope, vec![archived]).await;
    let known = all(&store, space.scope).await;
    assert_eq!(known[0].0.archived_at, Some(seconds(4)));
    assert_eq!((known[0].0.secrets.len(), &known[0].1), (0, &None));
}

async fn no_slack_workspace_reaches_another_workspace(store: Store) {
    let (ours, theirs) = (Space::new(1), Space::new(2));
    fold(&store, ours.scope, life()).await;
    assert_eq!(all(&store, theirs.scope).await, []);
    let key = vec![theirs.scope.0.into(), Cell::Id(id(1).as_uuid())];
    let need = Need::new(&SLACK_WORKSPACE, vec![key]);
    let loaded = store.views.load(vec![need]).await.expect("loaded");
    assert!(loaded.iter().all(|loaded| loaded.rows.is_empty()));
    assert_eq!(all(&store, ours.scope).await.len(), 2);
}
