//! A small world with values of every kind, as columns and as plain facts.

use std::sync::LazyLock;

use kurier_core::accept::{Reception, accept};
use kurier_core::columns::World;
use kurier_core::event::{Position, Recorded};
use kurier_core::expr::{EventFact, Facts};
use kurier_core::id::{ContactId, EventId, IdentityKey, WorkspaceId};
use kurier_core::time::Timestamp;
use kurier_core::value::Object;

/// 2026-06-15T12:00:00Z
pub const NOW: Timestamp = Timestamp::from_micros(1_781_524_800_000_000);
const HOUR_MICROS: i64 = 3_600_000_000;

/// Attributes of the contacts, and properties of their events, in turn.
const VALUES: &[&str] = &[
    r#"{"a": 1, "b": "x", "c": true}"#,
    r#"{"a": -2.5, "b": "ab", "c": [1, "a", null, false]}"#,
    r#"{"a": "2026-06-10T12:00:00Z", "b": "ä日😀", "c": {"a": 1, "b": "x"}}"#,
    r#"{"a": 9007199254740993, "b": "", "c": "2026-06-20"}"#,
    r#"{"a": 1e300, "b": "it's", "c": null}"#,
    r#"{"a": {"b": {"c": 3}}, "first name": "Ann", "a.b": 7}"#,
    r#"{"a": 0, "b": "b"}"#,
    r#"{}"#,
];
const TYPES: &[&str] = &["a", "b", "purchase", "page view"];

pub struct Ground {
    pub world: World,
    /// Contacts by their number in the world.
    pub contacts: Vec<(u32, Facts)>,
}

pub static GROUND: LazyLock<Ground> = LazyLock::new(|| {
    let mut maker = Maker::default();
    let contacts: Vec<_> = (0..24).map(|n| maker.contact(n)).collect();
    let numbered = |(id, facts)| (maker.world.number(id).expect("live"), facts);
    Ground {
        contacts: contacts.into_iter().map(numbered).collect(),
        world: maker.world,
    }
});

struct Maker {
    world: World,
    key: IdentityKey,
    position: i64,
}

impl Default for Maker {
    fn default() -> Self {
        Self {
            world: World::new(),
            key: IdentityKey::new([1; 32]),
            position: 0,
        }
    }
}

impl Maker {
    fn contact(&mut self, n: usize) -> (ContactId, Facts) {
        let user_id = format!("user{n}");
        let id = self.key.contact_of_user(&user_id);
        let traits = VALUES[n % VALUES.len()];
        let created_at = NOW.shifted(-(n as i64) * 48 * HOUR_MICROS);
        let identify = format!(r#"{{"type":"identify","userId":"{user_id}","traits":{traits}}}"#);
        self.say(&identify, created_at);
        let mut events = vec![EventFact {
            event_type: "identify".into(),
            event_time: created_at,
            properties: Object::new(),
        }];
        events.extend((0..n % 5).map(|m| self.event(&user_id, n + m, created_at)));
        let facts = Facts {
            id: Some(id.to_string()),
            user_id: Some(user_id),
            created_at: Some(created_at),
            attributes: object(traits),
            events,
            ..Facts::default()
        };
        (id, facts)
    }

    fn event(&mut self, user_id: &str, n: usize, after: Timestamp) -> EventFact {
        let event_time = after.shifted(n as i64 * 7 * HOUR_MICROS);
        let event_type = TYPES[n % TYPES.len()];
        let properties = VALUES[(n * 3) % VALUES.len()];
        let track = format!(
            r#"{{"type":"track","userId":"{user_id}","event":"{event_type}","properties":{properties}}}"#
        );
        self.say(&track, event_time);
        EventFact {
            event_type: event_type.into(),
            event_time,
            properties: object(properties),
        }
    }

    fn say(&mut self, raw: &str, at: Timestamp) {
        self.position += 1;
        let name = self.position.to_string();
        let reception = Reception {
            key: &self.key,
            received_at: at,
            sent_at: None,
            kind: None,
            fresh_id: &|| EventId::of_message(&name),
        };
        let event = accept(raw, &reception).unwrap_or_else(|faults| panic!("{raw}: {faults:?}"));
        self.world.fold(&Recorded {
            position: Position(self.position),
            workspace: WorkspaceId::from_bytes([1; 16]),
            event: event.into(),
        });
    }
}

fn object(json: &str) -> Object {
    serde_json::from_str(json).expect("a JSON object")
}
