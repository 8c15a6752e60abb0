//! Folds over the events of a window.

use std::ops::Range;

use super::kernels::mask::Mask;
use super::kernels::tally::{Gathered, Owners};
use super::pool::NO_TIME;
use super::program::{FoldProgram, Node, Part, Source};
use super::set::EventSet;
use super::window::{Rows, Spare, Window};
use crate::expr::{EventField, Function, What};

/// Rows are filtered in runs of this length: their masks stay in the first cache level.
const RUN: usize = if cfg!(test) { 3 } else { 2_048 };

/// Of so many events a contact's share can be counted in 16 bits.
const FEW: usize = if cfg!(test) { 3 } else { u16::MAX as usize };

/// A fold at work.
enum Tally {
    /// One contact's events, counted.
    One(i32),
    Flags(Vec<u8>),
    Few(Vec<u16>),
    Counts(Vec<i32>),
    Sums(Vec<f64>),
    Means(Vec<f64>, Vec<i32>),
    Least(Vec<f64>),
    Greatest(Vec<f64>),
    Earliest(Vec<i64>),
    Latest(Vec<i64>),
    /// Numbers of several types are added in the order in which they arrived.
    Unordered(Vec<(usize, u32, f64)>),
}

impl Tally {
    /// A tally for so many contacts, and at most so many events.
    fn new(fold: &FoldProgram, (count, events): (usize, usize), spare: &mut Spare) -> Self {
        match &fold.what {
            What::Exists | What::Count(_) if count == 1 => Self::One(0),
            What::Exists => Self::Flags(spare.flags(count)),
            What::Count(_) | What::Of(Function::Count, _) if events <= FEW => {
                Self::Few(spare.few(count))
            }
            What::Count(_) | What::Of(Function::Count, _) => Self::Counts(spare.counts(count)),
            What::Of(Function::Min, EventField::Time) => Self::Earliest(vec![NO_TIME; count]),
            What::Of(Function::Max, EventField::Time) => Self::Latest(vec![NO_TIME; count]),
            What::Of(Function::Min, _) => Self::Least(spare.numbers(count, f64::NAN)),
            What::Of(Function::Max, _) => Self::Greatest(spare.numbers(count, f64::NAN)),
            What::Of(Function::Sum | Function::Avg, _) if fold.parts.len() > 1 => {
                Self::Unordered(Vec::new())
            }
            What::Of(Function::Sum, _) => Self::Sums(spare.numbers(count, 0.0)),
            What::Of(Function::Avg, _) => {
                Self::Means(spare.numbers(count, 0.0), spare.counts(count))
            }
        }
    }

    fn finish(self, what: &What, count: usize, spare: &mut Spare) -> Gathered {
        match self {
            Self::One(count) if *what == What::Exists => Gathered::Flag(count > 0),
            Self::One(count) => Gathered::Count(count),
            Self::Flags(flags) => Gathered::Flags(spare.mask_of(flags)),
            Self::Few(counts) => Gathered::Few(counts),
            Self::Counts(counts) => Gathered::Counts(counts),
            Self::Sums(numbers) | Self::Least(numbers) | Self::Greatest(numbers) => {
                Gathered::Numbers(numbers)
            }
            Self::Means(sums, counts) => {
                let means = sums.iter().zip(&counts);
                // Nothing by nothing is not a number, which is to say missing.
                Gathered::Numbers(means.map(|(sum, count)| sum / f64::from(*count)).collect())
            }
            Self::Earliest(times) | Self::Latest(times) => Gathered::Times(times),
            Self::Unordered(mut numbers) => {
                numbers.sort_unstable_by_key(|(contact, arrival, _)| (*contact, *arrival));
                let (mut sums, mut counts) = (vec![0.0; count], vec![0; count]);
                for (contact, _, number) in numbers {
                    sums[contact] += number;
                    counts[contact] += 1;
                }
                match what {
                    What::Of(Function::Avg, _) => {
                        Self::Means(sums, counts).finish(what, count, spare)
                    }
                    _ => Gathered::Numbers(sums),
                }
            }
        }
    }
}

