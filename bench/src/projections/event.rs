//! The events that all sides fold.

use kurier_core::event::{Event, Kind};
use kurier_core::id::{EventId, IdentityKey, WorkspaceId};
use kurier_store::{Scope, Store};

use crate::clock::now;

const TYPES: [&str; 5] = ["page_view", "purchase", "signup", "cart_add", "email_open"];
const BATCH: usize = 2_000;

pub fn workspace() -> WorkspaceId {
    WorkspaceId::from_bytes([7; 16])
}

/// Twenty events of a contact, then twenty of another, as they are read back in order.
pub async fn fill(store: &Store, count: usize, contacts: usize) -> anyhow::Result<()> {
    store.log.maintain(now()).await?;
    let key = IdentityKey::new([7; 32]);
    let numbers: Vec<usize> = (0..count).collect();
    for batch in numbers.chunks(BATCH) {
        let events = batch.iter().map(|n| event(&key, *n, contacts));
        let scope = Scope(workspace());
        store.log.append(scope, events.collect()).await?;
    }
    Ok(())
}

fn event(key: &IdentityKey, n: usize, contacts: usize) -> Event {
    let contact = (n / 20 * 7) % contacts;
    let (name, amount) = (TYPES[n % TYPES.len()], n % 500);
    let (sku, page) = (n % 100_000, n % 5_000);
    Event {
        id: EventId::of_message(&n.to_string()),
        kind: Kind::Track,
        contact: Some(key.contact_of_user(&contact.to_string())),
        occurred_at: now(),
        recorded_at: now(),
        payload: format!(
            r#"{{"event":"{name}","properties":{{"order":{n},"amount":{amount},"currency":"EUR","sku":"SKU-{sku}","source":"web","campaign":"autumn-2026","page":"/shop/item/{page}"}}}}"#
        ),
    }
}
