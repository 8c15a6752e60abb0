//! Which contacts are listed: by every filter, alone and together.

use kurier_core::contact::Contact;
use kurier_core::event::Event;
use kurier_core::value::Value;
use kurier_store::{ContactFilter, ContactQuery, Store};

use super::place::cases;
use super::runner::happen;
use super::space::{Space, seconds};

cases! {
    by_email_and_by_user,
    by_anonymous_id,
    by_anonymous_id_over_several_merges,
    by_beginning,
    by_attribute,
    by_attribute_of_the_same_type_only,
    by_a_missing_attribute,
    by_an_attribute_inside_another,
    filters_add_up,
    no_filter_reaches_another_workspace,
}

pub fn names(contacts: &[Contact]) -> Vec<String> {
    let name = |contact: &Contact| contact.user_id.clone().unwrap_or_else(|| "-".to_owned());
    contacts.iter().map(name).collect()
}

/// The user ids that a filter finds, sorted.
async fn found(store: &Store, space: &Space, filter: ContactFilter) -> Vec<String> {
    let query = ContactQuery {
        filter,
        after: None,
        limit: 100,
    };
    let page = store
        .views
        .contacts(space.scope, &query)
        .await
        .expect("listed");
    assert!(!page.has_more);
    let mut names = names(&page.contacts);
    names.sort();
    names
}

