//! Journeys and their instances written down and read again. Definitions are written as they
//! were published, and read as they were then; instances as columns, of which a million are
//! written in a moment.

use std::io::{self, Read, Write};

use super::super::{Instance, NodeIndex};
use super::merge::Merge;
use super::parked::Parked;
use super::shelf::{RunKey, Slot};
use super::{Journeys, live::Standing};
use crate::columns::{Sink, SnapshotError, Source};
use crate::event::Position;
use crate::expr::FOREVER;
use crate::id::{EventId, InstanceId, MessageId};
use crate::message::channel::ChannelKind;
use crate::time::Timestamp;

/// Stands for what is not there.
const NONE: u32 = u32::MAX;

impl Journeys {
    /// Writes down what is known, which is every decision that stands up to `known`.
    pub fn write(&self, known: Position, out: &mut impl Write) -> io::Result<()> {
        let mut sink = Sink::new(out);
        let known = self.known_up_to(known);
        sink.values(&[self.now.as_micros(), self.position.0, known.0])?;
        sink.number(self.publications.len())?;
        for publication in &self.publications {
            sink.text(publication)?;
        }
        sink.number(self.templates.all().len())?;
        for (name, brief) in self.templates.all() {
            sink.text(name)?;
            sink.text(&serde_json::to_string(brief)?)?;
        }
        sink.number(self.channels.all().len())?;
        for (name, kind) in self.channels.all() {
            sink.text(name)?;
            sink.text(kind.as_str())?;
        }
        self.lives.write(&mut sink)?;
        let mut names: Vec<_> = self.names.iter().collect();
        names.sort_unstable_by_key(|(_, number)| **number);
        sink.number(names.len())?;
        for (name, _) in names {
            sink.text(name)?;
        }
        self.write_instances(&mut sink)?;
        self.write_parked(&mut sink)?;
        sink.finish()
    }

    pub fn read(from: &mut impl Read) -> Result<Self, SnapshotError> {
        let mut source = Source::new(from);
        let mut journeys = Self::default();
        let times: Vec<i64> = source.values()?;
        let [now, position, known] = times[..] else {
            return Err(SnapshotError::Damaged);
        };
        journeys.now = Timestamp::from_micros(now);
        (journeys.position, journeys.known) = (Position(position), Position(known));
        for _ in 0..source.number()? {
            journeys.publish(&source.text()?);
        }
        for _ in 0..source.number()? {
            let (name, brief) = (source.text()?, source.text()?);
            let brief = serde_json::from_str(&brief).map_err(|_| SnapshotError::Damaged)?;
            journeys.templates.learn(name, brief);
        }
        for _ in 0..source.number()? {
            let (name, kind) = (source.text()?, source.text()?);
            let kind = ChannelKind::of(&kind).ok_or(SnapshotError::Damaged)?;
            journeys.channels.learn(name, kind);
        }
        let standings = Standing::read_all(&mut source)?;
        for _ in 0..source.number()? {
            journeys.name(&source.text()?);
        }
        journeys.read_instances(&mut source)?;
        journeys.read_parked(&mut source)?;
        source.finish()?;
        // Last: reading instances makes parked triggers ready that were not.
        journeys.lives.restore(standings)?;
        Ok(journeys)
    }

