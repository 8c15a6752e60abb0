//! The events of one type in one block of contacts. Most rows are sealed: ordered by contact,
//! so that one contact's history is a slice. The newest stand behind them as they came.

use std::io;
use std::ops::Range;

use super::cell::Cell;
use super::column::{Column, push, reordered};
use super::snapshot::{PathCodes, Sink, SnapshotError, Source};
use super::times::Times;

/// The tail is sealed when it is longer than a share of the rows, within these bounds: long
/// enough that sealing costs little per event, short enough to look through for one contact.
const TAIL_MIN: usize = if cfg!(test) { 5 } else { 64 };
const TAIL_MAX: usize = 512;
const TAIL_SHARE: usize = 16;

/// Every so many slots (a power of two) it is noted where their sealed rows begin.
const MARK_BITS: u32 = if cfg!(test) { 1 } else { 4 };

/// So many rows are looked at one by one.
const NEAR_MAX: usize = if cfg!(test) { 4 } else { 256 };

#[derive(Debug, Clone, Default)]
pub struct EventSet {
    /// So many rows, from the first, are ordered by slot, and by arrival within a slot. A
    /// slot's rows in the tail come after its sealed ones, in order of arrival too.
    sealed: usize,
    /// The first sealed row of each group of slots.
    marks: Vec<u32>,
    /// Which contact of the block.
    slots: Vec<u16>,
    /// The order of arrival, across all types.
    arrivals: Vec<u32>,
    times: Times,
    /// By property number.
    properties: Vec<Option<Column>>,
}

/// An event on its own, while it is moved from one contact to another.
#[derive(Debug, Clone)]
pub struct EventRow {
    pub arrival: u32,
    pub time: i64,
    pub properties: Vec<(u32, Cell)>,
}

impl EventSet {
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn slots(&self) -> &[u16] {
        &self.slots
    }

    pub fn arrival(&self, row: usize) -> u32 {
        self.arrivals[row]
    }

    pub const fn times(&self) -> &Times {
        &self.times
    }

    pub fn property(&self, property: u32) -> Option<&Column> {
        self.properties.get(property as usize)?.as_ref()
    }

    pub fn push(&mut self, slot: u16, event: &EventRow) {
        let row = self.len();
        push(&mut self.slots, slot);
        push(&mut self.arrivals, event.arrival);
        self.times.push(event.time);
        self.set_properties(row, &event.properties);
        let tail_max = (row / TAIL_SHARE).clamp(TAIL_MIN, TAIL_MAX);
        if row - self.sealed >= tail_max {
            self.seal();
        }
    }

    fn set_properties(&mut self, row: usize, properties: &[(u32, Cell)]) {
        for (property, cell) in properties {
            let property = *property as usize;
            if self.properties.len() <= property {
                self.properties.resize_with(property + 1, || None);
            }
            self.properties[property]
                .get_or_insert_with(|| Column::for_cell(*cell))
                .set(row, *cell);
        }
    }

    /// The sealed rows of a contact.
    pub fn sealed_rows(&self, slot: u16) -> Range<usize> {
        let mark = usize::from(slot) >> MARK_BITS;
        let mark_at = |mark: usize| {
            self.marks
                .get(mark)
                .map_or(self.sealed, |row| *row as usize)
        };
        let (first, last) = (mark_at(mark), mark_at(mark + 1));
        let near = &self.slots[first..last];
        // As a rule they are few: to count all of them is quicker than to search among them.
        let (before, own) = if near.len() <= NEAR_MAX {
            let count = |(before, own): (u16, u16), s: &u16| {
                (before + u16::from(*s < slot), own + u16::from(*s == slot))
            };
            let (before, own) = near.iter().fold((0, 0), count);
            (usize::from(before), usize::from(own))
        } else {
            let before = near.partition_point(|s| *s < slot);
            (before, near[before..].partition_point(|s| *s == slot))
        };
        first + before..first + before + own
    }

