//! Texts and lists, each kept once and named by a code from 1 on. Code 0 is nobody's: columns
//! use it for what is missing.

use std::io;

use super::cell::Cell;
use super::snapshot::{Recode, Sink, SnapshotError, Source};
use crate::time::Timestamp;
use crate::value::Value;

/// What stands in [`Pool::time`]'s column for a text that is no time.
pub const NO_TIME: i64 = i64::MIN;

/// The texts and lists that stand under one path.
#[derive(Debug, Default, Clone)]
pub struct Pool {
    texts: Texts,
    lists: Lists,
}

impl Pool {
    /// A value as a cell, without what is inside an object.
    pub fn cell(&mut self, value: &Value) -> Cell {
        match value {
            Value::Null => Cell::MISSING,
            Value::Bool(value) => Cell::bool(*value),
            Value::Int(number) => Cell::number(*number as f64),
            Value::Float(number) => Cell::number(*number),
            Value::Text(text) => self.text_cell(text),
            Value::List(values) => self.list_cell(values),
            Value::Object(_) => Cell::OBJECT,
        }
    }

    /// A text beyond what a pool can hold is kept as something that is there and no more.
    pub fn text_cell(&mut self, text: &str) -> Cell {
        self.texts.intern(text).map_or(Cell::OBJECT, Cell::text)
    }

    fn list_cell(&mut self, values: &[Value]) -> Cell {
        // Lists in lists compare with nothing, as objects do.
        let item = |value: &Value| match value {
            Value::List(_) => Cell::OBJECT,
            value => self.cell(value),
        };
        let items: Vec<Cell> = values.iter().map(item).collect();
        self.items_cell(&items)
    }

    pub fn items_cell(&mut self, items: &[Cell]) -> Cell {
        self.lists.intern(items).map_or(Cell::OBJECT, Cell::list)
    }

    pub fn text(&self, code: u32) -> &str {
        self.texts.get(code)
    }

    pub fn list(&self, code: u32) -> &[Cell] {
        self.lists.get(code)
    }

    /// The code of a text, if it ever stood here.
    pub fn find(&self, text: &str) -> Option<u32> {
        self.texts.find(text)
    }

    /// So many texts there are; their codes are 1 to this.
    pub fn texts_len(&self) -> usize {
        self.texts.ends.len()
    }

    pub fn lists_len(&self) -> usize {
        self.lists.ends.len()
    }

    /// The instant that a text is.
    pub fn time(&self, code: u32) -> Option<Timestamp> {
        let micros = *self.texts.times.get(code as usize)?;
        (micros != NO_TIME).then_some(Timestamp::from_micros(micros))
    }

    /// Writes what is still used, under its new codes.
    pub fn write(&self, recode: &Recode, sink: &mut Sink<'_>) -> io::Result<()> {
        let (mut text, mut ends) = (String::new(), Vec::new());
        for code in recode.texts() {
            text.push_str(self.text(code));
            ends.push(text.len() as u32);
        }
        sink.text(&text)?;
        sink.values(&ends)?;
        let (mut items, mut ends) = (Vec::new(), Vec::new());
        for code in recode.lists() {
            items.extend(self.list(code).iter().map(|item| recode.cell(*item)));
            ends.push(items.len() as u32);
        }
        sink.values(&items)?;
        sink.values(&ends)
    }

    pub fn read(source: &mut Source<'_>) -> Result<Self, SnapshotError> {
        let (text, ends) = (source.text()?, source.values()?);
        let texts = Texts::read(text, ends).ok_or(SnapshotError::Damaged)?;
        let (items, ends) = (source.values()?, source.values()?);
        let lists = Lists::read(items, ends).ok_or(SnapshotError::Damaged)?;
        Ok(Self { texts, lists })
    }

    pub fn bytes(&self) -> usize {
        let Texts {
            text,
            ends,
            times,
            index,
        } = &self.texts;
        let texts = text.capacity() + ends.capacity() * 4 + times.capacity() * 8;
        let lists = self.lists.items.capacity() * 8 + self.lists.ends.capacity() * 4;
        texts + lists + index.bytes() + self.lists.index.bytes()
    }