    fn write_instances(&self, sink: &mut Sink<'_>) -> io::Result<()> {
        let all: Vec<(u32, &Slot)> = self.shelf.slots().collect();
        let of = |field: fn(&Instance) -> i64| -> Vec<i64> {
            all.iter().map(|(_, slot)| field(&slot.instance)).collect()
        };
        let id = |field: fn(&Instance) -> uuid::Uuid| -> Vec<[u8; 16]> {
            let ids = all.iter().map(|(_, slot)| field(&slot.instance));
            ids.map(uuid::Uuid::into_bytes).collect()
        };
        sink.values(&id(|i| i.id.as_uuid()))?;
        sink.values(&id(|i| i.trigger.as_uuid()))?;
        let message = |i: &Instance| i.last_message.map_or(uuid::Uuid::nil(), |m| m.0.as_uuid());
        sink.values(&id(message))?;
        for time in [
            of(|i| i.entered_at.as_micros()),
            of(|i| i.arrived_at.as_micros()),
            of(|i| i.due.as_micros()),
            of(|i| i.since.0),
        ] {
            sink.values(&time)?;
        }
        let numbers = all.iter().flat_map(|(at, slot)| {
            let i = &slot.instance;
            let node = i.last_message.map_or(NONE, |(_, node)| node.0);
            let holds = self.shelf.holder(slot.run()) == Some(*at);
            let flags = u32::from(i.is_held) | (u32::from(holds) << 1);
            [
                i.contact,
                i.version,
                i.node.0,
                i.seq,
                i.steps,
                node,
                slot.awaits(),
                flags,
            ]
        });
        sink.values(&numbers.collect::<Vec<u32>>())?;
        write_texts(
            sink,
            all.iter()
                .map(|(_, slot)| slot.instance.key.as_deref().map(str::to_owned)),
        )?;
        write_texts(
            sink,
            all.iter()
                .map(|(_, slot)| slot.instance.state.as_ref().map(json)),
        )
    }

    fn read_instances(&mut self, source: &mut Source<'_>) -> Result<(), SnapshotError> {
        let columns = Columns::read(source)?;
        for row in 0..columns.ids.len() {
            let (instance, awaits, holds) = columns.instance(row)?;
            let version = instance.version as usize;
            if version >= self.versions.len() {
                return Err(SnapshotError::Damaged);
            }
            let journey = self.lives.of_version(instance.version);
            let due = instance.due;
            let run = RunKey::new(journey, instance.contact, instance.key.as_deref());
            let slot = self.shelf.insert(instance, journey);
            if holds {
                self.shelf.claim(run, slot);
            }
            self.shelf
                .await_event(slot, (awaits != NONE).then_some(awaits));
            self.arm(slot, FOREVER, due);
        }
        Ok(())
    }

    fn write_parked(&self, sink: &mut Sink<'_>) -> io::Result<()> {
        sink.number(self.parked.len())?;
        for (run, parked) in &self.parked {
            run.write(sink)?;
            sink.one(parked.trigger.as_uuid().into_bytes())?;
            write_texts(sink, [parked.key.as_deref().map(str::to_owned)].into_iter())?;
            sink.text(&json(&parked.state))?;
        }
        sink.number(self.merges.len())?;
        self.merges.iter().try_for_each(|merge| merge.write(sink))
    }

    fn read_parked(&mut self, source: &mut Source<'_>) -> Result<(), SnapshotError> {
        for _ in 0..source.number()? {
            let run = RunKey::read(source)?;
            let trigger = EventId::from_bytes(source.one()?);
            let key = read_texts(source, 1)?.pop().flatten();
            let state = parse(&source.text()?)?;
            let key = key.map(Into::into);
            self.parked.insert(
                run,
                Parked {
                    trigger,
                    key,
                    state,
                },
            );
        }
        for _ in 0..source.number()? {
            self.merges.push_back(Merge::read(source)?);
        }
        Ok(())
    }
}

/// Instances, field by field.
struct Columns {
    ids: Vec<[u8; 16]>,
    triggers: Vec<[u8; 16]>,
    messages: Vec<[u8; 16]>,
    times: [Vec<i64>; 4],
    numbers: Vec<u32>,
    keys: Vec<Option<String>>,
    states: Vec<Option<String>>,
}

impl Columns {
    fn read(source: &mut Source<'_>) -> Result<Self, SnapshotError> {
        let ids: Vec<[u8; 16]> = source.values()?;
        let count = ids.len();
        let columns = Self {
            ids,
            triggers: source.values()?,
            messages: source.values()?,
            times: [
                source.values()?,
                source.values()?,
                source.values()?,
                source.values()?,
            ],
            numbers: source.values()?,
            keys: read_texts(source, count)?,
            states: read_texts(source, count)?,
        };
        let is_even = columns.triggers.len() == count
            && columns.messages.len() == count
            && columns.times.iter().all(|column| column.len() == count)
            && columns.numbers.len() == count * 8;
        is_even.then_some(columns).ok_or(SnapshotError::Damaged)
    }

