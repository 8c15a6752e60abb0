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
    // Nearly all of a batch live equally long.
    let ttl_ms = batch.writes.first().and_then(|write| write.ttl_ms);
    let numbers = batch.writes.iter().flat_map(|it| numbers(it, ttl_ms));
    let numbers = numbers.collect();
    let lives = [batch.hint_ttl_ms, batch.dedup_ttl_ms, ttl_ms];
    let mut args = Vec::with_capacity(5 + 2 * batch.writes.len());
    args.push(head);
    args.extend(lives.map(ttl));
    args.push(numbers);
    for write in batch.writes {
        told(write, ttl_ms, has_hints, &mut keys, &mut args);
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

fn told(
    write: EdgeWrite,
    ttl_ms: Option<u64>,
    has_hints: bool,
    keys: &mut Keys,
    args: &mut Vec<Vec<u8>>,
) {
    args.push(write.value.unwrap_or_default());
    let upto = write.hint.as_ref().map(|hint| hint.revision.to_string());
    args.push(upto.unwrap_or_default().into_bytes());
    if write.ttl_ms != ttl_ms {
        args.push(ttl(write.ttl_ms));
    }
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

/// Four long numbers, three counts, three times yes or no.
const NUMBERS: usize = 4 * 8 + 3 * 4 + 3;

fn numbers(write: &EdgeWrite, ttl_ms: Option<u64>) -> [u8; NUMBERS] {
    let hint = write.hint.as_ref();
    let longs = [
        write.revision,
        write.as_of.unwrap_or(NONE),
        write.seen.unwrap_or(NONE),
        hint.map_or(0, |hint| hint.revision),
    ];
    let counts = [write.dedups.len(), write.leave.len(), write.enter.len()];
    let flags = [
        write.value.is_some(),
        hint.is_some_and(|hint| hint.renew),
        write.ttl_ms != ttl_ms,
    ];
    let longs = longs.into_iter().flat_map(i64::to_le_bytes);
    let counts = counts.into_iter().flat_map(count);
    let mut all = longs.chain(counts).chain(flags.map(u8::from));
    std::array::from_fn(|_| all.next().unwrap_or_default())
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
    generation: &'a String,
    ttl_ms: Option<u64>,
    numbers: Numbers<'a>,
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
    let mut ttl = || args.next().map(|text| number(text));
    let (hint_ttl_ms, dedup_ttl_ms, ttl_ms) = (ttl()?, ttl()?, ttl()?);
    let (generation, rest) = keys.split_first()?;
    let (clear, rest) = rest.split_at_checked(clears)?;
    let (entries, rest) = rest.split_at_checked(writes)?;
    let (hints, rest) = rest.split_at_checked(hints)?;
    let mut taking = Taking {
        generation,
        ttl_ms,
        numbers: Numbers(args.next()?),
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
        let of = &mut self.numbers;
        let (revision, as_of, seen, upto) = (of.long()?, of.long()?, of.long()?, of.long()?);
        let (dedups, leaves, enters) = (of.count()?, of.count()?, of.count()?);
        let (has_value, renews, has_ttl) = (of.flag()?, of.flag()?, of.flag()?);
        let value = self.args.next().filter(|_| has_value);
        // The hint's text is that of `upto`.
        self.args.next()?;
        let ttl_ms = match has_ttl {
            true => number(self.args.next()?),
            false => self.ttl_ms,
        };
        let generation = self.generation;
        Some(Told {
            revision,
            as_of: Some(as_of).filter(|it| *it != NONE),
            seen,
            upto,
            renews,
            ttl_ms,
            entry: self.entries.next()?,
            value,
            hint: self.hints.next().filter(|hint| *hint != generation),
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

    fn flag(&mut self) -> Option<bool> {
        Some(self.byte()? == 1)
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
