//! What no kernel knows, decided value by value.

use std::borrow::Cow;

use super::block::BLOCK;
use super::cell::Cell;
use super::kernels::mask::Mask;
use super::kernels::tally::Value;
use super::pool::Pool;
use super::program::{Other, Source, terms};
use super::subject::datum;
use super::window::{Rows, Window};
use crate::expr::leaf::Leaf;
use crate::expr::{Condition, Datum, FOREVER, Scalar, Term, TextOp, TextTest};
use crate::time::Timestamp;

impl<'w> Window<'w, '_> {
    /// The verdict on one row, and until when it holds.
    pub fn decide(&self, other: &'w Other, rows: Rows<'w, '_>, row: usize) -> (bool, i64) {
        let terms = terms(&other.condition);
        let read = |term: &Term| {
            let at = terms.iter().position(|known| std::ptr::eq(*known, term));
            let source = &other.sources[at.unwrap_or(0)];
            (self.datum(source, rows, row), FOREVER)
        };
        let verdict = Leaf::new(self.now, read).verdict(&other.condition);
        (verdict.holds, verdict.until.as_micros())
    }

    fn datum(&self, source: &'w Source, rows: Rows<'w, '_>, row: usize) -> Datum<'w> {
        let slot = match rows {
            Rows::Contacts => self.first + row,
            Rows::Events { set, start, .. } => usize::from(set.slots()[start + row]),
        };
        match source {
            Source::Nothing => Datum::Missing,
            Source::Const(scalar) => Datum::of_scalar(scalar),
            Source::Now(micros) => Datum::Time(self.now.shifted(*micros)),
            Source::Shifted(base, micros) => {
                let time = self.datum(base, rows, row).as_time();
                time.map_or(Datum::Missing, |time| Datum::Time(time.shifted(*micros)))
            }
            Source::Fold(fold) => {
                let gathered = self.fold(*fold);
                gathered.map_or(Datum::Missing, |all| folded(all.open(slot & self.wrap)))
            }
            Source::EventTime | Source::Property(_) => self.event_datum(source, rows, row),
            source => self.contact_datum(source, slot),
        }
    }

    fn event_datum(&self, source: &Source, rows: Rows<'w, '_>, row: usize) -> Datum<'w> {
        let Rows::Events {
            set, part, start, ..
        } = rows
        else {
            return Datum::Missing;
        };
        match source {
            Source::Property(path) => {
                let pool = self.world.types.get(part.event_type).properties.pool(*path);
                let column = set.property(*path);
                datum(
                    pool,
                    column.map_or(Cell::MISSING, |column| column.get(start + row)),
                )
            }
            _ => Datum::Time(Timestamp::from_micros(set.times().get(start + row))),
        }
    }

    fn contact_datum(&self, source: &Source, slot: usize) -> Datum<'w> {
        let (world, block) = (self.world, self.block);
        match source {
            Source::Id => {
                let number = (self.number * BLOCK + slot) as u32;
                Datum::Text(Cow::Owned(world.contact_id(number).to_string()))
            }
            Source::UserId => datum(&world.user_ids, block.user_id(slot as u16)),
            Source::Created => Datum::Time(Timestamp::from_micros(block.created()[slot])),
            Source::Attribute(path) => {
                let cell = block.attribute(*path, slot as u16);
                datum(world.attributes.pool(*path), cell)
            }
            _ => Datum::Missing,
        }
    }
}

fn folded(value: Value) -> Datum<'static> {
    match value {
        Value::Missing => Datum::Missing,
        Value::Flag(flag) => Datum::Bool(flag),
        Value::Number(number) => Datum::Number(number),
        Value::Time(micros) => Datum::Time(Timestamp::from_micros(micros)),
    }
}

/// What a condition wants a list to contain.
pub fn contains(condition: &Condition) -> Option<(&Scalar, bool)> {
    match condition {
        Condition::Text {
            test: TextTest::Pattern(TextOp::Contains, Term::Const(wanted)),
            negated,
            ..
        } => Some((wanted, *negated)),
        _ => None,
    }
}

/// Keeps the lists that (do not) contain a value.
pub fn narrow_lists(
    (codes, start, pool): (&[u32], usize, &Pool),
    wanted: &Scalar,
    negated: bool,
    mask: &mut Mask,
) {
    let wanted = Datum::of_scalar(wanted);
    // A text is one cell wherever it stands; numbers may be equal and not the same.
    let cell = match &wanted {
        Datum::Text(text) => Some(pool.find(text).map_or(Cell::MISSING, Cell::text)),
        _ => None,
    };
    let has = |items: &[Cell]| match cell {
        Some(Cell::MISSING) => false,
        Some(cell) => items.contains(&cell),
        None => items.iter().any(|item| datum(pool, *item).equals(&wanted)),
    };
    mask.retain(|row| {
        let code = codes.get(start + row).copied().unwrap_or(0);
        code != 0 && has(pool.list(code)) != negated
    });
}
