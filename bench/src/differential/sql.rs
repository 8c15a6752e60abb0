//! Kurier's expressions as DuckDB's SQL: written from the tree alone. What SQL does otherwise
//! (NULL in a comparison, NaN that equals itself, kinds that turn into each other) is said here
//! explicitly, so that the members must be the same.

use std::fmt::Write as _;

use kurier_core::expr::{
    Aggregate, CompareOp, Entity, Expr, ExprKind, Function, Literal, Operand, OperandKind, Root,
    TextOp,
};
use kurier_core::time::Timestamp;

/// The numbers of all contacts for whom the expression holds.
pub fn select(expr: &Expr, now: Timestamp) -> String {
    let writer = Writer {
        now: now.as_micros(),
        depth: 0,
    };
    let condition = writer.condition(expr);
    format!("SELECT c.number FROM contacts c WHERE {condition} ORDER BY 1")
}

/// A value by kind: SQL that is NULL where the value is not of that kind.
#[derive(Default, Clone)]
struct Kinds {
    num: Option<String>,
    text: Option<String>,
    boolean: Option<String>,
    time: Option<String>,
    /// A text that is a time, as one.
    parsed: Option<String>,
    list: Option<String>,
    /// Whether there is a value at all.
    there: String,
}

impl Kinds {
    fn known() -> Self {
        Self {
            there: "TRUE".to_owned(),
            ..Self::default()
        }
    }

    /// What counts as an instant where an instant is needed.
    fn instant(&self) -> String {
        let times = [&self.time, &self.parsed];
        let parts: Vec<&str> = times.into_iter().flatten().map(String::as_str).collect();
        format!(
            "coalesce({}, NULL)",
            [&parts[..], &["NULL"]].concat().join(", ")
        )
    }
}

#[derive(Clone, Copy)]
struct Writer {
    now: i64,
    /// How many events are in scope; the innermost is `e{depth}`.
    depth: usize,
}

