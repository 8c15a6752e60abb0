//! Listing contacts: newest first, page by page.

use kurier_core::contact::Contact;
use kurier_core::id::ContactId;
use kurier_core::time::Timestamp;
use kurier_store::{ContactFilter, ContactQuery, Store};

use super::filters::{names, users};
use super::place::cases;
use super::runner::happen;
use super::space::{Space, seconds};

cases! {
    newest_come_first,
    pages_do_not_shift_when_contacts_arrive,
    pages_go_through_equal_times,
    merged_and_erased_are_not_listed,
}

type After = Option<(Timestamp, ContactId)>;

async fn page(store: &Store, space: &Space, after: After, limit: usize) -> (Vec<Contact>, bool) {
    let query = ContactQuery {
        filter: ContactFilter::default(),
        after,
        limit,
    };
    let page = store
        .views
        .contacts(space.scope, &query)
        .await
        .expect("listed");
    (page.contacts, page.has_more)
}

async fn newest_come_first(store: Store) {
    let space = Space::new(1);
    users(
        &store,
        &space,
        &[(2, "b", "{}"), (3, "c", "{}"), (1, "a", "{}")],
    )
    .await;
    let (all, more) = page(&store, &space, None, 3).await;
    assert_eq!((names(&all).concat(), more), ("cba".into(), false));
    let (some, more) = page(&store, &space, None, 2).await;
    assert_eq!((names(&some).concat(), more), ("cb".into(), true));
    let (all, more) = page(&store, &space, None, usize::MAX).await;
    assert_eq!((all.len(), more), (3, false));
}

/// All pages of `limit` from `after` on.
async fn walk(store: &Store, space: &Space, mut after: After, limit: usize) -> Vec<String> {
    let mut seen = Vec::new();
    loop {
        let (contacts, more) = page(store, space, after, limit).await;
        seen.extend(names(&contacts));
        after = contacts.last().map(|last| (last.created_at, last.id));
        if !more {
            return seen;
        }
    }
}

async fn pages_do_not_shift_when_contacts_arrive(store: Store) {
    let space = Space::new(1);
    users(
        &store,
        &space,
        &[
            (1, "a", "{}"),
            (2, "b", "{}"),
            (3, "c", "{}"),
            (4, "d", "{}"),
        ],
    )
    .await;
    let (first, _) = page(&store, &space, None, 2).await;
    assert_eq!(names(&first).concat(), "dc");
    users(
        &store,
        &space,
        &[(5, "new", "{}"), (6, "a", r#"{"changed":1}"#)],
    )
    .await;
    let after = first.last().map(|last| (last.created_at, last.id));
    assert_eq!(walk(&store, &space, after, 1).await.concat(), "ba");
    assert_eq!(walk(&store, &space, None, 2).await.concat(), "newdcba");
}

async fn pages_go_through_equal_times(store: Store) {
    let space = Space::new(1);
    let ids: Vec<String> = (0..10).map(|n| n.to_string()).collect();
    let same: Vec<(i64, &str, &str)> = ids.iter().map(|id| (1, id.as_str(), "{}")).collect();
    users(&store, &space, &same).await;
    let mut expected = ids.clone();
    expected.sort_by_key(|id| std::cmp::Reverse(space.user(id)));
    for limit in [1, 3, 10] {
        assert_eq!(
            walk(&store, &space, None, limit).await,
            expected,
            "by {limit}"
        );
    }
}

async fn merged_and_erased_are_not_listed(store: Store) {
    let space = Space::new(1);
    let alias = r#"{"type":"alias","userId":"b","previousId":"a"}"#;
    users(
        &store,
        &space,
        &[(1, "a", "{}"), (2, "b", "{}"), (3, "c", "{}")],
    )
    .await;
    let mut erased = space.said(seconds(4), alias);
    erased.kind = kurier_core::event::Kind::ContactErased;
    erased.payload = format!(r#"{{"contacts":["{}"],"addresses":[]}}"#, space.user("c"));
    erased.id = kurier_core::id::EventId::of_message("erase");
    happen(&store, &space, vec![space.said(seconds(4), alias), erased]).await;
    assert_eq!(walk(&store, &space, None, 10).await, ["b"]);
}
