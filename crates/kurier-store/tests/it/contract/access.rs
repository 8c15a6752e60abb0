//! Workspaces and keys: written with the event that says so, or not at all.

use kurier_core::event::{Event, Kind, Position};
use kurier_core::id::{ApiKeyId, EventId, IdentityKey, WorkspaceId};
use kurier_core::time::Timestamp;
use kurier_store::{ApiKey, Error, NewApiKey, Scope, Scopes, Store, Workspace};

use super::place::cases;
use super::space::{now, seconds};

cases! {
    a_workspace_comes_with_keys_and_events,
    a_taken_name_writes_nothing,
    a_taken_key_writes_nothing,
    of_equal_names_at_once_one_is_made,
    workspaces_are_listed_by_name,
    a_workspace_is_found_by_its_id,
    keys_are_found_by_hash,
    every_set_of_scopes_comes_back,
    keys_are_listed_by_workspace,
    a_revoked_key_is_not_found,
    a_key_is_revoked_once,
    no_workspace_revokes_the_key_of_another,
    a_key_needs_a_workspace,
}

fn workspace(number: u8, name: &str) -> Workspace {
    Workspace {
        id: WorkspaceId::new(now(), [number; 10]),
        name: name.to_owned(),
        key: IdentityKey::new([number; 32]),
        created_at: now(),
    }
}

fn key(number: u8, scopes: Scopes) -> NewApiKey {
    let key = ApiKey {
        id: ApiKeyId::new(now(), [number; 10]),
        name: format!("key {number}"),
        scopes,
        created_at: seconds(number.into()),
        expires_at: number.is_multiple_of(2).then(|| seconds(1_000)),
        revoked_at: None,
    };
    NewApiKey {
        key,
        hash: [number; 32],
    }
}

fn event(kind: Kind, message: &str) -> Event {
    Event {
        id: EventId::of_message(message),
        kind,
        contact: None,
        occurred_at: seconds(5),
        recorded_at: seconds(5),
        payload: "{}".to_owned(),
    }
}

fn created(message: &str) -> Event {
    event(Kind::ApiKeyCreated, message)
}

fn revoked(message: &str) -> Event {
    event(Kind::ApiKeyRevoked, message)
}

const READ: Scopes = Scopes {
    ingest: false,
    read: true,
    admin: false,
};

/// Makes a workspace with these keys, and answers its scope.
async fn make(store: &Store, number: u8, keys: &[u8]) -> Scope {
    let workspace = workspace(number, &format!("workspace {number}"));
    let keys = keys.iter().map(|number| key(*number, READ)).collect();
    let events = vec![event(Kind::WorkspaceCreated, &format!("made {number}"))];
    let made = store
        .access
        .create_workspace(&workspace, keys, events)
        .await;
    made.expect("made");
    Scope(workspace.id)
}

/// The kinds of what stands in the log.
async fn log(store: &Store) -> Vec<Kind> {
    let log = store.log.read(Position(0), 100).await.expect("read");
    log.iter().map(|recorded| recorded.event.kind).collect()
}

async fn find(store: &Store, number: u8) -> Option<(Workspace, ApiKey)> {
    store
        .access
        .find_key([number; 32])
        .await
        .expect("looked up")
}

fn describe(key: &ApiKey) -> (ApiKeyId, String, Scopes, Timestamp, Option<Timestamp>) {
    (
        key.id,
        key.name.clone(),
        key.scopes,
        key.created_at,
        key.expires_at,
    )
}

async fn a_workspace_comes_with_keys_and_events(store: Store) {
    let workspace = workspace(1, "Acme ä '");
    let events = vec![
        event(Kind::WorkspaceCreated, "w"),
        created("k1"),
        created("k2"),
    ];
    let keys = vec![key(1, READ), key(2, READ)];
    let made = store
        .access
        .create_workspace(&workspace, keys, events)
        .await;
    made.expect("made");
    let (found, first) = find(&store, 1).await.expect("there");
    assert_eq!(
        (found.id, found.name, found.created_at),
        (workspace.id, workspace.name, now())
    );
    assert_eq!(found.key.secret(), &[1; 32]);
    assert_eq!(describe(&first), describe(&key(1, READ).key));
    let (_, second) = find(&store, 2).await.expect("there");
    assert_eq!(second.expires_at, Some(seconds(1_000)));
    let kinds = [
        Kind::WorkspaceCreated,
        Kind::ApiKeyCreated,
        Kind::ApiKeyCreated,
    ];
    assert_eq!(log(&store).await, kinds);
    let recorded = store.log.read(Position(0), 1).await.expect("read");
    assert_eq!(recorded[0].workspace, workspace.id);
}

