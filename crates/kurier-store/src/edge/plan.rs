//! How a batch is told to the script: which key and which argument stands where. The script says
//! it at its top; what is written here in [`encode`] is read there, and by its twin in [`decode`].

use std::slice::Iter;

use super::{EdgeBatch, EdgeMode, EdgeWrite};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Warm = 0,
    Whole = 1,
    Rebuild = 2,
}

const HAS_VALUE: u8 = 1;
const HAS_HINT: u8 = 2;
const RENEWS: u8 = 4;

/// Stands for a number that there is none of.
const NONE: i64 = -1;

pub(super) fn encode(batch: EdgeBatch) -> (Vec<String>, Vec<Vec<u8>>) {
    let (mode, at, clear) = match batch.mode {
        EdgeMode::Warm => (Mode::Warm, 0, Vec::new()),
        EdgeMode::Whole => (Mode::Whole, 0, Vec::new()),
        EdgeMode::Rebuild { clear, at } => (Mode::Rebuild, at, clear),
    };
    let has_hints = batch.writes.iter().any(|write| write.hint.is_some());
    let hints = if has_hints { batch.writes.len() } else { 0 };
    let mut head = vec![mode as u8];
    head.extend(at.to_le_bytes());
    let counts = [clear.len(), batch.writes.len(), hints];
    head.extend(counts.into_iter().flat_map(count));
    let mut keys = Keys::new(&batch.generation, clear, batch.writes.len());
    let mut args = vec![head, ttl(batch.hint_ttl_ms), ttl(batch.dedup_ttl_ms)];
    for write in batch.writes {
        told(write, has_hints, &mut keys, &mut args);
    }
    (keys.side_by_side(), args)
}

/// The keys as they are gathered.
struct Keys {
    first: Vec<String>,
    hints: Vec<String>,
    rest: Vec<String>,
}

impl Keys {
    fn new(generation: &str, clear: Vec<String>, writes: usize) -> Self {
        let mut first = Vec::with_capacity(1 + clear.len() + 3 * writes);
        first.push(generation.to_owned());
        first.extend(clear);
        Self {
            first,
            hints: Vec::with_capacity(writes),
            rest: Vec::with_capacity(writes),
        }
    }

    fn side_by_side(mut self) -> Vec<String> {
        self.first.append(&mut self.hints);
        self.first.append(&mut self.rest);
        self.first
    }
}

fn told(write: EdgeWrite, has_hints: bool, keys: &mut Keys, args: &mut Vec<Vec<u8>>) {
    args.push(head(&write));
    args.push(write.value.unwrap_or_default());
    args.push(ttl(write.ttl_ms));
    let upto = write.hint.as_ref().map(|hint| hint.revision.to_string());
    args.push(upto.unwrap_or_default().into_bytes());
    keys.first.push(write.entry);
    if has_hints {
        // Who has none holds the place with a key that is there anyway, and is not asked.
        let hint = write.hint.map(|hint| hint.key);
        let hint = hint.unwrap_or_else(|| keys.first[0].clone());
        keys.hints.push(hint);
    }
    keys.rest.extend(write.dedups);
    if !write.leave.is_empty() || !write.enter.is_empty() {
        args.push(write.member.into_bytes());
    }
    for index in write.leave.into_iter().chain(write.enter) {
        keys.rest.push(index.key);
        args.push(index.field.into_bytes());
    }
}

fn head(write: &EdgeWrite) -> Vec<u8> {
    let hint = write.hint.as_ref();
    let numbers = [
        write.revision,
        write.as_of.unwrap_or(NONE),
        write.seen.unwrap_or(NONE),
        hint.map_or(0, |hint| hint.revision),
    ];
    let counts = [write.dedups.len(), write.leave.len(), write.enter.len()];
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    let mut head = Vec::with_capacity(45);
    head.extend(numbers.into_iter().flat_map(i64::to_le_bytes));
    head.extend(counts.into_iter().flat_map(count));
    head.push(
        flag(write.value.is_some(), HAS_VALUE)
            | flag(hint.is_some(), HAS_HINT)
            | flag(hint.is_some_and(|hint| hint.renew), RENEWS),
    );
    head
}

fn count(items: usize) -> [u8; 4] {
    u32::try_from(items).unwrap_or(u32::MAX).to_le_bytes()
}

