//! Users and sessions: users are written with the event that says so, or not at all; a session
//! is there until it ends.

use kurier_core::event::{Event, Kind, Position};
use kurier_core::id::{EventId, IdentityKey, UserId, WorkspaceId};
use kurier_store::{
    Edited, Error, NewSession, NewUser, Role, Scope, Store, User, UserEdit, Workspace,
};

use super::place::cases;
use super::space::{now, seconds};

cases! {
    a_user_is_found_by_address_and_by_id,
    users_are_listed_by_address_within_their_workspace,
    a_taken_address_writes_nothing,
    the_first_user_is_the_first,
    of_two_first_users_at_once_one_is_made,
    what_is_not_named_stays,
    the_last_owner_stays,
    of_two_owners_who_leave_at_once_one_stays,
    no_workspace_changes_the_users_of_another,
    a_session_leads_to_its_user,
    a_session_ends_at_its_time,
    a_session_is_let_end_later_and_never_earlier,
    a_session_ends_once,
    a_new_password_ends_sessions,
    with_a_user_go_their_sessions,
    sessions_that_ended_are_forgotten,
    a_user_needs_a_workspace,
}

async fn make(store: &Store, number: u8) -> Scope {
    let workspace = Workspace {
        id: WorkspaceId::new(now(), [number; 10]),
        name: format!("workspace {number}"),
        key: IdentityKey::new([number; 32]),
        created_at: now(),
    };
    let made = store
        .access
        .create_workspace(&workspace, Vec::new(), Vec::new())
        .await;
    made.expect("made");
    Scope(workspace.id)
}

