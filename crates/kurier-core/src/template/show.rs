//! Values as texts.

use std::borrow::Cow;
use std::io::{self, Write};

use super::limits::{Budget, ITEM_BYTES, Limit, TEXT_BYTES_MAX};
use crate::value::Value;

/// A value as a person reads it: nothing for what is missing, a list's items with commas.
pub fn show<'v>(value: &'v Value, budget: &mut Budget) -> Result<Cow<'v, str>, Limit> {
    let shown = match value {
        Value::Null => Cow::Borrowed(""),
        Value::Bool(true) => Cow::Borrowed("true"),
        Value::Bool(false) => Cow::Borrowed("false"),
        Value::Int(int) => Cow::Owned(int.to_string()),
        Value::Float(float) => Cow::Owned(float.to_string()),
        Value::Text(text) => Cow::Borrowed(text.as_str()),
        Value::List(list) => Cow::Owned(commas(list, budget)?),
        Value::Object(_) => Cow::Owned(json_text(value, budget)?),
    };
    Ok(shown)
}

fn commas(list: &[Value], budget: &mut Budget) -> Result<String, Limit> {
    let mut text = String::new();
    for (index, item) in list.iter().enumerate() {
        budget.step()?;
        if index > 0 {
            text.push_str(", ");
        }
        // Lists do not nest deeper than values do, and each item is a step.
        let shown = show(item, budget)?;
        push(&mut text, &shown, TEXT_BYTES_MAX, Limit::Text)?;
    }
    budget.text(text.len())?;
    Ok(text)
}

/// Appends, if that is within a limit.
pub fn push(to: &mut String, text: &str, max: usize, limit: Limit) -> Result<(), Limit> {
    if to.len().saturating_add(text.len()) > max {
        return Err(limit);
    }
    to.push_str(text);
    Ok(())
}

pub fn json_text(value: &Value, budget: &mut Budget) -> Result<String, Limit> {
    let mut bounded = Bounded(Vec::new());
    // It cannot fail but by its length.
    serde_json::to_writer(&mut bounded, value).map_err(|_| Limit::Text)?;
    budget.text(bounded.0.len())?;
    String::from_utf8(bounded.0).map_err(|_| Limit::Text)
}

/// Takes as much as one text may hold.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > TEXT_BYTES_MAX {
            return Err(io::Error::other("too long"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How much memory a copy of a value takes, about.
pub fn weigh(value: &Value) -> u64 {
    match value {
        Value::Text(text) => (text.len() + ITEM_BYTES) as u64,
        Value::List(list) => list.iter().map(weigh).sum::<u64>() + ITEM_BYTES as u64,
        Value::Object(object) => {
            let members = object
                .iter()
                .map(|(name, value)| name.len() as u64 + weigh(value));
            members.sum::<u64>() + ITEM_BYTES as u64
        }
        _ => ITEM_BYTES as u64,
    }
}
