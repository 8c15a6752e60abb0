//! How contacts stand: live, merged into another, or erased, with an address that is known again.

use kurier_core::contact::Standing;
use kurier_core::event::{Erasure, Event, Kind, Position};
use kurier_core::id::{AddressKey, EventId};
use kurier_core::projection::{
    CONTACT, Cell, Change, Contacts, ERASURE, Projection as _, Row, Table, contact_of_row,
};
use kurier_store::Store;

use super::place::cases;
use super::read_models::load;
use super::runner::{fold, happen};
use super::space::{Space, seconds};

cases! {
    a_contact_stands_as_it_does,
    an_erased_address_is_known,
}

fn erased(space: &Space, user: &str, email: &str) -> Event {
    let erasure = Erasure {
        contacts: vec![space.user(user)],
        addresses: vec![space.key.address(email)],
        positions: Vec::new(),
        seen: Position(0),
    };
    Event {
        id: EventId::of_message("erase"),
        kind: Kind::ContactErased,
        contact: Some(space.user(user)),
        occurred_at: seconds(9),
        recorded_at: seconds(9),
        payload: serde_json::to_string(&erasure).expect("JSON"),
    }
}

async fn a_contact_stands_as_it_does(store: Store) {
    let space = Space::new(1);
    let raw = r#"{"type":"identify","userId":"u","anonymousId":"a",
                  "traits":{"email":"U@x.de","n":1.5,"deep":{"a":[1,null,"x"]}}}"#;
    let events = vec![
        space.said(seconds(1), raw),
        space.said(seconds(2), r#"{"type":"group","userId":"u","groupId":"g"}"#),
    ];
    happen(&store, &space, events).await;
    let standing = async |scope, id| store.views.contact(scope, id).await.expect("read");
    let Some(Standing::Live(contact)) = standing(space.scope, space.user("u")).await else {
        panic!("u is live");
    };
    let log = store.log.read(Position(0), 10).await.expect("read");
    let folded = Contacts.fold(Vec::new(), &log).expect("no rows");
    let puts = folded.changes.iter().filter_map(Change::as_put);
    let is_u =
        |(table, row): &(&Table, &Row)| *table == &CONTACT && row[1] == space.user("u").into();
    let expected = puts.filter(is_u).find_map(|(_, row)| contact_of_row(row));
    assert_eq!(Some(*contact), expected);
    let merged = Standing::Merged {
        into: space.user("u"),
    };
    assert_eq!(standing(space.scope, space.guest("a")).await, Some(merged));
    assert_eq!(standing(space.scope, space.user("v")).await, None);
    assert_eq!(standing(Space::new(2).scope, space.user("u")).await, None);
    happen(&store, &space, vec![erased(&space, "u", "u@x.de")]).await;
    let gone = Standing::Erased { at: seconds(9) };
    assert_eq!(standing(space.scope, space.user("u")).await, Some(gone));
}

async fn an_erased_address_is_known(store: Store) {
    let (space, other) = (Space::new(1), Space::new(2));
    happen(&store, &space, vec![erased(&space, "u", "u@x.de")]).await;
    let erased_at = async |space: &Space, address: AddressKey| {
        let found = store.views.erased_at(space.scope, address).await;
        found.expect("read")
    };
    let address = space.key.address("u@x.de");
    assert_eq!(erased_at(&space, address).await, Some(seconds(9)));
    assert_eq!(erased_at(&other, address).await, None);
    assert_eq!(erased_at(&space, space.key.address("v@x.de")).await, None);
    let key = vec![space.scope.0.into(), Cell::Id(address.as_uuid())];
    assert_eq!(load(&store, &ERASURE, vec![key]).await.len(), 1);
    // Coming back, the address is recognised.
    let back = space.said(
        seconds(10),
        r#"{"type":"identify","userId":"w","traits":{"email":"u@x.de"}}"#,
    );
    let appended = store.log.append(space.scope, vec![back]).await;
    appended.expect("appended");
    let events = store.log.read(Position(1), 1).await.expect("read");
    let folded = fold(&store, &events).await;
    assert!(format!("{folded:?}").contains(&seconds(9).as_micros().to_string()));
}