    pub fn shrink(&mut self) {
        self.texts.text.shrink_to_fit();
        self.texts.ends.shrink_to_fit();
        self.texts.times.shrink_to_fit();
        self.lists.items.shrink_to_fit();
        self.lists.ends.shrink_to_fit();
    }
}

#[derive(Debug, Default, Clone)]
struct Texts {
    text: String,
    /// Where the text of code n ends is at n - 1.
    ends: Vec<u32>,
    /// By code; stays empty until the first text that is a time.
    times: Vec<i64>,
    index: Index,
}

impl Texts {
    fn get(&self, code: u32) -> &str {
        &self.text[span(&self.ends, code)]
    }

    fn find(&self, text: &str) -> Option<u32> {
        self.index
            .find(hash(text.as_bytes()), |code| self.get(code) == text)
    }

    fn intern(&mut self, text: &str) -> Option<u32> {
        if let Some(code) = self.find(text) {
            return Some(code);
        }
        let end = u32::try_from(self.text.len() + text.len()).ok()?;
        let code = u32::try_from(self.ends.len() + 1).ok()?;
        grow_string(&mut self.text, text.len());
        self.text.push_str(text);
        super::column::push(&mut self.ends, end);
        self.note_time(code, text);
        let (index, ends, all) = (&mut self.index, &self.ends, &self.text);
        index.insert(hash(text.as_bytes()), code, |code| {
            hash(all[span(ends, code)].as_bytes())
        });
        Some(code)
    }

    fn read(text: String, ends: Vec<u32>) -> Option<Self> {
        let mut texts = Self {
            index: Index::with_room(ends.len()),
            ..Self::default()
        };
        for code in 1..=ends.len() as u32 {
            let text = text.get(checked_span(&ends, code)?)?;
            texts.note_time(code, text);
            texts.index.place_new(hash(text.as_bytes()), code);
        }
        Some(Self {
            text,
            ends,
            ..texts
        })
    }

    fn note_time(&mut self, code: u32, text: &str) {
        // Every form of a time begins with a year, and parsing what is none is not free.
        let first = text.as_bytes().first();
        let may_be_time = first.is_some_and(|b| b.is_ascii_digit() || matches!(b, b'-' | b'+'));
        let time = may_be_time
            .then(|| text.parse::<Timestamp>().ok())
            .flatten();
        if time.is_some() || !self.times.is_empty() {
            self.times.resize(code as usize, NO_TIME);
            let micros = time.map_or(NO_TIME, Timestamp::as_micros);
            super::column::push(&mut self.times, micros);
        }
    }
}

#[derive(Debug, Default, Clone)]
struct Lists {
    items: Vec<Cell>,
    ends: Vec<u32>,
    index: Index,
}

impl Lists {
    fn get(&self, code: u32) -> &[Cell] {
        &self.items[span(&self.ends, code)]
    }

    fn intern(&mut self, items: &[Cell]) -> Option<u32> {
        let found = self
            .index
            .find(hash_cells(items), |code| self.get(code) == items);
        if found.is_some() {
            return found;
        }
        let end = u32::try_from(self.items.len() + items.len()).ok()?;
        let code = u32::try_from(self.ends.len() + 1).ok()?;
        items
            .iter()
            .for_each(|item| super::column::push(&mut self.items, *item));
        super::column::push(&mut self.ends, end);
        let (index, ends, all) = (&mut self.index, &self.ends, &self.items);
        index.insert(hash_cells(items), code, |code| {
            hash_cells(&all[span(ends, code)])
        });
        Some(code)
    }
}

impl Lists {
    fn read(items: Vec<Cell>, ends: Vec<u32>) -> Option<Self> {
        let mut index = Index::with_room(ends.len());
        for code in 1..=ends.len() as u32 {
            index.place_new(hash_cells(items.get(checked_span(&ends, code)?)?), code);
        }
        Some(Self { items, ends, index })
    }
}

fn checked_span(ends: &[u32], code: u32) -> Option<std::ops::Range<usize>> {
    let span = span(ends, code);
    (span.start <= span.end).then_some(span)
}