    /// The rows of a contact in the tail.
    pub fn tail_rows(&self, slot: u16) -> impl Iterator<Item = usize> + '_ {
        let tail = self.slots[self.sealed..].chunks(64).enumerate();
        // Most chunks have none, and that is seen at once.
        let met = tail.filter(move |(_, chunk)| {
            chunk.iter().fold(0, |any, s| any | u16::from(*s == slot)) != 0
        });
        met.flat_map(move |(at, chunk)| {
            let rows = chunk.iter().enumerate();
            let own = rows.filter(move |(_, s)| **s == slot);
            own.map(move |(row, _)| self.sealed + at * 64 + row)
        })
    }

    /// A contact's rows, in order of arrival.
    pub fn rows(&self, slot: u16) -> impl Iterator<Item = usize> + '_ {
        self.sealed_rows(slot).chain(self.tail_rows(slot))
    }

    /// Orders the tail in among the sealed rows.
    pub fn seal(&mut self) {
        if self.sealed == self.len() {
            return;
        }
        let order = self.sealed_order();
        let more = (order.len() / TAIL_SHARE).clamp(TAIL_MIN, TAIL_MAX) + 1;
        self.slots = reordered(&self.slots, &order, more);
        self.arrivals = reordered(&self.arrivals, &order, more);
        self.times.reorder(&order, more);
        for column in self.properties.iter_mut().flatten() {
            column.reorder(&order, more);
        }
        self.sealed = self.len();
        self.mark();
    }

    fn mark(&mut self) {
        let sealed = &self.slots[..self.sealed];
        let groups = sealed.last().map_or(0, |slot| (slot >> MARK_BITS) + 1);
        let begin = |group| sealed.partition_point(|slot| slot >> MARK_BITS < group) as u32;
        self.marks = (0..groups).map(begin).collect();
    }

    fn sealed_order(&self) -> Vec<u32> {
        let slot = |row: u32| self.slots[row as usize];
        let mut tail: Vec<u32> = (self.sealed as u32..self.len() as u32).collect();
        tail.sort_by_key(|row| slot(*row));
        let mut order = Vec::with_capacity(self.len());
        let mut next = 0;
        for row in tail {
            let ahead = &self.slots[next..self.sealed];
            let until = next + ahead.partition_point(|s| *s <= slot(row));
            order.extend(next as u32..until as u32);
            order.push(row);
            next = until;
        }
        order.extend(next as u32..self.sealed as u32);
        order
    }

    /// Takes a contact's events out, in order of arrival.
    pub fn take(&mut self, slot: u16) -> Vec<EventRow> {
        let (sealed, tail) = (self.sealed_rows(slot), self.tail_rows(slot));
        let tail: Vec<usize> = tail.collect();
        let rows = sealed.clone().chain(tail.iter().copied());
        let taken = rows.map(|row| self.row(row)).collect();
        for row in tail.into_iter().rev() {
            self.remove(row..row + 1);
        }
        self.sealed -= sealed.len();
        self.remove(sealed);
        self.mark();
        taken
    }

    fn row(&self, row: usize) -> EventRow {
        let columns = self.properties.iter().enumerate();
        let properties = columns.filter_map(|(property, column)| {
            let cell = column.as_ref()?.get(row);
            (!cell.is_missing()).then_some((property as u32, cell))
        });
        EventRow {
            arrival: self.arrivals[row],
            time: self.times.get(row),
            properties: properties.collect(),
        }
    }

    fn remove(&mut self, rows: Range<usize>) {
        if rows.is_empty() {
            return;
        }
        self.slots.drain(rows.clone());
        self.arrivals.drain(rows.clone());
        self.times.remove(rows.clone());
        for column in self.properties.iter_mut().flatten() {
            column.remove(rows.clone());
        }
    }

    /// Puts the events of a contact in, which has none here now.
    pub fn put(&mut self, slot: u16, events: &[EventRow]) {
        let at = self.slots[..self.sealed].partition_point(|s| *s < slot);
        let count = events.len();
        self.slots.splice(at..at, events.iter().map(|_| slot));
        self.arrivals
            .splice(at..at, events.iter().map(|event| event.arrival));
        let times: Vec<i64> = events.iter().map(|event| event.time).collect();
        self.times.insert(at, &times);
        for column in self.properties.iter_mut().flatten() {
            column.open_gap(at, count);
        }
        self.sealed += count;
        self.mark();
        for (row, event) in events.iter().enumerate() {
            self.set_properties(at + row, &event.properties);
        }
    }

    /// `paths` are those of the properties.
    pub fn write(&self, paths: &PathCodes, sink: &mut Sink<'_>) -> io::Result<()> {
        sink.number(self.sealed)?;
        sink.values(&self.slots)?;
        sink.values(&self.arrivals)?;
        self.times.write(sink)?;
        super::block::write_columns(&self.properties, paths, sink)
    }

    pub fn read(source: &mut Source<'_>) -> Result<Self, SnapshotError> {
        let mut set = Self {
            sealed: source.number()?,
            marks: Vec::new(),
            slots: source.values()?,
            arrivals: source.values()?,
            times: Times::read(source)?,
            properties: super::block::read_columns(source)?,
        };
        let len = set.len();
        if set.sealed > len || set.arrivals.len() != len || set.times.len() != len {
            return Err(SnapshotError::Damaged);
        }
        set.mark();
        Ok(set)
    }

    pub fn bytes(&self) -> usize {
        let columns = self.properties.iter().flatten().map(Column::bytes);
        size_of::<Self>()
            + self.marks.capacity() * 4
            + self.slots.capacity() * 2
            + self.arrivals.capacity() * 4
            + self.times.bytes()
            + self.properties.capacity() * size_of::<Option<Column>>()
            + columns.sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever is pushed, sealed and moved, a contact's rows are its own, in order.
        #[test]
        fn rows_stay_in_order(
            pushes in prop::collection::vec((0..6u16, any::<bool>()), 0..200),
            moves in prop::collection::vec((0..6u16, 0..6u16), 0..3),
        ) {
            let mut set = EventSet::default();
            let mut plain = vec![Vec::new(); 6];
            for (arrival, (slot, seals)) in pushes.into_iter().enumerate() {
                let arrival = arrival as u32;
                let cell = Cell::number(f64::from(arrival));
                let properties = if arrival.is_multiple_of(3) { vec![] } else { vec![(1, cell)] };
                let time = i64::from(arrival) * 500_000;
                set.push(slot, &EventRow { arrival, time, properties });
                plain[usize::from(slot)].push(arrival);
                if seals && arrival.is_multiple_of(7) {
                    set.seal();
                }
            }
            for (from, to) in moves {
                let mut events = set.take(from);
                events.extend(set.take(to));
                events.sort_by_key(|event| event.arrival);
                let moved = std::mem::take(&mut plain[usize::from(from)]);
                plain[usize::from(to)].extend(moved);
                plain[usize::from(to)].sort_unstable();
                set.put(to, &events);
            }
            for slot in 0..6u16 {
                let rows: Vec<usize> = set.rows(slot).collect();
                let arrivals: Vec<u32> = rows.iter().map(|row| set.arrival(*row)).collect();
                prop_assert_eq!(&arrivals, &plain[usize::from(slot)]);
                for (row, arrival) in rows.into_iter().zip(arrivals) {
                    prop_assert_eq!(set.times().get(row), i64::from(arrival) * 500_000);
                    let cell = set.property(1).map_or(Cell::MISSING, |column| column.get(row));
                    let number = Cell::number(f64::from(arrival));
                    prop_assert_eq!(cell, if arrival.is_multiple_of(3) { Cell::MISSING } else { number });
                }
            }
        }
    }
}