fn ttl(ttl_ms: Option<u64>) -> Vec<u8> {
    ttl_ms.map_or(Vec::new(), |ms| ms.to_string().into_bytes())
}

/// What the twin of the script reads back.
pub(super) struct Plan<'a> {
    pub mode: Mode,
    pub at: i64,
    pub clear: &'a [String],
    pub hint_ttl_ms: Option<u64>,
    pub dedup_ttl_ms: Option<u64>,
    pub writes: Vec<Told<'a>>,
}

/// A write as it was told.
pub(super) struct Told<'a> {
    pub revision: i64,
    pub as_of: Option<i64>,
    pub seen: i64,
    pub upto: i64,
    pub renews: bool,
    pub ttl_ms: Option<u64>,
    pub entry: &'a String,
    pub value: Option<&'a Vec<u8>>,
    pub hint: Option<&'a String>,
    pub dedups: Vec<&'a String>,
    pub member: Option<&'a Vec<u8>>,
    pub leave: Vec<Index<'a>>,
    pub enter: Vec<Index<'a>>,
}

/// An index, and the field that counts its members.
pub(super) type Index<'a> = (&'a String, &'a str);

struct Taking<'a> {
    entries: Iter<'a, String>,
    hints: Iter<'a, String>,
    keys: Iter<'a, String>,
    args: Iter<'a, Vec<u8>>,
}

/// Nothing if that is no plan.
pub(super) fn decode<'a>(keys: &'a [String], args: &'a [Vec<u8>]) -> Option<Plan<'a>> {
    let mut args = args.iter();
    let mut head = Numbers(args.next()?);
    let mode = match head.byte()? {
        0 => Mode::Warm,
        1 => Mode::Whole,
        2 => Mode::Rebuild,
        _ => return None,
    };
    let (at, clears, writes, hints) = (head.long()?, head.count()?, head.count()?, head.count()?);
    let (hint_ttl_ms, dedup_ttl_ms) = (number(args.next()?), number(args.next()?));
    let (clear, rest) = keys.get(1..)?.split_at_checked(clears)?;
    let (entries, rest) = rest.split_at_checked(writes)?;
    let (hints, rest) = rest.split_at_checked(hints)?;
    let mut taking = Taking {
        entries: entries.iter(),
        hints: hints.iter(),
        keys: rest.iter(),
        args,
    };
    let writes = (0..writes).map(|_| taking.write());
    Some(Plan {
        mode,
        at,
        clear,
        hint_ttl_ms,
        dedup_ttl_ms,
        writes: writes.collect::<Option<_>>()?,
    })
}

impl<'a> Taking<'a> {
    fn write(&mut self) -> Option<Told<'a>> {
        let mut head = Numbers(self.args.next()?);
        let (revision, as_of, seen, upto) =
            (head.long()?, head.long()?, head.long()?, head.long()?);
        let (dedups, leaves, enters) = (head.count()?, head.count()?, head.count()?);
        let flags = head.byte()?;
        let value = self.args.next().filter(|_| flags & HAS_VALUE != 0);
        let ttl_ms = number(self.args.next()?);
        self.args.next()?;
        Some(Told {
            revision,
            as_of: Some(as_of).filter(|it| *it != NONE),
            seen,
            upto,
            renews: flags & RENEWS != 0,
            ttl_ms,
            entry: self.entries.next()?,
            value,
            hint: self.hints.next().filter(|_| flags & HAS_HINT != 0),
            dedups: (0..dedups)
                .map(|_| self.keys.next())
                .collect::<Option<_>>()?,
            member: match leaves + enters {
                0 => None,
                _ => Some(self.args.next()?),
            },
            leave: self.indexes(leaves)?,
            enter: self.indexes(enters)?,
        })
    }

    fn indexes(&mut self, count: usize) -> Option<Vec<Index<'a>>> {
        let index = |_| {
            let field = std::str::from_utf8(self.args.next()?).ok()?;
            Some((self.keys.next()?, field))
        };
        (0..count).map(index).collect()
    }
}

fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn long(&mut self) -> Option<i64> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(i64::from_le_bytes(*first))
    }

    fn count(&mut self) -> Option<usize> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        usize::try_from(u32::from_le_bytes(*first)).ok()
    }
}