impl Writer {
    fn condition(self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Const(value) => value.to_string(),
            ExprKind::And(parts) => self.joined(parts, " AND "),
            ExprKind::Or(parts) => self.joined(parts, " OR "),
            ExprKind::Not(inner) => format!("(NOT {})", self.condition(inner)),
            ExprKind::Compare { left, op, right } => {
                compare(&self.operand(left), *op, &self.operand(right))
            }
            ExprKind::In {
                operand,
                list,
                negated,
            } => self.in_list(operand, list, *negated),
            ExprKind::Between {
                operand,
                low,
                high,
                negated,
            } => self.between(operand, (low, high), *negated),
            ExprKind::Text {
                operand,
                op,
                pattern,
                negated,
            } => text_test(
                &self.operand(operand),
                *op,
                &self.operand(pattern),
                *negated,
            ),
            ExprKind::IsNull { operand, negated } => {
                let there = self.operand(operand).there;
                if *negated {
                    there
                } else {
                    format!("(NOT {there})")
                }
            }
            ExprKind::Exists { entity, filter } => self.exists(*entity, filter.as_deref()),
            ExprKind::Unreadable => unreachable!("it was checked"),
        }
    }

    fn joined(self, parts: &[Expr], word: &str) -> String {
        let parts: Vec<String> = parts.iter().map(|part| self.condition(part)).collect();
        format!("({})", parts.join(word))
    }

    fn in_list(self, operand: &Operand, list: &[Literal], negated: bool) -> String {
        let value = self.operand(operand);
        let equal = list
            .iter()
            .map(|item| compare(&value, CompareOp::Equal, &literal(item)));
        let any = format!("({})", equal.collect::<Vec<_>>().join(" OR "));
        if negated {
            format!("({} AND NOT {any})", value.there)
        } else {
            any
        }
    }

    /// Outside is below or above; what cannot be compared is neither inside nor outside.
    fn between(self, operand: &Operand, bounds: (&Operand, &Operand), negated: bool) -> String {
        let value = self.operand(operand);
        let (low, high) = (self.operand(bounds.0), self.operand(bounds.1));
        let (first, word, second) = if negated {
            (CompareOp::Less, "OR", CompareOp::Greater)
        } else {
            (CompareOp::GreaterEqual, "AND", CompareOp::LessEqual)
        };
        let (first, second) = (compare(&value, first, &low), compare(&value, second, &high));
        format!("({first} {word} {second})")
    }

    fn exists(self, entity: Entity, filter: Option<&Expr>) -> String {
        match (entity, filter) {
            (Entity::Contact, None) => "TRUE".to_owned(),
            (Entity::Contact, Some(filter)) => self.condition(filter),
            (Entity::Event, filter) => format!("EXISTS (SELECT 1 {})", self.events(filter)),
        }
    }

    /// The contact's events that pass a filter.
    fn events(self, filter: Option<&Expr>) -> String {
        let inner = self.deeper();
        let filter = filter.map_or_else(|| "TRUE".to_owned(), |filter| inner.condition(filter));
        let event = inner.event();
        format!("FROM events {event} WHERE {event}.contact = c.number AND {filter}")
    }

    const fn deeper(self) -> Self {
        Self {
            depth: self.depth + 1,
            ..self
        }
    }

    fn event(self) -> String {
        format!("e{}", self.depth)
    }

    fn operand(self, operand: &Operand) -> Kinds {
        match &operand.kind {
            OperandKind::Literal(value) => literal(value),
            OperandKind::Path(path) => match path.root {
                Root::Contact => contact(&path.names),
                Root::Event => self.event_field(&path.names),
                Root::System | Root::Journey | Root::Given => self.time(self.now.to_string()),
            },
            OperandKind::Now => self.time(self.now.to_string()),
            OperandKind::Shifted { base, micros } => {
                let moved = format!("({} + {micros})", self.operand(base).instant());
                self.time(moved)
            }
            OperandKind::Aggregate(aggregate) => self.aggregate(aggregate),
            OperandKind::Unreadable => unreachable!("it was checked"),
        }
    }

    fn time(self, sql: String) -> Kinds {
        Kinds {
            there: format!("({sql} IS NOT NULL)"),
            time: Some(sql),
            ..Kinds::default()
        }
    }

    fn event_field(self, names: &[String]) -> Kinds {
        let event = self.event();
        match names[0].as_str() {
            "event_type" => Kinds {
                text: Some(format!("{event}.event_type")),
                ..Kinds::known()
            },
            "event_time" => self.time(format!("{event}.event_time")),
            _ => json(&event, &names[1..]),
        }
    }

    /// Only numbers are added up; nothing adds up to 0 and has no mean. The numbers are added
    /// in the order of arrival, because of what floating point makes of orders.
    fn aggregate(self, aggregate: &Aggregate) -> Kinds {
        let events = self.events(aggregate.filter.as_ref());
        let field = match aggregate.names.as_slice() {
            [] => Kinds::known(),
            names => self.deeper().event_field(names),
        };
        let event = self.deeper().event();
        let number = field.num.unwrap_or_else(|| "NULL".to_owned());
        let sum = format!(
            "list_reduce(list({number} ORDER BY {event}.position) FILTER ({number} IS NOT NULL), lambda x, y: x + y)"
        );
        let value = match aggregate.function {
            Function::Count => format!("CAST(count(*) FILTER ({}) AS DOUBLE)", field.there),
            Function::Sum => format!("coalesce({sum}, 0.0::DOUBLE)"),
            Function::Avg => format!("{sum} / count({number})"),
            Function::Min => format!("min({})", field.time.as_ref().unwrap_or(&number)),
            Function::Max => format!("max({})", field.time.as_ref().unwrap_or(&number)),
        };
        let value = format!("(SELECT {value} {events})");
        if field.time.is_some() && aggregate.function != Function::Count {
            return self.time(value);
        }
        Kinds {
            there: format!("({value} IS NOT NULL)"),
            num: Some(value),
            ..Kinds::default()
        }
    }
}

fn contact(names: &[String]) -> Kinds {
    let texts: Vec<&str> = names.iter().map(String::as_str).collect();
    match texts.as_slice() {
        ["created_at"] => Kinds {
            time: Some("c.created_at".to_owned()),
            ..Kinds::known()
        },
        [name @ ("id" | "user_id")] => Kinds {
            text: Some(format!("c.{name}")),
            there: format!("(c.{name} IS NOT NULL)"),
            ..Kinds::default()
        },
        _ => json("c", names),
    }
}

