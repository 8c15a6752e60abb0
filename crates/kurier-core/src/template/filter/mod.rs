//! Filters: what can be done to a value on its way out. Each makes at most what its budget
//! allows.

mod date;
mod list;
mod number;
mod text;

use std::borrow::Cow;

use super::ast::Source;
use super::limits::{Budget, Limit};
use super::show::show;
use crate::time::Timestamp;
use crate::value::Value;

macro_rules! filters {
    ($($(#[$doc:meta])* $variant:ident = $name:literal ($least:literal, $most:literal) $usage:literal,)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Filter { $($(#[$doc])* $variant,)* }

        impl Filter {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// How many arguments it takes, at least and at most.
            pub const fn args(self) -> (usize, usize) {
                match self { $(Self::$variant => ($least, $most),)* }
            }

            pub const fn usage(self) -> &'static str {
                match self { $(Self::$variant => $usage,)* }
            }
        }
    };
}

filters! {
    /// Another value where there is none.
    Default = "default" (1, 1) "default: 'friend'",
    Upcase = "upcase" (0, 0) "upcase",
    Downcase = "downcase" (0, 0) "downcase",
    /// The first letter large, the others small.
    Capitalize = "capitalize" (0, 0) "capitalize",
    /// Without white space at both ends.
    Strip = "strip" (0, 0) "strip",
    /// For HTML; an HTML part does it by itself.
    Escape = "escape" (0, 0) "escape",
    UrlEncode = "url_encode" (0, 0) "url_encode",
    /// The whole value as JSON.
    Json = "json" (0, 0) "json",
    /// At most so many characters, the ellipsis among them.
    Truncate = "truncate" (1, 2) "truncate: 20",
    TruncateWords = "truncatewords" (1, 2) "truncatewords: 5",
    Replace = "replace" (2, 2) "replace: 'a', 'b'",
    Append = "append" (1, 1) "append: '.html'",
    Prepend = "prepend" (1, 1) "prepend: 'No. '",
    Split = "split" (1, 1) "split: ','",
    Join = "join" (0, 1) "join: ', '",
    /// Of a list the item, of a text the character.
    First = "first" (0, 0) "first",
    Last = "last" (0, 0) "last",
    Size = "size" (0, 0) "size",
    Plus = "plus" (1, 1) "plus: 1",
    Minus = "minus" (1, 1) "minus: 1",
    Times = "times" (1, 1) "times: 2",
    DividedBy = "divided_by" (1, 1) "divided_by: 2",
    Round = "round" (0, 1) "round: 2",
    /// So many decimals, and what stands between thousands and before decimals.
    Number = "number" (0, 3) "number: 2, '.', ','",
    Money = "money" (1, 3) "money: 'EUR'",
    /// In UTC, or at an offset from it.
    Date = "date" (1, 2) "date: '%d.%m.%Y', '+01:00'",
    /// Escapes for HTML and makes line breaks of newlines.
    NewlineToBr = "newline_to_br" (0, 0) "newline_to_br",
    /// Nothing is escaped: for what is known to be safe.
    Raw = "raw" (0, 0) "raw",
}

/// What a filter works with.
pub struct Bench<'b> {
    pub budget: &'b mut Budget,
    pub now: Timestamp,
}

impl Filter {
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter();
        all.find(|filter| filter.name() == name).copied()
    }

    /// What is wrong with arguments that are known already.
    pub fn check(self, args: &[Source]) -> Option<String> {
        match (self, args) {
            (Self::Date, [Source::Literal(Value::Text(format)), ..]) => date::check(format),
            _ => None,
        }
    }

    /// What a missing value becomes counts as missing, unless this says otherwise.
    pub const fn is_for_missing(self) -> bool {
        matches!(self, Self::Default | Self::Json | Self::Size)
    }

    pub fn apply<'a>(
        self,
        input: Cow<'a, Value>,
        args: &[Cow<'a, Value>],
        bench: &mut Bench<'_>,
    ) -> Result<Cow<'a, Value>, Limit> {
        bench.budget.step()?;
        match self {
            Self::Default => Ok(or_else(input, args)),
            Self::Raw => Ok(input),
            Self::First | Self::Last | Self::Size | Self::Join | Self::Split => {
                list::apply(self, input, args, bench)
            }
            Self::Plus | Self::Minus | Self::Times | Self::DividedBy => {
                Ok(Cow::Owned(number::reckon(self, &input, args)))
            }
            Self::Round | Self::Number | Self::Money => number::apply(self, &input, args, bench),
            Self::Date => date::apply(input, args, bench),
            Self::Json => text::json(&input, bench),
            _ => {
                let shown = show(&input, bench.budget)?;
                let made = text::apply(self, &shown, args, bench)?;
                Ok(Cow::Owned(Value::Text(made)))
            }
        }
    }
}

fn or_else<'a>(input: Cow<'a, Value>, args: &[Cow<'a, Value>]) -> Cow<'a, Value> {
    let is_empty = match input.as_ref() {
        Value::Null | Value::Bool(false) => true,
        Value::Text(text) => text.is_empty(),
        Value::List(list) => list.is_empty(),
        _ => false,
    };
    match args.first() {
        Some(other) if is_empty => other.clone(),
        _ => input,
    }
}

/// An argument as a text.
fn text_arg<'v>(
    args: &'v [Cow<'_, Value>],
    at: usize,
    bench: &mut Bench<'_>,
) -> Result<Option<Cow<'v, str>>, Limit> {
    args.get(at).map(|arg| show(arg, bench.budget)).transpose()
}

/// An argument as a number that counts something.
fn count_arg(args: &[Cow<'_, Value>], at: usize) -> Option<usize> {
    match args.get(at)?.as_ref() {
        Value::Int(int) => Some(usize::try_from(*int).unwrap_or(0)),
        Value::Float(float) => Some(float.max(0.0) as usize),
        Value::Text(text) => text.trim().parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