async fn a_taken_name_writes_nothing(store: Store) {
    make(&store, 1, &[1]).await;
    let again = workspace(2, "workspace 1");
    let events = vec![event(Kind::WorkspaceCreated, "again")];
    let made = store
        .access
        .create_workspace(&again, vec![key(2, READ)], events)
        .await;
    assert!(
        matches!(made, Err(Error::Taken("the workspace's name"))),
        "{made:?}"
    );
    assert!(find(&store, 2).await.is_none());
    assert_eq!(store.access.workspaces().await.expect("listed").len(), 1);
    assert_eq!(log(&store).await, [Kind::WorkspaceCreated]);
    assert_eq!(store.log.head().await.expect("head"), Position(1));
}

async fn a_taken_key_writes_nothing(store: Store) {
    let scope = make(&store, 1, &[1]).await;
    let mut same_hash = key(2, READ);
    same_hash.hash = [1; 32];
    let created_key = store
        .access
        .create_key(scope, same_hash.clone(), created("k"))
        .await;
    assert!(
        matches!(created_key, Err(Error::Taken("the key"))),
        "{created_key:?}"
    );
    let other = workspace(2, "other");
    let keys = vec![key(3, READ), same_hash];
    let made = store
        .access
        .create_workspace(&other, keys, vec![created("w")])
        .await;
    assert!(matches!(made, Err(Error::Taken("the key"))), "{made:?}");
    assert!(find(&store, 3).await.is_none());
    assert_eq!(store.access.workspaces().await.expect("listed").len(), 1);
    assert_eq!(log(&store).await, [Kind::WorkspaceCreated]);
}

async fn of_equal_names_at_once_one_is_made(store: Store) {
    let makers: Vec<_> = (1..=8)
        .map(|number| {
            let (store, workspace) = (store.clone(), workspace(number, "wanted"));
            let events = vec![event(Kind::WorkspaceCreated, &number.to_string())];
            tokio::spawn(async move {
                let keys = vec![key(number, READ)];
                store
                    .access
                    .create_workspace(&workspace, keys, events)
                    .await
            })
        })
        .collect();
    let mut made = 0;
    for maker in makers {
        match maker.await.expect("answered") {
            Ok(()) => made += 1,
            Err(error) => assert!(matches!(error, Error::Taken(_)), "{error:?}"),
        }
    }
    assert_eq!((made, log(&store).await.len()), (1, 1));
}

async fn workspaces_are_listed_by_name(store: Store) {
    for (number, name) in [(1, "b"), (2, "B"), (3, "ä"), (4, "a_b"), (5, "a")] {
        let workspace = workspace(number, name);
        let made = store
            .access
            .create_workspace(&workspace, Vec::new(), Vec::new())
            .await;
        made.expect("made");
    }
    let all = store.access.workspaces().await.expect("listed");
    let names: Vec<&str> = all
        .iter()
        .map(|workspace| workspace.name.as_str())
        .collect();
    assert_eq!(names, ["B", "a", "a_b", "b", "ä"]);
    assert_eq!(all[0].key.secret(), &[2; 32]);
}

async fn a_workspace_is_found_by_its_id(store: Store) {
    let (one, two) = (make(&store, 1, &[]).await, make(&store, 2, &[]).await);
    let find = async |scope: Scope| store.access.workspace(scope.0).await.expect("looked up");
    let found = find(two).await.expect("there");
    assert_eq!((found.id, found.name.as_str()), (two.0, "workspace 2"));
    assert_eq!(found.key.secret(), &[2; 32]);
    assert_eq!(find(one).await.expect("there").id, one.0);
    assert!(find(Scope(workspace(9, "").id)).await.is_none());
}

async fn keys_are_found_by_hash(store: Store) {
    let (one, two) = (make(&store, 1, &[1]).await, make(&store, 2, &[2]).await);
    assert_eq!(find(&store, 1).await.expect("there").0.id, one.0);
    assert_eq!(find(&store, 2).await.expect("there").0.id, two.0);
    assert!(find(&store, 3).await.is_none());
}

