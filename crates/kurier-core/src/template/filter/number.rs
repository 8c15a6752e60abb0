//! Reckoning, and numbers for people. What is no number has no result, and nothing is shown.

use std::borrow::Cow;

use super::super::limits::Limit;
use super::{Bench, Filter, count_arg, text_arg};
use crate::value::Value;

/// So many decimals are enough for anybody.
const DECIMALS_MAX: usize = 12;

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Int(int) => Some(*int as f64),
        Value::Float(float) => Some(*float),
        Value::Text(text) => text
            .trim()
            .parse()
            .ok()
            .filter(|float: &f64| float.is_finite()),
        _ => None,
    }
}

/// What has no result is nothing.
pub fn value(float: f64) -> Value {
    match float.is_finite() {
        true => Value::of_number(float),
        false => Value::Null,
    }
}

pub fn reckon(filter: Filter, input: &Value, args: &[Cow<'_, Value>]) -> Value {
    let Some(arg) = args.first() else {
        return Value::Null;
    };
    if let (Value::Int(a), Value::Int(b)) = (input, arg.as_ref()) {
        let exact = match filter {
            Filter::Plus => a.checked_add(*b),
            Filter::Minus => a.checked_sub(*b),
            Filter::Times => a.checked_mul(*b),
            _ => None,
        };
        if let Some(exact) = exact {
            return Value::Int(exact);
        }
    }
    let (Some(a), Some(b)) = (float(input), float(arg)) else {
        return Value::Null;
    };
    value(match filter {
        Filter::Plus => a + b,
        Filter::Minus => a - b,
        Filter::Times => a * b,
        _ => a / b,
    })
}

pub fn apply<'a>(
    filter: Filter,
    input: &Value,
    args: &[Cow<'_, Value>],
    bench: &mut Bench<'_>,
) -> Result<Cow<'a, Value>, Limit> {
    let Some(number) = float(input) else {
        return Ok(Cow::Owned(Value::Null));
    };
    Ok(Cow::Owned(match filter {
        Filter::Round => round(number, count_arg(args, 0).unwrap_or(0)),
        Filter::Number => {
            let decimals = count_arg(args, 0).unwrap_or(0);
            Value::Text(grouped(number, decimals, args, bench)?)
        }
        _ => money(number, args, bench)?,
    }))
}

fn round(number: f64, decimals: usize) -> Value {
    let decimals = decimals.min(DECIMALS_MAX);
    let shown = format!("{number:.decimals$}");
    shown.parse().map_or(Value::Null, value)
}

fn money(number: f64, args: &[Cow<'_, Value>], bench: &mut Bench<'_>) -> Result<Value, Limit> {
    let currency = text_arg(args, 0, bench)?.unwrap_or_default();
    let amount = grouped(number.abs(), 2, args, bench)?;
    let sign = if number < 0.0 && amount.contains(|c: char| ('1'..='9').contains(&c)) {
        "-"
    } else {
        ""
    };
    // A word stands apart, a sign does not.
    let gap = if currency.ends_with(char::is_alphabetic) {
        " "
    } else {
        ""
    };
    bench.budget.text(currency.len() + amount.len() + 2)?;
    Ok(Value::Text(format!("{sign}{currency}{gap}{amount}")))
}

/// `1,234.50`, or with other signs.
fn grouped(
    number: f64,
    decimals: usize,
    args: &[Cow<'_, Value>],
    bench: &mut Bench<'_>,
) -> Result<String, Limit> {
    let group = text_arg(args, 1, bench)?.unwrap_or(Cow::Borrowed(","));
    let point = text_arg(args, 2, bench)?.unwrap_or(Cow::Borrowed("."));
    let decimals = decimals.min(DECIMALS_MAX);
    let shown = format!("{:.decimals$}", number.abs());
    let (whole, fraction) = shown.split_once('.').unwrap_or((&shown, ""));
    let gaps = whole.len() / 3;
    bench
        .budget
        .text(shown.len() + gaps.saturating_mul(group.len()) + point.len())?;
    let mut text = String::new();
    if number < 0.0 && shown.contains(|c: char| ('1'..='9').contains(&c)) {
        text.push('-');
    }
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            text.push_str(&group);
        }
        text.push(digit);
    }
    if !fraction.is_empty() {
        text.push_str(&point);
        text.push_str(fraction);
    }
    Ok(text)
}
