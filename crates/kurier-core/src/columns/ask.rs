//! Tests over the rows of a window: which column, and which kernel.

use super::cell::Open;
use super::column::Column;
use super::decide::{contains, narrow_lists};
use super::kernels::codes::{Codes, narrow_by_truths};
use super::kernels::mask::Mask;
use super::kernels::range::{self, Instants, Numbers};
use super::kernels::tally::{Gathered, Value};
use super::pool::{NO_TIME, Pool};
use super::program::{Bound, Other, Source, Test, Varying};
use super::times::Times;
use super::window::{Rows, Window};
use crate::time::Timestamp;

/// The values of a source over the rows of a mask.
enum Values<'a> {
    /// All are missing.
    None,
    /// A column from a row on, with the pool of its texts.
    Column(&'a Column, usize, &'a Pool),
    /// The times of events from a row on.
    Times(&'a Times, usize),
    Micros(&'a [i64]),
    Fold(&'a Gathered),
}

impl<'w> Window<'w, '_> {
    pub fn test(&mut self, test: &'w Test, rows: Rows<'w, '_>, mask: &mut Mask) {
        self.ensure_all(test.sources());
        match test {
            Test::Number {
                source,
                low,
                high,
                negated,
            } => {
                let range = Numbers {
                    low: *low,
                    high: *high,
                    negated: *negated,
                };
                match self.values(source, rows) {
                    Values::Column(column, start, _) => range.narrow(column, start, mask),
                    Values::Fold(Gathered::Count(count)) => range.one(f64::from(*count), mask),
                    Values::Fold(Gathered::Few(counts)) => range.few(counts, mask),
                    Values::Fold(Gathered::Counts(counts)) => range.counts(counts, mask),
                    Values::Fold(Gathered::Numbers(numbers)) => range.doubles(numbers, mask),
                    _ => mask.clear(),
                }
            }
            Test::Time {
                source,
                low,
                high,
                negated,
            } => self.time(source, (*low, *high, *negated), rows, mask),
            Test::Texts { .. } => self.texts(test, rows, mask),
            Test::Flag {
                source,
                value,
                negated,
            } => match self.values(source, rows) {
                Values::Column(column, start, _) => {
                    range::flags(column, start, *value, *negated, mask);
                }
                _ => mask.clear(),
            },
            Test::Null { source, negated } => self.null(source, *negated, rows, mask),
            Test::Other(other) => self.other(other, rows, mask),
        }
    }

    fn values<'a>(&'a self, source: &Source, rows: Rows<'w, 'a>) -> Values<'a> {
        let first = self.first;
        let column = |column: Option<&'w Column>, start, pool| {
            column.map_or(Values::None, |column| Values::Column(column, start, pool))
        };
        match (source, rows) {
            (Source::UserId, Rows::Contacts) => {
                column(self.block.user_ids(), first, &self.world.user_ids)
            }
            (Source::Created, Rows::Contacts) => Values::Micros(self.created()),
            (Source::Attribute(path), Rows::Contacts) => {
                let pool = self.world.attributes.pool(*path);
                column(self.block.attributes(*path), first, pool)
            }
            (Source::Fold(fold), Rows::Contacts) => match self.fold(*fold) {
                Some(Gathered::Times(times)) => Values::Micros(times),
                Some(gathered) => Values::Fold(gathered),
                None => Values::None,
            },
            (Source::EventTime, Rows::Events { set, start, .. }) => {
                Values::Times(set.times(), start)
            }
            (
                Source::Property(path),
                Rows::Events {
                    set, start, part, ..
                },
            ) => {
                let event_type = self.world.types.get(part.event_type);
                column(
                    set.property(*path),
                    start,
                    event_type.properties.pool(*path),
                )
            }
            _ => Values::None,
        }
    }

    /// When the window's contacts were created, as far as there are any.
    fn created(&self) -> &'w [i64] {
        let created = self.block.created();
        let end = created.len().min(self.first + self.wrap + 1);
        &created[self.first.min(end)..end]
    }

    fn time(
        &mut self,
        source: &Source,
        (low, high, negated): (Bound, Bound, bool),
        rows: Rows<'w, '_>,
        mask: &mut Mask,
    ) {
        let instants = Instants {
            low: low.at(self.now),
            high: high.at(self.now),
            negated,
        };
        // Asked of all rows that got here: also what fails now may pass later.
        let watched = [
            low.from_now.then_some(low.micros),
            high.from_now.then(|| high.micros.saturating_add(1)),
        ];
        for micros in watched.into_iter().flatten() {
            let from = self.now.as_micros().saturating_add(micros);
            // Later than this would be after what is known to change already.
            let below = self.until.saturating_add(micros);
            let first = self.values(source, rows).first_time(from, below, mask);
            if let Some(first) = first {
                self.changes_at(first.saturating_sub(micros).saturating_add(1));
            }
        }
        match self.values(source, rows) {
            Values::Times(times, start) => instants.narrow(times, start, mask),
            Values::Micros(micros) => instants.micros(micros, mask),
            Values::Column(column, start, pool) => {
                range::each_cell(column, start, mask, |open| match open {
                    Open::Text(code) => pool
                        .time(code)
                        .is_some_and(|time| instants.holds(time.as_micros())),
                    _ => false,
                });
            }
            _ => mask.clear(),
        }
    }

    fn texts(&self, test: &'w Test, rows: Rows<'w, '_>, mask: &mut Mask) {
        let Test::Texts {
            source,
            texts,
            codes,
            negated,
            others,
        } = test
        else {
            return;
        };
        match (self.values(source, rows), codes) {
            (Values::Column(column, start, _), Some(codes)) => {
                let codes = Codes {
                    wanted: codes,
                    negated: *negated,
                    others: *others,
                };
                codes.narrow(column, start, mask);
            }
            (Values::Column(column, start, pool), None) if mask.len() >= 8 => {
                let codes: Vec<u32> = texts.iter().filter_map(|text| pool.find(text)).collect();
                let codes = Codes {
                    wanted: &codes,
                    negated: *negated,
                    others: *others,
                };
                codes.narrow(column, start, mask);
            }
            (Values::Column(column, start, pool), None) => {
                range::each_cell(column, start, mask, |open| match open {
                    Open::Missing => false,
                    Open::Text(code) => {
                        let text = pool.text(code);
                        texts.iter().any(|wanted| wanted == text) != *negated
                    }
                    _ => *others,
                });
            }
            (Values::None, _) => mask.clear(),
            // Times and folds are there or not, and never texts.
            _ if *others => self.null(source, true, rows, mask),
            _ => mask.clear(),
        }
    }

    fn null(&self, source: &Source, negated: bool, rows: Rows<'w, '_>, mask: &mut Mask) {
        match self.values(source, rows) {
            Values::Column(column, start, _) => range::nulls(column, start, negated, mask),
            Values::Fold(gathered) => {
                mask.retain(|at| (gathered.open(at) == Value::Missing) != negated);
            }
            Values::Micros(micros) => {
                mask.keep(micros, |time| (time == NO_TIME) != negated);
            }
            // Every event has a time.
            Values::Times(..) if negated => {}
            Values::None if !negated => {}
            _ => mask.clear(),
        }
    }

    fn other(&mut self, other: &'w Other, rows: Rows<'w, '_>, mask: &mut Mask) {
        if other.varying == Varying::None {
            let (holds, until) = self.decide(other, rows, 0);
            self.changes_at(until);
            if !holds {
                mask.clear();
            }
            return;
        }
        if let Varying::One(varying) = other.varying
            && let Values::Column(column, start, pool) = self.values(&other.sources[varying], rows)
        {
            if !other.truths.is_empty()
                && narrow_by_truths(column, start, &other.truths, mask).is_some()
            {
                return;
            }
            if let (Column::List(codes), Some((wanted, negated))) =
                (column, contains(&other.condition))
            {
                return narrow_lists((codes, start, pool), wanted, negated, mask);
            }
        }
        let mut until = i64::MAX;
        mask.retain(|row| {
            let (holds, end) = self.decide(other, rows, row);
            until = until.min(end);
            holds
        });
        self.changes_at(until);
    }
}

impl Values<'_> {
    /// The first instant from `from` on among the rows of a mask, if it is before `below`.
    fn first_time(&self, from: i64, below: i64, mask: &Mask) -> Option<i64> {
        match self {
            Self::Times(times, start) => range::first_time(times, *start, (from, below), mask),
            Self::Micros(micros) => range::first_micros(micros, from, mask),
            Self::Column(column, start, pool) => {
                let mut first = None;
                mask.each(|row| {
                    let Open::Text(code) = column.get(start + row).open() else {
                        return;
                    };
                    let time = pool.time(code).map(Timestamp::as_micros);
                    let time = time.filter(|time| *time >= from);
                    first = [first, time].into_iter().flatten().min();
                });
                first
            }
            _ => None,
        }
    }
}
