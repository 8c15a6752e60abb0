//! Commands to ask with: one of each that needs a type, and random ones.

use std::ops::Bound;

use kurier_store::kv::{Command, Order, ScoreRange, Scored};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::kv_contract::ground::bytes;

/// Every command that fails on a value of another type, with the type it wants.
pub fn every_read_and_change(key: &str) -> Vec<(&'static str, Command)> {
    let kinds = [
        ("text", on_text(key)),
        ("hash", on_hash(key)),
        ("set", on_set(key)),
        ("sorted", on_sorted(key)),
    ];
    kinds
        .into_iter()
        .flat_map(|(kind, commands)| commands.into_iter().map(move |command| (kind, command)))
        .collect()
}

/// Every command that works on a key of any type. It may change it, but not read its value.
pub fn every_handling(key: &str) -> Vec<Command> {
    let key = || key.to_owned();
    vec![
        Command::Exists { key: key() },
        Command::Delete { keys: vec![key()] },
        Command::Expire {
            key: key(),
            ttl_ms: 60_000,
        },
        Command::Persist { key: key() },
        Command::TtlMs { key: key() },
        Command::Set {
            key: key(),
            value: bytes("a"),
            ttl_ms: None,
            if_absent: true,
        },
    ]
}

fn on_text(key: &str) -> Vec<Command> {
    let key = || key.to_owned();
    vec![
        Command::Get { key: key() },
        Command::CompareDelete {
            key: key(),
            value: bytes("1"),
        },
        Command::Increment {
            key: key(),
            by: 1,
            ttl_ms: None,
        },
        Command::Increment {
            key: key(),
            by: 1,
            ttl_ms: Some(60_000),
        },
    ]
}

fn on_hash(key: &str) -> Vec<Command> {
    let key = || key.to_owned();
    vec![
        Command::HashSet {
            key: key(),
            fields: vec![("a".to_owned(), bytes("a"))],
        },
        Command::HashGet {
            key: key(),
            field: "a".to_owned(),
        },
        Command::HashGetAll { key: key() },
        Command::HashDelete {
            key: key(),
            fields: vec!["b".to_owned()],
        },
    ]
}

fn on_set(key: &str) -> Vec<Command> {
    let key = || key.to_owned();
    vec![
        Command::SetAdd {
            key: key(),
            members: vec![bytes("a")],
        },
        Command::SetRemove {
            key: key(),
            members: vec![bytes("b")],
        },
        Command::SetMembers { key: key() },
        Command::SetContains {
            key: key(),
            member: bytes("a"),
        },
        Command::SetCount { key: key() },
    ]
}

fn on_sorted(key: &str) -> Vec<Command> {
    let (key, order) = (|| key.to_owned(), Order::Ascending);
    let range = ScoreRange {
        min: Bound::Unbounded,
        max: Bound::Unbounded,
        order,
        limit: 9,
    };
    let member = Scored {
        member: bytes("a"),
        score: 2.0,
    };
    vec![
        Command::SortedAdd {
            key: key(),
            members: vec![member],
        },
        Command::SortedRemove {
            key: key(),
            members: vec![bytes("b")],
        },
        Command::SortedRange {
            key: key(),
            start: 0,
            stop: -1,
            order,
        },
        Command::SortedRangeByScore { key: key(), range },
        Command::SortedScore {
            key: key(),
            member: bytes("a"),
        },
        Command::SortedCount { key: key() },
    ]
}

/// How many keys random commands meet on.
pub const KEYS: u8 = 4;

/// Random commands on few keys, fields and members, so that they meet. Times to live are either
/// over at once or far away: between the two, the backends' clocks would decide.
pub fn any_commands(prefix: &str) -> impl Strategy<Value = Vec<Command>> + use<> {
    vec(
        any_command(prefix, (1_000_000..9_000_000_u64).boxed()),
        1..60,
    )
}

/// A random command whose time to live, if it gives one, is one of these or 0.
pub fn any_command(prefix: &str, ttl_ms: BoxedStrategy<u64>) -> BoxedStrategy<Command> {
    let key = any_key(prefix);
    prop_oneof![
        any_text(key.clone(), ttl_ms),
        any_hash_or_set(key.clone()),
        any_sorted(key)
    ]
    .boxed()
}

pub fn any_key(prefix: &str) -> BoxedStrategy<String> {
    let prefix = prefix.to_owned();
    (0..KEYS)
        .prop_map(move |index| format!("{prefix}{index}"))
        .boxed()
}