fn span(ends: &[u32], code: u32) -> std::ops::Range<usize> {
    let at = code as usize - 1;
    let start = if at == 0 { 0 } else { ends[at - 1] as usize };
    start..ends[at] as usize
}

fn grow_string(text: &mut String, more: usize) {
    if text.capacity() - text.len() < more {
        text.reserve_exact(more + text.len() / 8 + 16);
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut chunks = bytes.chunks_exact(8);
    let mut state = bytes.len() as u64;
    for chunk in &mut chunks {
        let word = u64::from_le_bytes(chunk.try_into().expect("a chunk has 8 bytes"));
        state = mix(state ^ word);
    }
    let mut last = [0; 8];
    last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    mix(state ^ u64::from_le_bytes(last))
}

fn hash_cells(cells: &[Cell]) -> u64 {
    cells.iter().fold(
        cells.len() as u64,
        |state, cell| mix(state ^ cell.to_bits()),
    )
}

const fn mix(word: u64) -> u64 {
    let wide = (word ^ 0x9E37_79B9_7F4A_7C15) as u128 * 0xD6E8_FEB8_6659_FD93_u128;
    (wide >> 64) as u64 ^ wide as u64
}

/// A hash index that holds only codes; what they stand for is kept elsewhere. 0 is free.
#[derive(Debug, Default, Clone)]
pub struct Index {
    places: Vec<u32>,
    used: usize,
}

impl Index {
    /// An index for so many codes and some more.
    pub fn with_room(codes: usize) -> Self {
        Self {
            places: vec![0; codes * 4 / 3 + 8],
            used: 0,
        }
    }

    /// Adds a code for which there is room.
    pub fn place_new(&mut self, hash: u64, code: u32) {
        self.place(hash, code);
        self.used += 1;
    }

    pub fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        if self.places.is_empty() {
            return None;
        }
        let mut at = self.home(hash);
        loop {
            match self.places[at] {
                0 => return None,
                code if is_it(code) => return Some(code),
                _ => at = (at + 1) % self.places.len(),
            }
        }
    }

    /// Adds a code that is not there yet.
    pub fn insert(&mut self, hash: u64, code: u32, hash_of: impl Fn(u32) -> u64) {
        if (self.used + 1) * 5 > self.places.len() * 4 {
            self.grow(hash_of);
        }
        self.place(hash, code);
        self.used += 1;
    }

    fn grow(&mut self, hash_of: impl Fn(u32) -> u64) {
        // Half as much again, not twice: this index is a good part of a contact's bytes.
        let size = (self.places.len() * 3 / 2).max(8);
        let old = std::mem::replace(&mut self.places, vec![0; size]);
        for code in old.into_iter().filter(|code| *code != 0) {
            self.place(hash_of(code), code);
        }
    }

    fn place(&mut self, hash: u64, code: u32) {
        let mut at = self.home(hash);
        while self.places[at] != 0 {
            at = (at + 1) % self.places.len();
        }
        self.places[at] = code;
    }

    /// Spreads hashes over any number of places.
    fn home(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.places.len() as u128) >> 64) as usize
    }

    pub fn bytes(&self) -> usize {
        self.places.capacity() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept_once_and_found_again() {
        let mut pool = Pool::default();
        let codes: Vec<Cell> = (0..1_000).map(|n| pool.text_cell(&n.to_string())).collect();
        for (n, code) in codes.iter().enumerate() {
            assert_eq!(pool.text_cell(&n.to_string()), *code);
            assert_eq!(pool.find(&n.to_string()).map(Cell::text), Some(*code));
        }
        assert_eq!(pool.texts_len(), 1_000);
        assert_eq!(pool.find("x"), None);
    }

    #[test]
    fn texts_that_are_times_are_known_as_such() {
        let mut pool = Pool::default();
        for text in ["soon", "2026-01-01T00:00:00Z", "", "7"] {
            pool.text_cell(text);
        }
        let known: Vec<bool> = (1..=4).map(|code| pool.time(code).is_some()).collect();
        assert_eq!(known, [false, true, false, false]);
        assert_eq!(pool.time(2), "2026-01-01T00:00:00Z".parse().ok());
    }
}
