//! What the database alone can do: the rows that Kurier would write, inserted by a bare loop
//! in batches of 1,000 into the schema that Kurier made.

pub mod handler;
pub mod postgres;
pub mod queue;
pub mod sqlite;

use kurier_core::accept::{Reception, accept};
use kurier_core::event::{Event, Kind};
use kurier_core::id::{EventId, IdentityKey, WorkspaceId};

use crate::clock::{Random, now};
use crate::event::Template;

pub const BATCH: usize = 1_000;
/// So many events are made at a time, before the clock runs.
const CHUNK: usize = 100 * BATCH;

/// Makes events as ingest does.
struct Maker {
    workspace: WorkspaceId,
    key: IdentityKey,
    template: Template,
    random: Random,
}

impl Maker {
    fn new() -> Self {
        Self {
            workspace: WorkspaceId::new(now(), [7; 10]),
            key: IdentityKey::new([7; 32]),
            template: Template::item(),
            random: Random::new(u64::MAX),
        }
    }

    fn chunk(&mut self) -> Vec<Event> {
        let mut events = Vec::with_capacity(CHUNK);
        for _ in 0..CHUNK {
            self.template.renew(&mut self.random);
            let item = std::str::from_utf8(&self.template.bytes).expect("JSON is UTF-8");
            events.push(accepted(&self.key, item).expect("the item is good"));
        }
        events
    }
}

/// An event as ingest makes it.
fn accepted(key: &IdentityKey, item: &str) -> Option<Event> {
    let received_at = now();
    let reception = Reception {
        key,
        received_at,
        sent_at: None,
        kind: Some(Kind::Track),
        fresh_id: &|| EventId::new(received_at, [0; 10]),
    };
    accept(item, &reception).ok()
}