async fn every_set_of_scopes_comes_back(store: Store) {
    let scope = make(&store, 1, &[]).await;
    for bits in 0..8 {
        let scopes = Scopes {
            ingest: bits & 1 > 0,
            read: bits & 2 > 0,
            admin: bits & 4 > 0,
        };
        let new = key(bits + 1, scopes);
        let made = store
            .access
            .create_key(scope, new, created(&bits.to_string()))
            .await;
        made.expect("made");
        assert_eq!(
            find(&store, bits + 1).await.expect("there").1.scopes,
            scopes
        );
    }
    assert_eq!(log(&store).await.len(), 9);
}

async fn keys_are_listed_by_workspace(store: Store) {
    let scope = make(&store, 1, &[3, 1]).await;
    make(&store, 2, &[4]).await;
    store
        .access
        .create_key(scope, key(2, READ), created("k"))
        .await
        .expect("made");
    let keys = store.access.keys(scope).await.expect("listed");
    let expected: Vec<_> = [1, 2, 3]
        .map(|number| describe(&key(number, READ).key))
        .into();
    assert_eq!(keys.iter().map(describe).collect::<Vec<_>>(), expected);
    assert!(keys.iter().all(|key| key.revoked_at.is_none()));
    let nowhere = Scope(workspace(9, "").id);
    assert!(store.access.keys(nowhere).await.expect("listed").is_empty());
}

async fn a_revoked_key_is_not_found(store: Store) {
    let scope = make(&store, 1, &[1, 2]).await;
    let id = key(1, READ).key.id;
    assert!(
        store
            .access
            .revoke_key(scope, id, revoked("r"))
            .await
            .expect("revoked")
    );
    assert!(find(&store, 1).await.is_none());
    assert!(find(&store, 2).await.is_some());
    let keys = store.access.keys(scope).await.expect("listed");
    let revoked: Vec<_> = keys.iter().map(|key| key.revoked_at).collect();
    assert_eq!(revoked, [Some(seconds(5)), None]);
    assert_eq!(
        log(&store).await,
        [Kind::WorkspaceCreated, Kind::ApiKeyRevoked]
    );
}

async fn a_key_is_revoked_once(store: Store) {
    let scope = make(&store, 1, &[1]).await;
    let id = key(1, READ).key.id;
    let mut answers = Vec::new();
    for message in ["once", "twice"] {
        let mut event = revoked(message);
        event.recorded_at = seconds(if message == "once" { 5 } else { 50 });
        answers.push(
            store
                .access
                .revoke_key(scope, id, event)
                .await
                .expect("answered"),
        );
    }
    assert_eq!(answers, [true, false]);
    let keys = store.access.keys(scope).await.expect("listed");
    assert_eq!(keys[0].revoked_at, Some(seconds(5)));
    assert_eq!(
        log(&store).await,
        [Kind::WorkspaceCreated, Kind::ApiKeyRevoked]
    );
    let unknown = ApiKeyId::new(now(), [99; 10]);
    let answer = store
        .access
        .revoke_key(scope, unknown, revoked("unknown"))
        .await;
    assert!(!answer.expect("answered"));
}

async fn no_workspace_revokes_the_key_of_another(store: Store) {
    let ours = make(&store, 1, &[1]).await;
    make(&store, 2, &[2]).await;
    let theirs = key(2, READ).key.id;
    let answer = store
        .access
        .revoke_key(ours, theirs, revoked("theirs"))
        .await;
    assert!(!answer.expect("answered"));
    assert!(find(&store, 2).await.is_some());
    assert_eq!(log(&store).await, [Kind::WorkspaceCreated; 2]);
}

async fn a_key_needs_a_workspace(store: Store) {
    let nowhere = Scope(workspace(9, "").id);
    let made = store
        .access
        .create_key(nowhere, key(1, READ), created("k"))
        .await;
    let error = made.expect_err("there is no such workspace");
    assert!(
        !matches!(error, Error::Taken(_)),
        "nothing is taken: {error}"
    );
    assert!(find(&store, 1).await.is_none());
    assert_eq!(log(&store).await, []);
}
