//! Random expressions and facts for property tests, here and in the world's columns.

use proptest::prelude::*;

use super::{EventFact, Facts};
use crate::time::Timestamp;
use crate::value::{Object, Value};

/// What a name's values are made of. Most columns hold one kind, so most tests should, too.
#[derive(Debug, Clone, Copy)]
pub enum Make {
    Int,
    Quarter,
    Double,
    Text,
    Time,
    Bool,
    List,
    Object,
    Anything,
}

const MAKES: [Make; 9] = [
    Make::Int,
    Make::Quarter,
    Make::Double,
    Make::Text,
    Make::Time,
    Make::Bool,
    Make::List,
    Make::Object,
    Make::Anything,
];

/// What `a`, `b` and `c` are made of.
pub type Makes = [Make; 3];

pub fn makes() -> impl Strategy<Value = Makes> {
    prop::array::uniform3(prop::sample::select(MAKES.to_vec()))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-c]{0,2}", 1 => Just("ä日".to_owned()), 1 => Just("😀a".to_owned())]
}

fn time_text() -> impl Strategy<Value = String> {
    (0..60i64, 0..2i64).prop_map(|(halves, micros)| {
        let start = Timestamp::from_micros(1_780_315_200_000_000);
        start.shifted(halves * 43_200_000_000 + micros).to_string()
    })
}

pub fn value(make: Make) -> BoxedStrategy<Value> {
    match make {
        Make::Int => (-4..4i64).prop_map(Value::Int).boxed(),
        Make::Quarter => (-80..80i32)
            .prop_map(|n| Value::Float(f64::from(n) / 4.0))
            .boxed(),
        Make::Double => prop_oneof![
            (-9..9i32).prop_map(|n| Value::Float(f64::from(n) / 10.0)),
            Just(Value::Int(9_007_199_254_740_993)),
            Just(Value::Float(1e300)),
            Just(Value::Float(-0.0)),
        ]
        .boxed(),
        Make::Text => text().prop_map(Value::Text).boxed(),
        Make::Time => time_text().prop_map(Value::Text).boxed(),
        Make::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Make::List => prop::collection::vec(scalar(), 0..3)
            .prop_map(Value::List)
            .boxed(),
        Make::Object => prop::collection::btree_map("[a-b]", scalar(), 0..3)
            .prop_map(Value::Object)
            .boxed(),
        Make::Anything => prop_oneof![
            4 => scalar(),
            1 => value(Make::List),
            1 => value(Make::Object),
        ]
        .boxed(),
    }
}

fn scalar() -> BoxedStrategy<Value> {
    prop_oneof![
        value(Make::Int),
        value(Make::Quarter),
        value(Make::Text),
        value(Make::Time),
        value(Make::Bool),
        Just(Value::Null),
    ]
    .boxed()
}

/// Some of `a`, `b` and `c`; sometimes one says explicitly that it is nothing.
pub fn object(makes: Makes) -> impl Strategy<Value = Object> {
    let slot = |make| {
        prop_oneof![
            5 => value(make).prop_map(Some),
            2 => Just(None),
            1 => Just(Some(Value::Null)),
        ]
    };
    (slot(makes[0]), slot(makes[1]), slot(makes[2])).prop_map(|(a, b, c)| {
        let named = [("a", a), ("b", b), ("c", c)];
        let given = named
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)));
        given.collect()
    })
}

pub fn facts() -> impl Strategy<Value = Facts> {
    let start = Timestamp::from_micros(1_780_315_200_000_000);
    (makes(), makes()).prop_flat_map(move |(own, theirs)| {
        let event =
            ("[a-c]", 0..40i64, object(theirs)).prop_map(move |(event_type, days, properties)| {
                EventFact {
                    event_type,
                    event_time: start.shifted(days * 86_400_000_000 / 2),
                    properties,
                }
            });
        (object(own), prop::collection::vec(event, 0..6)).prop_map(|(attributes, events)| Facts {
            created_at: Some(Timestamp::from_micros(1_781_438_400_000_000)),
            attributes,
            events,
            ..Facts::default()
        })
    })
}

fn literal() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => (-50..50i32).prop_map(|n| format!("{}", f64::from(n) / 4.0)),
        2 => (-4..4i32).prop_map(|n| n.to_string()),
        1 => Just("0.1".to_owned()),
        3 => text().prop_map(|t| format!("'{t}'")),
        1 => Just("'it''s'".to_owned()),
        1 => prop::sample::select(vec!["TRUE".to_owned(), "FALSE".to_owned()]),
        2 => time_text().prop_map(|t| format!("timestamp '{t}'")),
    ]
}

fn operand(in_event: bool) -> impl Strategy<Value = String> {
    let paths = if in_event {
        "contact\\.[a-c]|properties\\.[a-c]|properties\\.[a-c]|properties\\.a\\.b|event_type|event_time|event_time"
    } else {
        "contact\\.[a-c]|contact\\.[a-c]|contact\\.a\\.b|contact\\.created_at|contact\\.user_id"
    };
    prop_oneof![
        6 => paths.prop_map(String::from),
        3 => literal(),
        2 => (1..20i32, "[smhdw]").prop_map(|(n, unit)| format!("now() - {n}{unit}")),
        1 => (paths, 1..20i32, "[dw]").prop_map(|(path, n, unit)| format!("{path} + {n}{unit}")),
    ]
}

