//! The one way an expression is written: what `parse` reads, printed so that equal trees give
//! equal text.

use std::fmt::{self, Display, Formatter, Write as _};

use super::ast::{Aggregate, Entity, Expr, ExprKind, Literal, Operand, OperandKind, Path, Root};
use super::lex::print_duration;

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Const(value) => f.write_str(if *value { "TRUE" } else { "FALSE" }),
            ExprKind::And(parts) => {
                join(f, parts, " AND ", |part| !matches!(part, ExprKind::Or(_)))
            }
            ExprKind::Or(parts) => join(f, parts, " OR ", |_| true),
            ExprKind::Not(inner) => print_not(f, inner),
            ExprKind::Compare { left, op, right } => write!(f, "{left} {} {right}", op.text()),
            ExprKind::In {
                operand,
                list,
                negated,
            } => {
                write!(f, "{operand}{} IN (", not(*negated))?;
                separated(f, list)?;
                f.write_char(')')
            }
            ExprKind::Between {
                operand,
                low,
                high,
                negated,
            } => {
                write!(f, "{operand}{} BETWEEN {low} AND {high}", not(*negated))
            }
            ExprKind::Text {
                operand,
                op,
                pattern,
                negated,
            } => {
                write!(f, "{operand}{} {} {pattern}", not(*negated), op.text())
            }
            ExprKind::IsNull { operand, negated } => {
                write!(f, "{operand} IS{} NULL", not(*negated))
            }
            ExprKind::Exists { entity, filter } => print_exists(f, *entity, filter.as_deref()),
            ExprKind::Unreadable => f.write_str("…"),
        }
    }
}

const fn not(negated: bool) -> &'static str {
    if negated { " NOT" } else { "" }
}

/// Parts with a word between; a part that is not `plain` there gets parentheses.
fn join(
    f: &mut Formatter<'_>,
    parts: &[Expr],
    word: &str,
    plain: fn(&ExprKind) -> bool,
) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            f.write_str(word)?;
        }
        // A chain inside a chain of its own kind was written with parentheses.
        let same = matches!(
            (word, &part.kind),
            (" AND ", ExprKind::And(_)) | (" OR ", ExprKind::Or(_))
        );
        if plain(&part.kind) && !same {
            write!(f, "{part}")?
        } else {
            write!(f, "({part})")?
        }
    }
    Ok(())
}

fn print_not(f: &mut Formatter<'_>, inner: &Expr) -> fmt::Result {
    match inner.kind {
        ExprKind::And(_) | ExprKind::Or(_) => write!(f, "NOT ({inner})"),
        _ => write!(f, "NOT {inner}"),
    }
}

fn print_exists(f: &mut Formatter<'_>, entity: Entity, filter: Option<&Expr>) -> fmt::Result {
    let entity = match entity {
        Entity::Event => "event",
        Entity::Contact => "contact",
    };
    match filter {
        Some(filter) => write!(f, "EXISTS ({entity} WHERE {filter})"),
        None => write!(f, "EXISTS {entity}"),
    }
}

fn separated(f: &mut Formatter<'_>, list: &[Literal]) -> fmt::Result {
    for (index, literal) in list.iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{literal}")?;
    }
    Ok(())
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            OperandKind::Literal(literal) => write!(f, "{literal}"),
            OperandKind::Path(path) => write!(f, "{path}"),
            OperandKind::Now => f.write_str("now()"),
            OperandKind::Shifted { base, micros } => {
                let sign = if *micros < 0 { '-' } else { '+' };
                write!(f, "{base} {sign} {}", print_duration(micros.abs()))
            }
            OperandKind::Aggregate(aggregate) => write!(f, "{aggregate}"),
            OperandKind::Unreadable => f.write_str("…"),
        }
    }
}

impl Display for Aggregate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}(event", self.function.text())?;
        print_names(f, &self.names)?;
        if let Some(filter) = &self.filter {
            write!(f, " WHERE {filter}")?;
        }
        f.write_char(')')
    }
}

impl Display for Path {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let (Root::Given, Some((name, names))) = (self.root, self.names.split_first()) {
            f.write_str(name)?;
            return print_names(f, names);
        }
        f.write_str(self.root.text())?;
        print_names(f, &self.names)
    }
}

fn print_names(f: &mut Formatter<'_>, names: &[String]) -> fmt::Result {
    names.iter().try_for_each(|name| {
        if is_plain(name) {
            write!(f, ".{name}")
        } else {
            write!(f, ".\"{}\"", name.replace('"', "\"\""))
        }
    })
}

fn is_plain(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|c| c.is_alphabetic() || c == '_' || c == '$')
        && letters.all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Bool(true) => f.write_str("TRUE"),
            Self::Bool(false) => f.write_str("FALSE"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
            Self::Time(time) => write!(f, "timestamp '{time}'"),
            Self::Duration(micros) => f.write_str(&print_duration(*micros)),
        }
    }
}
