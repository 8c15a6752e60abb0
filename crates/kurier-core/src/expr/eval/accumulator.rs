//! What a fold over events gathers.

use super::super::ast::Function;
use super::super::plan::{EventField, What};
use super::super::subject::Datum;
use crate::time::Timestamp;

/// What a fold has gathered so far.
#[derive(Default)]
pub struct Accumulator {
    count: u64,
    sum: f64,
    least: Option<f64>,
    greatest: Option<f64>,
    earliest: Option<Timestamp>,
    latest: Option<Timestamp>,
}

impl Accumulator {
    pub fn add<'a>(&mut self, what: &What, read: impl Fn(&EventField) -> Datum<'a>) {
        let field = match what {
            What::Exists | What::Count(None) => {
                self.count += 1;
                return;
            }
            What::Count(Some(field)) => {
                self.count += u64::from(!read(field).is_missing());
                return;
            }
            What::Of(_, field) => field,
        };
        match read(field) {
            Datum::Number(number) => self.number(number),
            Datum::Time(time) => {
                self.earliest = Some(self.earliest.map_or(time, |first| first.min(time)));
                self.latest = Some(self.latest.map_or(time, |last| last.max(time)));
            }
            _ => {}
        }
    }

    fn number(&mut self, number: f64) {
        self.count += 1;
        self.sum += number;
        self.least = Some(self.least.map_or(number, |least| least.min(number)));
        self.greatest = Some(
            self.greatest
                .map_or(number, |greatest| greatest.max(number)),
        );
    }

    pub fn value(&self, what: &What) -> Datum<'static> {
        let number = |number: Option<f64>| number.map_or(Datum::Missing, Datum::Number);
        let time = |time: Option<Timestamp>| time.map_or(Datum::Missing, Datum::Time);
        match what {
            What::Exists => Datum::Bool(self.count > 0),
            What::Count(_) => Datum::Number(self.count as f64),
            What::Of(Function::Sum, _) => Datum::Number(self.sum),
            What::Of(Function::Avg, _) => {
                number((self.count > 0).then(|| self.sum / self.count as f64))
            }
            What::Of(Function::Min, EventField::Time) => time(self.earliest),
            What::Of(Function::Max, EventField::Time) => time(self.latest),
            What::Of(Function::Min, _) => number(self.least),
            What::Of(Function::Max, _) => number(self.greatest),
            What::Of(Function::Count, _) => Datum::Number(self.count as f64),
        }
    }
}