fn any_text(
    key: BoxedStrategy<String>,
    ttl_ms: BoxedStrategy<u64>,
) -> impl Strategy<Value = Command> {
    use Command as C;
    let far = || prop_oneof![Just(None), ttl_ms.clone().prop_map(Some)];
    let by = prop_oneof![-3..4_i64, any::<i64>()];
    prop_oneof![
        key.clone().prop_map(|key| C::Get { key }),
        (key.clone(), any_value(), far(), any::<bool>()).prop_map(
            |(key, value, ttl_ms, if_absent)| C::Set {
                key,
                value,
                ttl_ms,
                if_absent
            }
        ),
        (key.clone(), any_value()).prop_map(|(key, value)| C::CompareDelete { key, value }),
        vec(key.clone(), 0..3).prop_map(|keys| C::Delete { keys }),
        key.clone().prop_map(|key| C::Exists { key }),
        (key.clone(), far()).prop_map(|(key, ttl)| C::Expire {
            key,
            ttl_ms: ttl.unwrap_or(0)
        }),
        key.clone().prop_map(|key| C::Persist { key }),
        key.clone().prop_map(|key| C::TtlMs { key }),
        (key, by, far()).prop_map(|(key, by, ttl_ms)| C::Increment { key, by, ttl_ms }),
    ]
}

fn any_hash_or_set(key: BoxedStrategy<String>) -> impl Strategy<Value = Command> {
    use Command as C;
    let field = || "[a-cä]{0,1}";
    let fields = vec((field(), any_value()), 0..4);
    prop_oneof![
        (key.clone(), fields).prop_map(|(key, fields)| C::HashSet { key, fields }),
        (key.clone(), field()).prop_map(|(key, field)| C::HashGet { key, field }),
        key.clone().prop_map(|key| C::HashGetAll { key }),
        (key.clone(), vec(field(), 0..4)).prop_map(|(key, fields)| C::HashDelete { key, fields }),
        (key.clone(), any_members()).prop_map(|(key, members)| C::SetAdd { key, members }),
        (key.clone(), any_members()).prop_map(|(key, members)| C::SetRemove { key, members }),
        key.clone().prop_map(|key| C::SetMembers { key }),
        (key.clone(), any_value()).prop_map(|(key, member)| C::SetContains { key, member }),
        key.prop_map(|key| C::SetCount { key }),
    ]
}

fn any_sorted(key: BoxedStrategy<String>) -> impl Strategy<Value = Command> {
    use Command as C;
    let scored = (any_value(), any_score()).prop_map(|(member, score)| Scored { member, score });
    prop_oneof![
        3 => (key.clone(), vec(scored, 0..5))
            .prop_map(|(key, members)| C::SortedAdd { key, members }),
        1 => (key.clone(), any_members())
            .prop_map(|(key, members)| C::SortedRemove { key, members }),
        1 => (key.clone(), -6..6_i64, -6..6_i64, any_order()).prop_map(
            |(key, start, stop, order)| C::SortedRange { key, start, stop, order }
        ),
        2 => (key.clone(), any_range())
            .prop_map(|(key, range)| C::SortedRangeByScore { key, range }),
        1 => (key.clone(), any_value()).prop_map(|(key, member)| C::SortedScore { key, member }),
        1 => key.prop_map(|key| C::SortedCount { key }),
    ]
}

fn any_value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => prop::sample::select(vec!["", "a", "b", "ab", "0", "7", "-1", "+1", "01", "1.0", "é"])
            .prop_map(bytes),
        1 => vec(any::<u8>(), 0..4),
    ]
}

fn any_members() -> impl Strategy<Value = Vec<Vec<u8>>> {
    vec(any_value(), 0..4)
}

fn any_score() -> impl Strategy<Value = f64> {
    let chosen = vec![
        0.0,
        -0.0,
        1.0,
        1.5,
        -1.5,
        0.1,
        1e300,
        -1e-300,
        5e-324,
        -5e-324,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    prop_oneof![4 => prop::sample::select(chosen), 1 => any::<f64>()]
}

fn any_order() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::Ascending), Just(Order::Descending)]
}

fn any_range() -> impl Strategy<Value = ScoreRange> {
    let bound = || {
        prop_oneof![
            Just(Bound::Unbounded),
            any_score().prop_map(Bound::Included),
            any_score().prop_map(Bound::Excluded),
        ]
    };
    (bound(), bound(), any_order(), 0..6_u32).prop_map(|(min, max, order, limit)| ScoreRange {
        min,
        max,
        order,
        limit,
    })
}