/// `event_type = 'a'` often stands in filters, as it does in life.
fn filter(depth: u32) -> BoxedStrategy<String> {
    prop_oneof![
        2 => expression(depth, true),
        2 => ("[a-c]", expression(depth, true))
            .prop_map(|(t, e)| format!("event_type = '{t}' AND ({e})")),
        1 => ("[a-c]", "[a-c]", expression(depth, true))
            .prop_map(|(s, t, e)| format!("event_type IN ('{s}', '{t}') AND ({e})")),
        1 => ("[a-c]", 1..30i32)
            .prop_map(|(t, n)| format!("event_type = '{t}' AND event_time > now() - {n}d")),
    ]
    .boxed()
}

fn leaf(in_event: bool) -> BoxedStrategy<String> {
    let op = prop::sample::select(vec![
        "=",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "CONTAINS",
        "NOT CONTAINS",
        "NOT STARTS_WITH",
        "ENDS_WITH",
    ]);
    let not = || prop::sample::select(vec!["", "NOT "]);
    let operand = move || operand(in_event);
    prop_oneof![
        4 => (operand(), op, operand()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        1 => (operand(), not(), literal(), literal())
            .prop_map(|(a, not, x, y)| format!("{a} {not}IN ({x}, {y})")),
        1 => (operand(), not(), operand(), operand())
            .prop_map(|(a, not, x, y)| format!("{a} {not}BETWEEN {x} AND {y}")),
        1 => (operand(), not()).prop_map(|(a, not)| format!("{a} {not}MATCHES '^[ab]'")),
        1 => (operand(), not()).prop_map(|(a, not)| format!("{a} IS {not}NULL")),
    ]
    .boxed()
}

fn aggregate(depth: u32) -> impl Strategy<Value = String> {
    let function = "COUNT|SUM|AVG|MIN|MAX".prop_map(String::from);
    let number = (-3..9i32).prop_map(|n| format!("{}", f64::from(n) / 2.0));
    let op = || prop::sample::select(vec!["=", "!=", "<", ">="]);
    prop_oneof![
        3 => (function, "[a-c]|a\\.b", filter(depth), op(), number.clone())
            .prop_map(|(g, p, f, op, n)| format!("{g}(event.properties.{p} WHERE {f}) {op} {n}")),
        2 => (filter(depth), op(), number)
            .prop_map(|(f, op, n)| format!("COUNT(event WHERE {f}) {op} {n}")),
        1 => ("MIN|MAX", filter(depth), op(), 1..20i32)
            .prop_map(|(g, f, op, n)| format!("{g}(event.event_time WHERE {f}) {op} now() - {n}d")),
        1 => filter(depth).prop_map(|f| format!("AVG(event.properties.a WHERE {f}) IS NULL")),
    ]
}

pub fn expression(depth: u32, in_event: bool) -> BoxedStrategy<String> {
    if depth == 0 {
        return leaf(in_event);
    }
    let inner = || expression(depth - 1, in_event);
    prop_oneof![
        4 => leaf(in_event),
        2 => (inner(), inner()).prop_map(|(a, b)| format!("{a} AND ({b})")),
        2 => (inner(), inner(), inner()).prop_map(|(a, b, c)| format!("({a} OR {b}) OR {c}")),
        2 => inner().prop_map(|a| format!("NOT ({a})")),
        2 => filter(depth - 1).prop_map(|f| format!("EXISTS (event WHERE {f})")),
        2 => aggregate(depth - 1),
    ]
    .boxed()
}

/// One value of a contact or of an event against a constant: what kernels decide.
pub fn simple() -> BoxedStrategy<String> {
    let op = prop::sample::select(vec![
        "=",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "CONTAINS",
        "NOT CONTAINS",
    ]);
    let not = || prop::sample::select(vec!["", "NOT "]);
    let test = prop_oneof![
        4 => (op, literal()).prop_map(|(op, a)| format!("{op} {a}")),
        2 => (not(), literal(), literal()).prop_map(|(not, a, b)| format!("{not}IN ({a}, {b})")),
        1 => not().prop_map(|not| format!("{not}IN ('b', 'a', 'none', 'ab')")),
        2 => (not(), -4..4i32, -4..4i32)
            .prop_map(|(not, a, b)| format!("{not}BETWEEN {a}.5 AND {b}")),
        1 => (not(), 1..20i32, 1..20i32)
            .prop_map(|(not, a, b)| format!("{not}BETWEEN now() - {a}d AND now() + {b}d")),
        1 => not().prop_map(|not| format!("{not}MATCHES '^[ab]'")),
        1 => not().prop_map(|not| format!("IS {not}NULL")),
    ];
    let of_contact = ("[a-c]|a\\.b", test.clone()).prop_map(|(p, t)| format!("contact.{p} {t}"));
    let of_event = ("[a-c]", "[a-c]|a\\.b", test, 1..3i32).prop_map(|(event, p, t, n)| {
        format!("COUNT(event WHERE event_type = '{event}' AND properties.{p} {t}) >= {n}")
    });
    prop_oneof![of_contact, of_event].boxed()
}
