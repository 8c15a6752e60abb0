//! Kurier's side of the comparison: the world, folded from events as the reactor does it.
//! It speaks the same lines as the other sides (bench/peers/segments/side.py).

use std::io::BufRead as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use kurier_core::columns::World;
use kurier_core::event::{Event, Recorded};
use kurier_core::expr::{Checked, Place};
use kurier_core::id::IdentityKey;
use kurier_core::time::Timestamp;
use serde::Deserialize;
use serde_json::json;

use super::QUERIES;
use super::data::{Data, Maker, recorded};

/// So many events are made, and then folded: only the folding is loading.
const BATCH: usize = 10_000;

#[derive(Deserialize)]
struct Asked {
    query: String,
    runs: usize,
}

/// A world that is being loaded.
struct Loading {
    world: World,
    batch: Vec<Recorded>,
    position: i64,
    folding: Duration,
}

impl Loading {
    fn push(&mut self, event: Event) {
        self.position += 1;
        self.batch.push(recorded(self.position, event));
        if self.batch.len() == BATCH {
            self.fold();
        }
    }

    fn fold(&mut self) {
        let began = Instant::now();
        for recorded in &self.batch {
            self.world.fold(recorded);
        }
        self.folding += began.elapsed();
        self.batch.clear();
    }
}

/// The world of a data folder, how long folding it took, and what it weighs.
pub struct Loaded {
    pub world: World,
    pub seconds: f64,
    pub bytes_per_contact: f64,
    pub bytes_per_event: f64,
    /// Which contact of the data a number of the world stands for.
    contacts: Vec<u32>,
}

/// Loads a folder: everything, or of the events only those with two properties.
pub fn load(data: &Data, two_properties: bool) -> anyhow::Result<Loaded> {
    let mut maker = Maker::new(IdentityKey::new([7; 32]));
    let mut loading = Loading {
        world: World::new(),
        batch: Vec::with_capacity(BATCH),
        position: 0,
        folding: Duration::ZERO,
    };
    for line in data.contacts()? {
        loading.push(maker.contact(&line?)?);
    }
    loading.fold();
    let contact_bytes = loading.world.bytes() as f64;
    // An identify is an event as well: those are the contacts', not counted to the events.
    let contact_events = loading.world.events();
    for row in data.rows()? {
        if !two_properties || row.has_two_properties() {
            loading.push(maker.event(&row, data)?);
        }
    }
    loading.fold();
    let world = loading.world;
    let count = world.len();
    let mut contacts = vec![0; count];
    for contact in 0..count as u32 {
        let number = world.number_of(maker.contact_id(contact));
        contacts[number.context("a contact is missing")? as usize] = contact;
    }
    Ok(Loaded {
        seconds: loading.folding.as_secs_f64(),
        bytes_per_contact: contact_bytes / count as f64,
        bytes_per_event: (world.bytes() as f64 - contact_bytes)
            / (world.events() - contact_events) as f64,
        contacts,
        world,
    })
}

impl Loaded {
    /// From the text of an expression to the numbers of all it holds for.
    pub fn find(&self, text: &str, now: Timestamp) -> anyhow::Result<Vec<u32>> {
        let checked = Checked::new(text, Place::SEGMENT)
            .map_err(|errors| anyhow::anyhow!("{text}: {errors:?}"))?;
        let scan = self.world.scan(&checked.plan, now);
        Ok(scan.members.numbers())
    }

    fn digest(&self, found: &[u32]) -> String {
        digest(found.iter().map(|number| self.contacts[*number as usize]))
    }
}

/// Of a set of contacts, in whatever order; the other sides reckon the same.
pub fn digest(contacts: impl Iterator<Item = u32>) -> String {
    let (mut count, mut sum, mut mix) = (0u64, 0u64, 0u64);
    for contact in contacts {
        let mixed = (u64::from(contact) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (count, sum) = (count + 1, sum + u64::from(contact));
        mix = mix.wrapping_add(mixed ^ (mixed >> 29));
    }
    format!("{count}-{sum}-{mix}")
}

/// Loads, says so, and answers requests until there are no more.
pub fn serve(folder: &Path, two_properties: bool) -> anyhow::Result<()> {
    let data = Data::open(folder)?;
    let loaded = load(&data, two_properties)?;
    let forms: serde_json::Map<_, _> = QUERIES
        .iter()
        .map(|(name, _)| ((*name).to_owned(), json!(1)))
        .collect();
    let facts = json!({
        "seconds": loaded.seconds,
        "version": env!("CARGO_PKG_VERSION"),
        "bytes_per_contact": loaded.bytes_per_contact,
        "bytes_per_event": loaded.bytes_per_event,
    });
    println!("{}", json!({"loaded": facts, "forms": forms}));
    for line in std::io::stdin().lock().lines() {
        println!("{}", answer(&line?, &loaded, data.now())?);
    }
    Ok(())
}

fn answer(line: &str, loaded: &Loaded, now: Timestamp) -> anyhow::Result<serde_json::Value> {
    let asked: Asked = serde_json::from_str(line)?;
    let query = QUERIES.iter().find(|(name, _)| *name == asked.query);
    let (_, text) = query.context("no such query")?;
    let mut spent = Vec::new();
    let mut found = Vec::new();
    for _ in 0..asked.runs {
        let began = Instant::now();
        found = loaded.find(text, now)?;
        spent.push(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok(json!({"ms": spent, "digest": loaded.digest(&found)}))
}

#[cfg(test)]
mod tests {
    use super::digest;

    #[test]
    fn a_digest_tells_sets_apart_and_not_orders() {
        assert_eq!(digest([1, 2, 9].into_iter()), digest([9, 1, 2].into_iter()));
        assert_ne!(digest([1, 2, 9].into_iter()), digest([1, 3, 8].into_iter()));
        assert_eq!(digest([0].into_iter()), "1-0-11400714836765684190");
    }
}
