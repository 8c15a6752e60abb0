//! What a rendering sees: its inputs, the variables it assigned, and the loops it is in.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;

use super::ast::{Path, Root};
use super::limits::{Budget, Limit};
use super::show::weigh;
use crate::expr::{ContactField, Datum, EventField, Plan, Subject, evaluate};
use crate::time::Timestamp;
use crate::value::{Object, Value};

pub struct Scope<'a> {
    inputs: &'a Object,
    pub now: Timestamp,
    assigned: BTreeMap<&'a str, Cow<'a, Value>>,
    loops: Vec<Frame<'a>>,
    /// What a condition may still look into, and how much slower it does.
    sight: Cell<u64>,
    weight: Cell<u64>,
}

/// A loop, at one of its items.
pub struct Frame<'a> {
    pub name: &'a str,
    pub item: Cow<'a, Value>,
    pub index: usize,
    pub length: usize,
}

impl<'a> Scope<'a> {
    pub const fn new(inputs: &'a Object, now: Timestamp) -> Self {
        Self {
            inputs,
            now,
            assigned: BTreeMap::new(),
            loops: Vec::new(),
            sight: Cell::new(0),
            weight: Cell::new(1),
        }
    }

    pub fn assign(&mut self, name: &'a str, value: Cow<'a, Value>) {
        self.assigned.insert(name, value);
    }

    pub fn enter(&mut self, frame: Frame<'a>) {
        self.loops.push(frame);
    }

    pub fn leave(&mut self) {
        self.loops.pop();
    }

    /// The value at a path; null where there is none. What has to be copied is paid for.
    pub fn value(&self, path: &Path, budget: &mut Budget) -> Result<Cow<'a, Value>, Limit> {
        match &path.root {
            Root::Input(root) => Ok(borrowed(self.input(root, &path.names))),
            Root::Now => Ok(Cow::Owned(Value::Text(self.now.to_string()))),
            Root::ForLoop => Ok(Cow::Owned(self.forloop(&path.names))),
            Root::Local(name) => match self.local(name) {
                Some(Cow::Borrowed(value)) => Ok(borrowed(under(value, &path.names))),
                Some(Cow::Owned(value)) => copied(under(value, &path.names), budget),
                None => Ok(Cow::Owned(Value::Null)),
            },
        }
    }

    fn input(&self, root: &str, names: &[String]) -> Option<&'a Value> {
        under(self.inputs.get(root)?, names)
    }

    fn local(&self, name: &str) -> Option<&Cow<'a, Value>> {
        let mut loops = self.loops.iter().rev();
        let frame = loops.find(|frame| frame.name == name);
        frame
            .map(|frame| &frame.item)
            .or_else(|| self.assigned.get(name))
    }

    fn forloop(&self, names: &[String]) -> Value {
        let (Some(frame), Some(name)) = (self.loops.last(), names.first()) else {
            return Value::Null;
        };
        let int = |number: usize| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
        match name.as_str() {
            "index" => int(frame.index + 1),
            "index0" => int(frame.index),
            "length" => int(frame.length),
            "first" => Value::Bool(frame.index == 0),
            "last" => Value::Bool(frame.index + 1 == frame.length),
            _ => Value::Null,
        }
    }

    /// Decides a condition. The texts it looks into are paid for, `weight` times.
    pub fn holds(&self, plan: &Plan, weight: u64, budget: &mut Budget) -> Result<bool, Limit> {
        let before = budget.work_left();
        self.sight.set(before);
        self.weight.set(weight);
        let verdict = evaluate(plan, self, None, self.now);
        match self.sight.get() {
            // Somewhere it was not allowed to look, so what it says is worth nothing.
            0 => Err(Limit::Work),
            left => budget.work(before - left).map(|()| verdict.holds),
        }
    }

    /// What a condition sees of a value: nothing of a text that it can no longer pay for.
    fn datum<'v>(&self, value: Option<&'v Value>) -> Datum<'v> {
        let cost = match value {
            Some(Value::Text(text)) => text.len() as u64,
            Some(Value::List(list)) => list.iter().map(weigh).sum(),
            _ => 0,
        };
        let cost = cost.saturating_mul(self.weight.get()).saturating_add(1);
        let left = self.sight.get().saturating_sub(cost);
        self.sight.set(left);
        match left {
            0 => Datum::Missing,
            _ => Datum::of(value),
        }
    }
}

fn borrowed(value: Option<&Value>) -> Cow<'_, Value> {
    value.map_or(Cow::Owned(Value::Null), Cow::Borrowed)
}

fn copied<'a>(value: Option<&Value>, budget: &mut Budget) -> Result<Cow<'a, Value>, Limit> {
    let Some(value) = value else {
        return Ok(Cow::Owned(Value::Null));
    };
    budget.work(weigh(value))?;
    Ok(Cow::Owned(value.clone()))
}

/// The value under these names.
fn under<'v>(value: &'v Value, names: &[String]) -> Option<&'v Value> {
    let mut names = names.iter();
    names.try_fold(value, |value, name| value.as_object()?.get(name))
}

impl Subject for Scope<'_> {
    type Event = usize;

    fn contact(&self, field: &ContactField) -> Datum<'_> {
        let contact = self.inputs.get("contact");
        let of = |name: &str| contact.and_then(|contact| contact.as_object()?.get(name));
        let value = match field {
            ContactField::Id => of("id"),
            ContactField::UserId => of("user_id"),
            ContactField::CreatedAt => of("created_at"),
            ContactField::Attribute(names) => self.input("contact", names),
        };
        self.datum(value)
    }

    fn journey(&self, names: &[String]) -> Datum<'_> {
        self.datum(self.input("journey", names))
    }

    fn given(&self, names: &[String]) -> Datum<'_> {
        let Some((root, names)) = names.split_first() else {
            return Datum::Missing;
        };
        match root.as_str() {
            "data" => self.datum(self.input("data", names)),
            "forloop" => match self.forloop(names) {
                Value::Bool(value) => Datum::Bool(value),
                Value::Int(int) => Datum::Number(int as f64),
                _ => Datum::Missing,
            },
            name => self.datum(self.local(name).and_then(|value| under(value, names))),
        }
    }

    /// A template sees no events; the checker refused whatever asks for them.
    fn events(&self, _: Option<&[String]>) -> impl Iterator<Item = usize> {
        std::iter::empty()
    }

    fn event(&self, _: usize, _: &EventField) -> Datum<'_> {
        Datum::Missing
    }
}