impl<'w> Window<'w, '_> {
    pub fn gather(&mut self, fold: &'w FoldProgram) -> Gathered {
        let sets = fold
            .parts
            .iter()
            .map(|part| self.block.set(part.event_type));
        let events = sets.flatten().map(EventSet::len).sum();
        let mut tally = Tally::new(fold, (self.wrap + 1, events), self.spare);
        for part in &fold.parts {
            if let Some(set) = self.block.set(part.event_type) {
                self.gather_part(part, set, &fold.what, &mut tally);
            }
        }
        tally.finish(&fold.what, self.wrap + 1, self.spare)
    }

    fn gather_part(&mut self, part: &'w Part, set: &'w EventSet, what: &What, tally: &mut Tally) {
        part.needs.iter().for_each(|fold| self.ensure(*fold));
        let mut of_contact = Vec::new();
        for node in &part.of_contact {
            // A block that is not full has slots of nobody, of whom nothing can be asked.
            let mut mask = match self.wrap {
                0 => self.spare.mask(1),
                wrap => self.spare.live(self.block.live(), wrap + 1),
            };
            self.narrow(node, Rows::Contacts, &mut mask);
            of_contact.push(mask);
        }
        if self.wrap > 0 {
            self.gather_rows(part, set, 0..set.len(), (&of_contact, what, tally));
        } else {
            let slot = self.first as u16;
            self.gather_rows(part, set, set.sealed_rows(slot), (&of_contact, what, tally));
            for row in set.tail_rows(slot) {
                self.gather_rows(part, set, row..row + 1, (&of_contact, what, tally));
            }
        }
        of_contact
            .into_iter()
            .for_each(|mask| self.spare.give_back(mask));
    }

    fn gather_rows(
        &mut self,
        part: &'w Part,
        set: &'w EventSet,
        rows: Range<usize>,
        (of_contact, what, tally): (&[Mask], &What, &mut Tally),
    ) {
        let mut start = rows.start;
        while start < rows.end {
            let count = RUN.min(rows.end - start);
            let mut mask = self.spare.mask(count);
            let events = Rows::Events {
                set,
                part,
                start,
                of_contact,
            };
            if !matches!(part.filter, Node::Const(true)) {
                self.narrow(&part.filter, events, &mut mask);
            }
            self.add(part, set, start, (&mut mask, what, tally));
            self.spare.give_back(mask);
            start += count;
        }
    }

    /// Adds the passing rows to the tally.
    fn add(
        &mut self,
        part: &'w Part,
        set: &'w EventSet,
        start: usize,
        (mask, what, tally): (&mut Mask, &What, &mut Tally),
    ) {
        let owners = Owners {
            slots: &set.slots()[start..start + mask.len()],
            wrap: self.wrap,
        };
        let column = match part.field {
            Source::Property(path) => set.property(path),
            _ => None,
        };
        if matches!(what, What::Count(Some(EventField::Property(_)))) {
            match column {
                Some(column) => super::kernels::range::nulls(column, start, true, mask),
                None => mask.clear(),
            }
        }
        match tally {
            Tally::One(count) => *count += mask.count() as i32,
            Tally::Flags(flags) => owners.flag(mask, flags),
            Tally::Few(counts) => owners.count(mask, counts),
            Tally::Counts(counts) => owners.count(mask, counts),
            Tally::Earliest(times) => each_time(set, start, mask, owners, |at, time| {
                let is_first = times[at] == NO_TIME || time < times[at];
                times[at] = if is_first { time } else { times[at] };
            }),
            Tally::Latest(times) => each_time(set, start, mask, owners, |at, time| {
                times[at] = times[at].max(time);
            }),
            tally => {
                if let Some(column) = column {
                    tally.numbers(owners, column, (set, start), mask);
                }
            }
        }
    }
}

fn each_time(
    set: &EventSet,
    start: usize,
    mask: &Mask,
    owners: Owners<'_>,
    mut add: impl FnMut(usize, i64),
) {
    mask.each(|row| {
        let contact = usize::from(owners.slots[row]) & owners.wrap;
        add(contact, set.times().get(start + row));
    });
}

impl Tally {
    fn numbers(
        &mut self,
        owners: Owners<'_>,
        column: &super::column::Column,
        (set, start): (&EventSet, usize),
        mask: &Mask,
    ) {
        match self {
            Self::Sums(sums) => owners.numbers(column, start, mask, |at, n| sums[at] += n),
            Self::Means(sums, counts) => owners.numbers(column, start, mask, |at, n| {
                sums[at] += n;
                counts[at] += 1;
            }),
            Self::Least(least) => {
                owners.numbers(column, start, mask, |at, n| least[at] = least[at].min(n));
            }
            Self::Greatest(greatest) => {
                owners.numbers(column, start, mask, |at, n| {
                    greatest[at] = greatest[at].max(n)
                });
            }
            Self::Unordered(numbers) => {
                mask.each(|row| {
                    if let super::cell::Open::Number(number) = column.get(start + row).open() {
                        let contact = usize::from(owners.slots[row]) & owners.wrap;
                        numbers.push((contact, set.arrival(start + row), number));
                    }
                });
            }
            _ => {}
        }
    }
}