    /// An instance, what it waits for, and whether it holds its run's key.
    fn instance(&self, row: usize) -> Result<(Instance, u32, bool), SnapshotError> {
        let [
            contact,
            version,
            node,
            seq,
            steps,
            message_node,
            awaits,
            flags,
        ] = self.numbers[row * 8..row * 8 + 8]
        else {
            return Err(SnapshotError::Damaged);
        };
        let [entered_at, arrived_at, due, since] = &self.times;
        let state = self.states[row].as_deref().map(parse).transpose()?;
        let message = MessageId::from_bytes(self.messages[row]);
        let instance = Instance {
            id: InstanceId::from_bytes(self.ids[row]),
            trigger: EventId::from_bytes(self.triggers[row]),
            last_message: (message_node != NONE).then_some((message, NodeIndex(message_node))),
            key: self.keys[row].as_deref().map(Into::into),
            state: state.map(Box::new),
            entered_at: Timestamp::from_micros(entered_at[row]),
            arrived_at: Timestamp::from_micros(arrived_at[row]),
            due: Timestamp::from_micros(due[row]),
            since: Position(since[row]),
            contact,
            version,
            node: NodeIndex(node),
            seq,
            steps,
            is_held: flags & 1 != 0,
        };
        Ok((instance, awaits, flags & 2 != 0))
    }
}

impl RunKey {
    pub(super) fn write(self, sink: &mut Sink<'_>) -> io::Result<()> {
        sink.values(&[self.contact, self.journey])?;
        sink.one(self.key)
    }

    pub(super) fn read(source: &mut Source<'_>) -> Result<Self, SnapshotError> {
        let numbers: Vec<u32> = source.values()?;
        let [contact, journey] = numbers[..] else {
            return Err(SnapshotError::Damaged);
        };
        Ok(Self {
            contact,
            journey,
            key: source.one()?,
        })
    }
}

impl Merge {
    fn write(&self, sink: &mut Sink<'_>) -> io::Result<()> {
        sink.one(self.position.0)?;
        sink.values(&[self.from, self.to.unwrap_or(NONE)])
    }

    fn read(source: &mut Source<'_>) -> Result<Self, SnapshotError> {
        let position = Position(source.one()?);
        let numbers: Vec<u32> = source.values()?;
        let [from, to] = numbers[..] else {
            return Err(SnapshotError::Damaged);
        };
        Ok(Self {
            position,
            from,
            to: (to != NONE).then_some(to),
        })
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("state serialises")
}

fn parse<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, SnapshotError> {
    serde_json::from_str(text).map_err(|_| SnapshotError::Damaged)
}

/// Texts that may be missing: their lengths, then all of them in one.
fn write_texts(sink: &mut Sink<'_>, texts: impl Iterator<Item = Option<String>>) -> io::Result<()> {
    let (mut lengths, mut all) = (Vec::new(), String::new());
    for text in texts {
        lengths.push(text.as_ref().map_or(NONE, |text| text.len() as u32));
        all.push_str(&text.unwrap_or_default());
    }
    sink.values(&lengths)?;
    sink.text(&all)
}

fn read_texts(source: &mut Source<'_>, count: usize) -> Result<Vec<Option<String>>, SnapshotError> {
    let lengths: Vec<u32> = source.values()?;
    let all = source.text()?;
    let (mut texts, mut at) = (Vec::with_capacity(count), 0);
    for length in lengths {
        if length == NONE {
            texts.push(None);
            continue;
        }
        let end = at + length as usize;
        texts.push(Some(
            all.get(at..end).ok_or(SnapshotError::Damaged)?.to_owned(),
        ));
        at = end;
    }
    let is_whole = at == all.len() && texts.len() == count;
    is_whole.then_some(texts).ok_or(SnapshotError::Damaged)
}