fn user(number: u8, role: Role) -> NewUser {
    let user = User {
        id: UserId::new(now(), [number; 10]),
        email: format!("u{number}@example.com"),
        name: format!("User {number}"),
        role,
        created_at: seconds(number.into()),
    };
    NewUser {
        user,
        password: format!("hash {number}"),
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

fn said(message: &str) -> Event {
    event(Kind::UserChanged, message)
}

async fn add(store: &Store, scope: Scope, number: u8, role: Role) -> User {
    let new = user(number, role);
    let made = new.user.clone();
    let event = event(Kind::UserCreated, &format!("made {number}"));
    let added = store.users.create_user(scope, new, event).await;
    added.expect("made");
    made
}

async fn sign_in(store: &Store, scope: Scope, user: &User, number: u8) -> [u8; 32] {
    let session = NewSession {
        hash: [number; 32],
        user: user.id,
        created_at: now(),
        expires_at: seconds(100),
    };
    let begun = store.users.begin_session(scope, session).await;
    begun.expect("begun");
    session.hash
}

async fn is_signed_in(store: &Store, hash: [u8; 32]) -> bool {
    let found = store.users.find_session(hash, seconds(1)).await;
    found.expect("looked up").is_some()
}

async fn log(store: &Store) -> Vec<Kind> {
    let log = store.log.read(Position(0), 100).await.expect("read");
    log.iter().map(|recorded| recorded.event.kind).collect()
}

async fn roles(store: &Store, scope: Scope) -> Vec<Role> {
    let users = store.users.users(scope).await.expect("listed");
    users.iter().map(|user| user.role).collect()
}

fn to(role: Role) -> UserEdit {
    UserEdit {
        role: Some(role),
        ..UserEdit::default()
    }
}

async fn a_user_is_found_by_address_and_by_id(store: Store) {
    let scope = make(&store, 1).await;
    assert!(!store.users.has_users().await.expect("asked"));
    let made = add(&store, scope, 1, Role::Editor).await;
    assert!(store.users.has_users().await.expect("asked"));
    let found = store.users.find_user("u1@example.com").await;
    let (found_in, found) = found.expect("asked").expect("found");
    assert_eq!((found_in, &found.user), (scope, &made));
    assert_eq!(found.password, "hash 1");
    let by_id = store.users.user(scope, made.id).await.expect("asked");
    assert_eq!(by_id, Some(made));
    let nobody = store.users.find_user("u2@example.com").await;
    assert!(nobody.expect("asked").is_none());
    assert_eq!(log(&store).await, [Kind::UserCreated]);
}

async fn users_are_listed_by_address_within_their_workspace(store: Store) {
    let (one, two) = (make(&store, 1).await, make(&store, 2).await);
    for number in [3, 1, 2] {
        add(&store, one, number, Role::Viewer).await;
    }
    add(&store, two, 9, Role::Owner).await;
    let users = store.users.users(one).await.expect("listed");
    let emails: Vec<_> = users.iter().map(|user| user.email.as_str()).collect();
    assert_eq!(
        emails,
        ["u1@example.com", "u2@example.com", "u3@example.com"]
    );
}

async fn a_taken_address_writes_nothing(store: Store) {
    let (one, two) = (make(&store, 1).await, make(&store, 2).await);
    add(&store, one, 1, Role::Owner).await;
    let mut same = user(2, Role::Owner);
    same.user.email = "u1@example.com".to_owned();
    let event = event(Kind::UserCreated, "again");
    let taken = store.users.create_user(two, same, event).await;
    assert!(matches!(taken, Err(Error::Taken(_))), "{taken:?}");
    assert_eq!(log(&store).await, [Kind::UserCreated]);
    assert_eq!(roles(&store, two).await, []);
}

async fn the_first_user_is_the_first(store: Store) {
    let (one, two) = (make(&store, 1).await, make(&store, 2).await);
    let first = async |scope, number| {
        let event = event(Kind::UserCreated, &format!("first {number}"));
        let new = user(number, Role::Owner);
        let made = store.users.create_first_user(scope, new, event).await;
        made.expect("asked")
    };
    assert!(first(one, 1).await);
    assert!(!first(one, 2).await);
    assert!(first(two, 3).await, "each workspace has a first one");
    assert_eq!(log(&store).await, [Kind::UserCreated, Kind::UserCreated]);
    assert_eq!(roles(&store, one).await, [Role::Owner]);
}

async fn of_two_first_users_at_once_one_is_made(store: Store) {
    let scope = make(&store, 1).await;
    let first = |number: u8| {
        let event = event(Kind::UserCreated, &format!("first {number}"));
        let users = store.users.clone();
        async move {
            let new = user(number, Role::Owner);
            users.create_first_user(scope, new, event).await
        }
    };
    let (a, b) = tokio::join!(tokio::spawn(first(1)), tokio::spawn(first(2)));
    let made = [a, b].map(|it| it.expect("ended").expect("asked"));
    assert_eq!(made.iter().filter(|made| **made).count(), 1);
    assert_eq!(roles(&store, scope).await.len(), 1);
    assert_eq!(log(&store).await.len(), 1);
}

async fn what_is_not_named_stays(store: Store) {
    let scope = make(&store, 1).await;
    let made = add(&store, scope, 1, Role::Owner).await;
    let edit = |edit: UserEdit, message: &str| {
        let event = said(message);
        let users = store.users.clone();
        async move { users.edit_user(scope, made.id, edit, event).await }
    };
    let renamed = UserEdit {
        name: Some("Ann".to_owned()),
        ..UserEdit::default()
    };
    assert_eq!(edit(renamed, "a").await.expect("asked"), Edited::Done);
    let password = UserEdit {
        password: Some("other".to_owned()),
        ..UserEdit::default()
    };
    assert_eq!(edit(password, "b").await.expect("asked"), Edited::Done);
    let found = store.users.find_user("u1@example.com").await;
    let (_, found) = found.expect("asked").expect("found");
    assert_eq!(found.user.name, "Ann");
    assert_eq!(found.user.role, Role::Owner);
    assert_eq!(found.password, "other");
    assert_eq!(log(&store).await.len(), 3);
}

async fn the_last_owner_stays(store: Store) {
    let (scope, other) = (make(&store, 1).await, make(&store, 2).await);
    let owner = add(&store, scope, 1, Role::Owner).await;
    add(&store, scope, 2, Role::Editor).await;
    // An owner of another workspace is of no help.
    add(&store, other, 3, Role::Owner).await;
    let users = &store.users;
    let deleted = users.delete_user(scope, owner.id, said("a")).await;
    assert_eq!(deleted.expect("asked"), Edited::LastOwner);
    let lowered = users
        .edit_user(scope, owner.id, to(Role::Viewer), said("b"))
        .await;
    assert_eq!(lowered.expect("asked"), Edited::LastOwner);
    let stays = users
        .edit_user(scope, owner.id, to(Role::Owner), said("c"))
        .await;
    assert_eq!(stays.expect("asked"), Edited::Done);
    assert_eq!(roles(&store, scope).await, [Role::Owner, Role::Editor]);
    assert_eq!(log(&store).await.len(), 4, "what was refused was not told");
    add(&store, scope, 4, Role::Owner).await;
    let deleted = users.delete_user(scope, owner.id, said("d")).await;
    assert_eq!(deleted.expect("asked"), Edited::Done);
}

async fn of_two_owners_who_leave_at_once_one_stays(store: Store) {
    for round in 0..10_u8 {
        let scope = make(&store, 10 + round).await;
        let a = add(&store, scope, 100 + 2 * round, Role::Owner).await;
        let b = add(&store, scope, 101 + 2 * round, Role::Owner).await;
        let leave = |user: User| {
            let (users, event) = (store.users.clone(), said(&user.email));
            async move { users.delete_user(scope, user.id, event).await }
        };
        let (a, b) = tokio::join!(tokio::spawn(leave(a)), tokio::spawn(leave(b)));
        let mut left = [a, b].map(|it| it.expect("ended").expect("asked"));
        left.sort_by_key(|left| *left == Edited::Done);
        assert_eq!(left, [Edited::LastOwner, Edited::Done]);
        assert_eq!(roles(&store, scope).await, [Role::Owner]);
    }
}

async fn no_workspace_changes_the_users_of_another(store: Store) {
    let (one, two) = (make(&store, 1).await, make(&store, 2).await);
    let theirs = add(&store, one, 1, Role::Viewer).await;
    let users = &store.users;
    let found = users.user(two, theirs.id).await.expect("asked");
    assert_eq!(found, None);
    let edited = users
        .edit_user(two, theirs.id, to(Role::Owner), said("a"))
        .await;
    assert_eq!(edited.expect("asked"), Edited::Unknown);
    let deleted = users.delete_user(two, theirs.id, said("b")).await;
    assert_eq!(deleted.expect("asked"), Edited::Unknown);
    assert_eq!(roles(&store, one).await, [Role::Viewer]);
    assert_eq!(log(&store).await, [Kind::UserCreated]);
}

async fn a_session_leads_to_its_user(store: Store) {
    let scope = make(&store, 1).await;
    let made = add(&store, scope, 1, Role::Editor).await;
    let hash = sign_in(&store, scope, &made, 7).await;
    let found = store.users.find_session(hash, now()).await;
    let found = found.expect("asked").expect("found");
    assert_eq!(found.user, made);
    assert_eq!(found.workspace.id, scope.0);
    assert_eq!(found.workspace.name, "workspace 1");
    assert_eq!(found.expires_at, seconds(100));
    assert!(!is_signed_in(&store, [8; 32]).await);
    assert_eq!(log(&store).await, [Kind::UserCreated], "no history");
}

async fn a_session_ends_at_its_time(store: Store) {
    let scope = make(&store, 1).await;
    let made = add(&store, scope, 1, Role::Editor).await;
    let hash = sign_in(&store, scope, &made, 7).await;
    let at = async |second| {
        let found = store.users.find_session(hash, seconds(second)).await;
        found.expect("asked").is_some()
    };
    assert!(at(99).await);
    assert!(!at(100).await);
}

async fn a_session_is_let_end_later_and_never_earlier(store: Store) {
    let scope = make(&store, 1).await;
    let made = add(&store, scope, 1, Role::Editor).await;
    let hash = sign_in(&store, scope, &made, 7).await;
    let ends = async || {
        let found = store.users.find_session(hash, now()).await;
        found.expect("asked").expect("found").expires_at
    };
    for (until, ends_at) in [(200, 200), (150, 200)] {
        let extended = store.users.extend_session(hash, seconds(until)).await;
        extended.expect("extended");
        assert_eq!(ends().await, seconds(ends_at));
    }
}

async fn a_session_ends_once(store: Store) {
    let scope = make(&store, 1).await;
    let made = add(&store, scope, 1, Role::Editor).await;
    let hash = sign_in(&store, scope, &made, 7).await;
    let other = sign_in(&store, scope, &made, 8).await;
    assert!(store.users.end_session(hash).await.expect("ended"));
    assert!(!store.users.end_session(hash).await.expect("asked"));
    assert!(!is_signed_in(&store, hash).await);
    assert!(is_signed_in(&store, other).await);
}

async fn a_new_password_ends_sessions(store: Store) {
    let scope = make(&store, 1).await;
    let made = add(&store, scope, 1, Role::Owner).await;
    let other = add(&store, scope, 2, Role::Owner).await;
    let hash = sign_in(&store, scope, &made, 7).await;
    let theirs = sign_in(&store, scope, &other, 8).await;
    let edit = async |edit, message| {
        let edited = store
            .users
            .edit_user(scope, made.id, edit, said(message))
            .await;
        assert_eq!(edited.expect("asked"), Edited::Done);
    };
    edit(to(Role::Viewer), "a").await;
    assert!(
        is_signed_in(&store, hash).await,
        "another role ends nothing"
    );
    let password = UserEdit {
        password: Some("other".to_owned()),
        ..UserEdit::default()
    };
    edit(password, "b").await;
    assert!(!is_signed_in(&store, hash).await);
    assert!(is_signed_in(&store, theirs).await);
}

async fn with_a_user_go_their_sessions(store: Store) {
    let scope = make(&store, 1).await;
    let made = add(&store, scope, 1, Role::Viewer).await;
    let hash = sign_in(&store, scope, &made, 7).await;
    let deleted = store.users.delete_user(scope, made.id, said("a")).await;
    assert_eq!(deleted.expect("asked"), Edited::Done);
    assert!(!is_signed_in(&store, hash).await);
    assert!(!store.users.end_session(hash).await.expect("asked"), "gone");
}

async fn sessions_that_ended_are_forgotten(store: Store) {
    let scope = make(&store, 1).await;
    let made = add(&store, scope, 1, Role::Viewer).await;
    let hash = sign_in(&store, scope, &made, 7).await;
    let prune = async |second| {
        let pruned = store.users.prune_sessions(seconds(second)).await;
        pruned.expect("pruned")
    };
    assert_eq!(prune(99).await, 0);
    assert!(is_signed_in(&store, hash).await);
    assert_eq!(prune(100).await, 1);
    assert!(!is_signed_in(&store, hash).await);
}

async fn a_user_needs_a_workspace(store: Store) {
    let nowhere = Scope(WorkspaceId::new(now(), [99; 10]));
    let event = event(Kind::UserCreated, "made");
    let made = store
        .users
        .create_user(nowhere, user(1, Role::Owner), event)
        .await;
    assert!(made.is_err());
    assert_eq!(log(&store).await, []);
}
