//! Contacts and events with every kind of value in every place, for both sides: as events that
//! fold into a world, and as plain JSON that DuckDB reads by itself.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use kurier_core::accept::{Reception, accept};
use kurier_core::columns::World;
use kurier_core::id::{EventId, IdentityKey};
use kurier_core::time::Timestamp;
use serde_json::{Map, Value, json};

use crate::clock::Random;
use crate::segments::data::recorded;

/// 2026-06-15T12:00:00Z
pub const NOW: Timestamp = Timestamp::from_micros(1_781_524_800_000_000);
const HALF_DAY: i64 = 43_200_000_000;
pub const EVENT_TYPES: [&str; 3] = ["view", "buy", "return"];
/// What is under each name: mostly of one kind, as in life. `o` is an object with an `x`.
pub const NAMES: [&str; 8] = ["n", "h", "t", "w", "b", "l", "m", "o"];
/// What expressions may speak of.
pub const PATHS: [&str; 8] = ["n", "h", "t", "w", "b", "l", "m", "o.x"];

/// The world of these facts, and the same facts in a folder.
pub fn make(contacts: usize, events: usize, seed: u64, folder: &Path) -> anyhow::Result<World> {
    let mut making = Making {
        random: Random::seeded(seed),
        key: IdentityKey::new([9; 32]),
        world: World::new(),
        position: 0,
    };
    let paths = json!({"contact": PATHS, "event": PATHS});
    std::fs::write(folder.join("paths.json"), paths.to_string())?;
    let mut file = BufWriter::new(File::create(folder.join("events.ndjson"))?);
    let mut of_contacts = BufWriter::new(File::create(folder.join("contacts.ndjson"))?);
    for number in 0..contacts {
        let (contact, event) = making.contact(number)?;
        writeln!(of_contacts, "{contact}")?;
        writeln!(file, "{event}")?;
    }
    of_contacts.flush()?;
    for _ in 0..events {
        // Some contacts do much, some nothing.
        let reach = 1 + making.random.below(contacts);
        let number = making.random.below(reach);
        writeln!(file, "{}", making.event(number)?)?;
    }
    file.flush()?;
    Ok(making.world)
}

struct Making {
    random: Random,
    key: IdentityKey,
    world: World,
    position: i64,
}

/// Every third contact has no user id.
fn is_guest(number: usize) -> bool {
    number % 3 == 2
}

fn name_of(number: usize) -> (&'static str, String) {
    if is_guest(number) {
        ("anonymousId", format!("g-{number}"))
    } else {
        ("userId", format!("u-{number}"))
    }
}

impl Making {
    /// A contact, created when we heard of it first; that was an event as well.
    fn contact(&mut self, number: usize) -> anyhow::Result<(Value, Value)> {
        let at = self.moment();
        let attributes = self.object();
        let (field, name) = name_of(number);
        let raw = json!({"type": "identify", field: name, "timestamp": at.to_string(), "traits": attributes});
        self.fold(&raw, at)?;
        let id = if is_guest(number) {
            self.key.contact_of_anonymous(&name)
        } else {
            self.key.contact_of_user(&name)
        };
        anyhow::ensure!(
            self.world.number(id) == u32::try_from(number).ok(),
            "numbered otherwise"
        );
        let contact = json!({
            "number": number,
            "id": id.to_string(),
            "user_id": (!is_guest(number)).then_some(&name),
            "created_at": at.as_micros(),
            "attributes": attributes,
        });
        Ok((contact, self.row(number, "identify", at, &Map::new())))
    }

    fn event(&mut self, number: usize) -> anyhow::Result<Value> {
        let at = self.moment();
        let properties = self.object();
        let (field, name) = name_of(number);
        let event_type = self.random.pick(&EVENT_TYPES);
        let raw = json!({"type": "track", "event": event_type, field: name,
            "timestamp": at.to_string(), "properties": properties});
        self.fold(&raw, NOW)?;
        Ok(self.row(number, event_type, at, &properties))
    }

    fn row(
        &self,
        contact: usize,
        name: &str,
        at: Timestamp,
        properties: &Map<String, Value>,
    ) -> Value {
        json!({
            "position": self.position,
            "contact": contact,
            "event_type": name,
            "event_time": at.as_micros(),
            "properties": properties,
        })
    }

    fn fold(&mut self, raw: &Value, received_at: Timestamp) -> anyhow::Result<()> {
        self.position += 1;
        let id = EventId::of_message(&self.position.to_string());
        let reception = Reception {
            key: &self.key,
            received_at,
            sent_at: None,
            kind: None,
            fresh_id: &|| id,
        };
        let event = accept(&raw.to_string(), &reception)
            .map_err(|problems| anyhow::anyhow!("{raw}: {problems:?}"))?;
        self.world.fold(&recorded(self.position, event));
        Ok(())
    }

    /// Within twenty days before now, mostly on a half day; never later, since what is to come
    /// is set to now on the way in.
    fn moment(&mut self) -> Timestamp {
        let halves = 1 + self.random.below(40) as i64;
        let odd = if self.random.below(5) == 0 {
            self.random.below(3) as i64
        } else {
            0
        };
        NOW.shifted(-halves * HALF_DAY + odd)
    }

    fn object(&mut self) -> Map<String, Value> {
        let mut object = Map::new();
        for name in NAMES {
            match self.random.below(8) {
                0 => {}
                1 => drop(object.insert(name.to_owned(), Value::Null)),
                _ => drop(object.insert(name.to_owned(), self.value(name))),
            }
        }
        object
    }

    fn value(&mut self, name: &str) -> Value {
        // Now and then something of another kind.
        if self.random.below(12) == 0 {
            return self.anything();
        }
        match name {
            "n" => json!((self.random.below(160) as f64 - 80.0) / 4.0),
            "h" => self.huge(),
            "t" => json!(self.word()),
            "w" => json!(self.written_time()),
            "b" => json!(self.random.below(2) == 0),
            "l" => self.list(),
            "o" => json!({"x": self.anything()}),
            _ => self.anything(),
        }
    }

    /// Sums of these overflow, and infinities meet: what comes of it is not a number.
    fn huge(&mut self) -> Value {
        let all = [
            1e308,
            -1e308,
            1.0e308,
            -1.5e308,
            0.1,
            0.2,
            -0.0,
            9_007_199_254_740_993.0,
        ];
        json!(all[self.random.below(all.len())])
    }

    fn word(&mut self) -> &'static str {
        self.random.pick(&[
            "", "a", "b", "ab", "ba", "abc", "B", "ä日", "😀a", "it's", "1", "true",
        ])
    }

    /// The same instants in different writing.
    fn written_time(&mut self) -> String {
        let at = self.moment();
        match self.random.below(3) {
            0 => at
                .shifted(2 * 3_600_000_000)
                .to_string()
                .replace('Z', "+02:00"),
            1 => "soon".to_owned(),
            _ => at.to_string(),
        }
    }

    fn list(&mut self) -> Value {
        let count = self.random.below(4);
        Value::Array((0..count).map(|_| self.scalar()).collect())
    }

    fn scalar(&mut self) -> Value {
        match self.random.below(6) {
            0 => json!(self.random.below(8) as i64 - 4),
            1 => json!((self.random.below(20) as f64 - 10.0) / 4.0),
            2 => json!(self.random.below(2) == 0),
            3 => Value::Null,
            4 => json!(self.written_time()),
            _ => json!(self.word()),
        }
    }

    fn anything(&mut self) -> Value {
        match self.random.below(8) {
            0 => self.list(),
            1 => json!({"x": self.scalar()}),
            _ => self.scalar(),
        }
    }
}
