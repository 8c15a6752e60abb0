//! A command as Redis spells it.

use std::ops::Bound;

use ::redis::{Cmd, cmd};

use crate::kv::{Command, Cursor, Error, Order, Reply, ScoreRange, Scored};

/// Answers the sum as text: Lua knows only doubles, which lose integers above 2^53.
const INCREMENT_LUA: &str = "\
local is_new = redis.call('EXISTS', KEYS[1]) == 0
redis.call('INCRBY', KEYS[1], ARGV[1])
if is_new then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return redis.call('GET', KEYS[1])";

const COMPARE_DELETE_LUA: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0";

/// The command to send, or the reply when it is settled without asking.
pub(super) fn unsettled(command: &Command) -> Result<Cmd, Reply> {
    command.settled().map_or_else(|| encode(command), Err)
}

/// A script, by its hash or with its text.
pub(super) fn script(verb: &str, body: &str, keys: &[String], args: &[Vec<u8>]) -> Cmd {
    cmd(verb)
        .arg(body)
        .arg(keys.len())
        .arg(keys)
        .arg(args)
        .take()
}

/// The command to send, or the reply when there is nothing to send.
fn encode(command: &Command) -> Result<Cmd, Reply> {
    use Command as C;
    Ok(match command {
        C::Get { key } => on("GET", key),
        C::Set {
            key,
            value,
            ttl_ms,
            if_absent,
        } => set(key, value, *ttl_ms, *if_absent),
        C::CompareDelete { key, value } => eval(COMPARE_DELETE_LUA, key).arg(value).take(),
        C::Delete { keys } => cmd("DEL").arg(keys).take(),
        C::Exists { key } => on("EXISTS", key),
        C::Expire { key, ttl_ms } => on("PEXPIRE", key).arg(ttl_ms).take(),
        C::Persist { key } => on("PERSIST", key),
        C::TtlMs { key } => on("PTTL", key),
        C::Increment {
            key,
            by,
            ttl_ms: None,
        } => on("INCRBY", key).arg(by).take(),
        C::Increment {
            key,
            by,
            ttl_ms: Some(ttl_ms),
        } => eval(INCREMENT_LUA, key).arg(by).arg(ttl_ms).take(),
        C::HashSet { key, fields } => on("HSET", key).arg(fields.as_slice()).take(),
        C::HashGet { key, field } => on("HGET", key).arg(field).take(),
        C::HashGetAll { key } => on("HGETALL", key),
        C::HashDelete { key, fields } => on("HDEL", key).arg(fields).take(),
        C::SetAdd { key, members } => on("SADD", key).arg(members).take(),
        C::SetRemove { key, members } => on("SREM", key).arg(members).take(),
        C::SetMembers { key } => on("SMEMBERS", key),
        C::SetContains { key, member } => on("SISMEMBER", key).arg(member).take(),
        C::SetCount { key } => on("SCARD", key),
        C::SortedAdd { key, members } => sorted_add(key, members),
        C::SortedRemove { key, members } => on("ZREM", key).arg(members).take(),
        C::SortedRange {
            key,
            start,
            stop,
            order,
        } => {
            let verb = by_order(*order, "ZRANGE", "ZREVRANGE");
            on(verb, key).arg(start).arg(stop).arg("WITHSCORES").take()
        }
        C::SortedRangeByScore { key, range } => sorted_range_by_score(key, range),
        C::SortedScore { key, member } => on("ZSCORE", key).arg(member).take(),
        C::SortedCount { key } => on("ZCARD", key),
        C::Scan {
            cursor,
            prefix,
            count,
        } => scan(cursor.as_ref(), prefix, *count)?,
    })
}

fn on(verb: &str, key: &str) -> Cmd {
    cmd(verb).arg(key).take()
}

/// With its whole text, not its hash: inside a pipeline there is no second try for an unknown one.
fn eval(lua: &str, key: &str) -> Cmd {
    cmd("EVAL").arg(lua).arg(1).arg(key).take()
}

fn set(key: &str, value: &[u8], ttl_ms: Option<u64>, if_absent: bool) -> Cmd {
    let mut set = on("SET", key).arg(value).take();
    if let Some(ttl_ms) = ttl_ms {
        set.arg("PX").arg(ttl_ms);
    }
    if if_absent {
        set.arg("NX");
    }
    set
}

fn sorted_add(key: &str, members: &[Scored]) -> Cmd {
    let mut add = on("ZADD", key);
    for scored in members {
        add.arg(scored.score).arg(&scored.member);
    }
    add
}

fn sorted_range_by_score(key: &str, range: &ScoreRange) -> Cmd {
    let (min, max) = (score(range.min, "-inf"), score(range.max, "+inf"));
    let verb = by_order(range.order, "ZRANGEBYSCORE", "ZREVRANGEBYSCORE");
    let (first, last) = by_order(range.order, (&min, &max), (&max, &min));
    on(verb, key)
        .arg(first)
        .arg(last)
        .arg("WITHSCORES")
        .arg("LIMIT")
        .arg(0)
        .arg(range.limit)
        .take()
}

fn by_order<T>(order: Order, ascending: T, descending: T) -> T {
    match order {
        Order::Ascending => ascending,
        Order::Descending => descending,
    }
}

/// Rust prints the shortest digits that read back as the same number, and `inf`, as Redis reads.
fn score(bound: Bound<f64>, unbounded: &str) -> String {
    match bound {
        Bound::Included(score) => score.to_string(),
        Bound::Excluded(score) => format!("({score}"),
        Bound::Unbounded => unbounded.to_owned(),
    }
}

fn scan(cursor: Option<&Cursor>, prefix: &str, count: u32) -> Result<Cmd, Reply> {
    let cursor = cursor.map_or(Ok(0), |cursor| cursor.0.parse::<u64>());
    let refused = |_| Reply::Failed(Error::Refused("the cursor is not one of Redis".to_owned()));
    Ok(scan_from(cursor.map_err(refused)?, prefix, count))
}

pub(super) fn scan_from(cursor: u64, prefix: &str, count: u32) -> Cmd {
    let mut scan = cmd("SCAN");
    scan.arg(cursor);
    scan.arg("MATCH").arg(glob(prefix));
    scan.arg("COUNT").arg(count).take()
}

/// A pattern for exactly this prefix, whatever characters it has.
fn glob(prefix: &str) -> String {
    let mut pattern = String::with_capacity(prefix.len() + 1);
    for character in prefix.chars() {
        if matches!(character, '*' | '?' | '[' | ']' | '\\' | '^') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('*');
    pattern
}