/// A value out of JSON: see `columns` in bench/peers/differential.py.
fn json(table: &str, names: &[String]) -> Kinds {
    let of = |kind: &str| format!("{table}.{}_{kind}", names.join("_"));
    Kinds {
        num: Some(of("num")),
        text: Some(of("text")),
        boolean: Some(of("bool")),
        time: None,
        parsed: Some(of("parsed")),
        list: Some(of("list")),
        there: of("there"),
    }
}

fn literal(literal: &Literal) -> Kinds {
    let mut kinds = Kinds::known();
    match literal {
        Literal::Number(number) => kinds.num = Some(format!("CAST('{number:e}' AS DOUBLE)")),
        Literal::Text(text) => kinds.text = Some(quoted(text)),
        Literal::Bool(value) => kinds.boolean = Some(value.to_string()),
        Literal::Time(time) => kinds.time = Some(time.as_micros().to_string()),
        Literal::Null | Literal::Duration(_) => unreachable!("it was checked"),
    }
    kinds
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Values of one kind are compared; all else is false, and never NULL. A text meets a time as
/// the time it is, but meets a text as a text.
fn compare(a: &Kinds, op: CompareOp, b: &Kinds) -> String {
    let is_order = op.is_order();
    let pairs = [
        (&a.num, &b.num, true),
        (&a.text, &b.text, true),
        (&a.boolean, &b.boolean, !is_order),
        (&a.time, &b.time, true),
        (&a.time, &b.parsed, true),
        (&a.parsed, &b.time, true),
    ];
    let mut sql = "(FALSE".to_owned();
    for (index, (a, b, has_meaning)) in pairs.into_iter().enumerate() {
        if let (Some(a), Some(b), true) = (a, b, has_meaning) {
            let compared = format!("{a} {} {b}", op.text());
            // NaN is not equal to, below or above anything, nor different from it.
            let sound = if index == 0 {
                format!(" AND NOT isnan({a}) AND NOT isnan({b})")
            } else {
                String::new()
            };
            let _ = write!(sql, " OR coalesce({compared}{sound}, FALSE)");
        }
    }
    sql + ")"
}

/// NULL where the test says nothing of such a value; then neither it nor its negation holds.
fn text_test(value: &Kinds, op: TextOp, pattern: &Kinds, negated: bool) -> String {
    let null = || "NULL".to_owned();
    let text = value.text.clone().unwrap_or_else(null);
    let part = pattern.text.clone().unwrap_or_else(null);
    let of_text = match op {
        TextOp::Contains => format!("contains({text}, {part})"),
        TextOp::StartsWith => format!("starts_with({text}, {part})"),
        TextOp::EndsWith => format!("ends_with({text}, {part})"),
        TextOp::Matches => format!("regexp_matches({text}, {part})"),
    };
    let found = match (&value.list, op) {
        (Some(list), TextOp::Contains) => format!(
            "CASE WHEN {list} IS NOT NULL THEN CASE WHEN {} THEN {} END ELSE {of_text} END",
            pattern.there,
            is_in(list, pattern)
        ),
        _ => of_text,
    };
    format!("coalesce(({found}) = {}, FALSE)", !negated)
}

/// Whether a list has an item of the same kind that is equal.
fn is_in(list: &str, item: &Kinds) -> String {
    let kinds = [
        (
            &item.num,
            "IN ('DOUBLE', 'BIGINT', 'UBIGINT', 'HUGEINT')",
            "TRY_CAST(x AS DOUBLE)",
        ),
        (&item.text, "= 'VARCHAR'", "(x ->> '$')"),
        (&item.boolean, "= 'BOOLEAN'", "TRY_CAST(x AS BOOLEAN)"),
    ];
    let tests = kinds.into_iter().filter_map(|(value, kind, read)| {
        let value = value.as_ref()?;
        Some(format!(
            "coalesce(len(list_filter({list}, lambda x: json_type(x) {kind} AND {read} = {value})) > 0, FALSE)"
        ))
    });
    let tests: Vec<String> = std::iter::once("FALSE".to_owned()).chain(tests).collect();
    format!("({})", tests.join(" OR "))
}
