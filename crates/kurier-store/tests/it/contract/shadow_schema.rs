//! After a swap the tables look as the migrations made them, however often it is done: the
//! next migration finds what it expects.

use kurier_core::event::Position;
use kurier_core::projection;
use kurier_store::{Postgres, Sqlite, Store, Swap, Swapped};

use super::place::{Place, cases};

cases! { place: a_swapped_table_looks_as_it_was_made }

/// The schema as text. SQLite writes a name in quotes once a table was renamed.
async fn schema(place: &Place) -> String {
    let schema = match place {
        Place::Sqlite(path) => Sqlite::open(path).expect("opened").schema().await,
        Place::Postgres(url) => Postgres::open(url).await.expect("opened").schema().await,
    };
    schema.expect("read").replace('"', "")
}

async fn a_swapped_table_looks_as_it_was_made(place: Place) {
    let before = schema(&place).await;
    let store: Store = place.open().await;
    for round in 0..2 {
        for projection in projection::ALL {
            let opened = store.projections.open_shadow(*projection).await;
            opened.expect("opened");
            let swap = Swap {
                projection: *projection,
                at: Position(round),
                set_aside: Vec::new(),
            };
            let swapped = store.projections.swap(swap).await;
            assert_eq!(swapped.expect("swapped"), Swapped::Done);
        }
    }
    drop(store);
    assert_eq!(schema(&place).await, before);
}