fn user(space: &Space, at: i64, id: &str, traits: &str) -> Event {
    let raw = format!(r#"{{"type":"identify","userId":"{id}","traits":{traits}}}"#);
    space.said(seconds(at), &raw)
}

pub async fn users(store: &Store, space: &Space, users: &[(i64, &str, &str)]) {
    let events = users
        .iter()
        .map(|(at, id, traits)| user(space, *at, id, traits));
    happen(store, space, events.collect()).await;
}

async fn by_email_and_by_user(store: Store) {
    let space = Space::new(1);
    let people = [
        (1, "ann", r#"{"email":"Ann@X.de"}"#),
        (2, "bob", r#"{"email":"bob@x.de"}"#),
        (3, "nobody", "{}"),
    ];
    users(&store, &space, &people).await;
    let email = |text: &str| ContactFilter {
        email: Some(text.into()),
        ..Default::default()
    };
    assert_eq!(found(&store, &space, email("ann@x.de")).await, ["ann"]);
    assert_eq!(found(&store, &space, email("ann@x")).await, [""; 0]);
    let user = |text: &str| ContactFilter {
        user_id: Some(text.into()),
        ..Default::default()
    };
    assert_eq!(found(&store, &space, user("bob")).await, ["bob"]);
    assert_eq!(found(&store, &space, user("Bob")).await, [""; 0]);
}

fn anonymous(space: &Space, id: &str) -> ContactFilter {
    ContactFilter {
        anonymous: Some(space.guest(id)),
        ..Default::default()
    }
}

async fn by_anonymous_id(store: Store) {
    let space = Space::new(1);
    let events = vec![
        space.said(
            seconds(1),
            r#"{"type":"track","event":"E","anonymousId":"lone"}"#,
        ),
        space.said(
            seconds(2),
            r#"{"type":"track","event":"E","anonymousId":"a"}"#,
        ),
        space.said(
            seconds(3),
            r#"{"type":"identify","userId":"u","anonymousId":"a"}"#,
        ),
    ];
    happen(&store, &space, events).await;
    assert_eq!(
        found(&store, &space, anonymous(&space, "lone")).await,
        ["-"]
    );
    assert_eq!(found(&store, &space, anonymous(&space, "a")).await, ["u"]);
    assert_eq!(
        found(&store, &space, anonymous(&space, "other")).await,
        [""; 0]
    );
}

async fn by_anonymous_id_over_several_merges(store: Store) {
    let space = Space::new(1);
    users(&store, &space, &[(0, "u2", "{}"), (0, "u3", "{}")]).await;
    let events = vec![
        space.said(
            seconds(1),
            r#"{"type":"identify","userId":"u1","anonymousId":"a"}"#,
        ),
        space.said(
            seconds(2),
            r#"{"type":"alias","userId":"u2","previousId":"u1"}"#,
        ),
        space.said(
            seconds(3),
            r#"{"type":"alias","userId":"u3","previousId":"u2"}"#,
        ),
    ];
    happen(&store, &space, events).await;
    assert_eq!(found(&store, &space, anonymous(&space, "a")).await, ["u3"]);
}

async fn by_beginning(store: Store) {
    let space = Space::new(1);
    let people = [
        (1, "a_b", "{}"),
        (2, "axb", "{}"),
        (3, "a%b", "{}"),
        (4, "A_b", "{}"),
        (5, "z", r#"{"email":"a_mail@x.de"}"#),
        (6, "äö", "{}"),
    ];
    users(&store, &space, &people).await;
    let begins = |text: &str| ContactFilter {
        starts_with: Some(text.into()),
        ..Default::default()
    };
    assert_eq!(found(&store, &space, begins("a_")).await, ["a_b", "z"]);
    assert_eq!(found(&store, &space, begins("a%")).await, ["a%b"]);
    assert_eq!(found(&store, &space, begins("%")).await, [""; 0]);
    assert_eq!(found(&store, &space, begins("_")).await, [""; 0]);
    assert_eq!(found(&store, &space, begins("a\\")).await, [""; 0]);
    assert_eq!(found(&store, &space, begins("a_b")).await, ["a_b"]);
    assert_eq!(found(&store, &space, begins("ä")).await, ["äö"]);
    assert_eq!(
        found(&store, &space, begins("a")).await,
        ["a%b", "a_b", "axb", "z"]
    );
}

fn attribute(path: &str, json: &str) -> ContactFilter {
    let value: Value = serde_json::from_str(json).expect("JSON");
    let path = path.parse().expect("a path");
    ContactFilter {
        attribute: Some((path, value)),
        ..Default::default()
    }
}

/// Checks which of some users a filter by attribute finds.
async fn check(store: &Store, space: &Space, (path, json): (&str, &str), expected: &[&str]) {
    let found = found(store, space, attribute(path, json)).await;
    assert_eq!(found, expected, "{path} = {json}");
}

async fn by_attribute(store: Store) {
    let space = Space::new(1);
    let people = [
        (1, "text", r#"{"v":"pro"}"#),
        (2, "int", r#"{"v":7}"#),
        (3, "float", r#"{"v":7.0}"#),
        (4, "half", r#"{"v":0.1}"#),
        (5, "yes", r#"{"v":true}"#),
        (6, "no", r#"{"v":false}"#),
        (7, "list", r#"{"v":[1,"a"]}"#),
        (8, "object", r#"{"v":{"b":1,"a":[2]}}"#),
        (9, "odd", r#"{"odd name%$[0]":"x","ä":1}"#),
    ];
    users(&store, &space, &people).await;
    check(&store, &space, ("v", "\"pro\""), &["text"]).await;
    check(&store, &space, ("v", "\"PRO\""), &[]).await;
    check(&store, &space, ("v", "7"), &["float", "int"]).await;
    check(&store, &space, ("v", "7.0"), &["float", "int"]).await;
    check(&store, &space, ("v", "0.1"), &["half"]).await;
    check(&store, &space, ("v", "true"), &["yes"]).await;
    check(&store, &space, ("v", "false"), &["no"]).await;
    check(&store, &space, ("v", r#"[1,"a"]"#), &["list"]).await;
    check(&store, &space, ("v", "[1]"), &[]).await;
    check(&store, &space, ("v", r#"{"a":[2],"b":1}"#), &["object"]).await;
    check(&store, &space, ("odd name%$[0]", "\"x\""), &["odd"]).await;
    check(&store, &space, ("ä", "1"), &["odd"]).await;
}

async fn by_attribute_of_the_same_type_only(store: Store) {
    let space = Space::new(1);
    let people = [
        (1, "one", r#"{"v":1}"#),
        (2, "yes", r#"{"v":true}"#),
        (3, "text one", r#"{"v":"1"}"#),
        (4, "text yes", r#"{"v":"true"}"#),
        (5, "list", r#"{"v":[1]}"#),
        (6, "text list", r#"{"v":"[1]"}"#),
        (7, "zero", r#"{"v":0}"#),
    ];
    users(&store, &space, &people).await;
    check(&store, &space, ("v", "1"), &["one"]).await;
    check(&store, &space, ("v", "true"), &["yes"]).await;
    check(&store, &space, ("v", "false"), &[]).await;
    check(&store, &space, ("v", "\"1\""), &["text one"]).await;
    check(&store, &space, ("v", "\"true\""), &["text yes"]).await;
    check(&store, &space, ("v", "[1]"), &["list"]).await;
    check(&store, &space, ("v", "\"[1]\""), &["text list"]).await;
}

async fn by_a_missing_attribute(store: Store) {
    let space = Space::new(1);
    let people = [
        (1, "there", r#"{"v":0,"deep":{"v":""}}"#),
        (2, "null inside", r#"{"v":1,"deep":{"v":null}}"#),
        (3, "missing", r#"{"deep":{}}"#),
        (4, "removed", r#"{"v":1,"deep":5}"#),
        (5, "removed", r#"{"v":null}"#),
    ];
    users(&store, &space, &people).await;
    check(&store, &space, ("v", "null"), &["missing", "removed"]).await;
    check(
        &store,
        &space,
        ("deep.v", "null"),
        &["missing", "null inside", "removed"],
    )
    .await;
}

async fn by_an_attribute_inside_another(store: Store) {
    let space = Space::new(1);
    let people = [
        (1, "deep", r#"{"a":{"b":{"c":"x"}},"list":["first"]}"#),
        (2, "flat", r#"{"a.b.c":"x","list":{"0":"first"}}"#),
    ];
    users(&store, &space, &people).await;
    check(&store, &space, ("a.b.c", "\"x\""), &["deep"]).await;
    check(&store, &space, ("a.b", r#"{"c":"x"}"#), &["deep"]).await;
    // A path goes along objects only, as everywhere in Kurier.
    check(&store, &space, ("list.0", "\"first\""), &["flat"]).await;
}

async fn filters_add_up(store: Store) {
    let space = Space::new(1);
    let people = [
        (1, "u1", r#"{"email":"a@x.de","plan":"pro"}"#),
        (2, "u2", r#"{"email":"b@x.de","plan":"pro"}"#),
        (3, "u3", r#"{"email":"a@x.de","plan":"free"}"#),
    ];
    users(&store, &space, &people).await;
    let mut filter = attribute("plan", "\"pro\"");
    filter.starts_with = Some("u".into());
    assert_eq!(found(&store, &space, filter.clone()).await, ["u1", "u2"]);
    filter.email = Some("a@x.de".into());
    assert_eq!(found(&store, &space, filter.clone()).await, ["u1"]);
    filter.user_id = Some("u2".into());
    assert_eq!(found(&store, &space, filter).await, [""; 0]);
}

async fn no_filter_reaches_another_workspace(store: Store) {
    let (ours, theirs) = (Space::new(1), Space::new(2));
    let raw = r#"{"type":"identify","userId":"u","anonymousId":"a",
                  "traits":{"email":"u@x.de","plan":"pro"}}"#;
    let guest = r#"{"type":"track","event":"E","anonymousId":"b"}"#;
    let events = vec![theirs.said(seconds(1), raw), theirs.said(seconds(1), guest)];
    happen(&store, &theirs, events).await;
    let filters = [
        ContactFilter::default(),
        ContactFilter {
            email: Some("u@x.de".into()),
            ..Default::default()
        },
        ContactFilter {
            user_id: Some("u".into()),
            ..Default::default()
        },
        ContactFilter {
            starts_with: Some("u".into()),
            ..Default::default()
        },
        anonymous(&ours, "a"),
        anonymous(&ours, "b"),
        attribute("plan", "\"pro\""),
        attribute("missing", "null"),
    ];
    for filter in filters {
        let case = format!("{filter:?}");
        assert!(
            !found(&store, &theirs, filter.clone()).await.is_empty(),
            "{case}"
        );
        assert_eq!(found(&store, &ours, filter).await, [""; 0], "{case}");
    }
    // Our own guest of that name is not led to their user.
    happen(
        &store,
        &ours,
        vec![ours.said(seconds(2), &guest.replace("\"b\"", "\"a\""))],
    )
    .await;
    assert_eq!(found(&store, &ours, anonymous(&ours, "a")).await, ["-"]);
}
