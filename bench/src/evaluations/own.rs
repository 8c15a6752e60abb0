//! Kurier: a prepared segment over the world's columns.

use std::fmt::Write as _;

use kurier_core::accept::{Reception, accept};
use kurier_core::columns::{Prepared, World};
use kurier_core::expr::{Checked, Place};
use kurier_core::id::{EventId, IdentityKey};
use kurier_core::time::Timestamp;

use super::{Decider, events};
use crate::segments::data::recorded;

const SEGMENT: &str = "COUNT(event WHERE event_type = 'purchase' AND properties.amount > 100) >= 3";
const NOW: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);

pub struct Own {
    world: World,
    prepared: Prepared,
}

impl Own {
    pub fn new(contacts: usize) -> anyhow::Result<Self> {
        let key = IdentityKey::new([7; 32]);
        let mut world = World::new();
        let mut position = 0;
        let mut raw = String::new();
        for contact in 0..contacts {
            for (name, amount) in events(contact) {
                position += 1;
                raw.clear();
                write!(
                    raw,
                    r#"{{"type":"track","userId":"{contact}","event":"{name}","properties":{{"amount":{amount}}}}}"#
                )?;
                let reception = Reception {
                    key: &key,
                    received_at: NOW,
                    sent_at: None,
                    kind: None,
                    fresh_id: &|| EventId::of_message("unseen"),
                };
                let event = accept(&raw, &reception);
                let event = event.map_err(|problems| anyhow::anyhow!("{raw}: {problems:?}"))?;
                world.fold(&recorded(position, event));
            }
        }
        let checked = Checked::new(SEGMENT, Place::SEGMENT)
            .map_err(|errors| anyhow::anyhow!("{SEGMENT}: {errors:?}"))?;
        let prepared = world.prepare(&checked.plan);
        Ok(Self { world, prepared })
    }
}

impl Decider for Own {
    fn name(&self) -> &'static str {
        "kurier"
    }

    fn contacts(&self) -> usize {
        self.world.len()
    }

    fn decide(&mut self, contact: usize) -> bool {
        let number = u32::try_from(contact).unwrap_or(u32::MAX);
        self.world.verdict(&mut self.prepared, number, NOW).holds
    }
}
