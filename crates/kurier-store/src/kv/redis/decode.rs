//! What Redis says, as a reply.

use ::redis::{FromRedisValue, ServerError, Value, from_redis_value};

use crate::kv::{Command, Cursor, Error, Page, Reply, Scored, Script, Ttl};

/// The reply to a command. Read by what the command promises and not by what the value looks
/// like, so that both versions of the protocol read alike.
pub(super) fn reply(command: &Command, value: Value) -> Reply {
    if let Value::ServerError(error) = &value {
        return Reply::Failed(server_error(error, command.key()));
    }
    expected(command, value).unwrap_or_else(Reply::Failed)
}

fn expected(command: &Command, value: Value) -> Result<Reply, Error> {
    use Command as C;
    Ok(match command {
        C::Get { .. } | C::HashGet { .. } => Reply::Value(read(value)?),
        // "OK", or nothing when the key was there.
        C::Set { .. } => Reply::Flag(!matches!(value, Value::Nil)),
        C::CompareDelete { .. }
        | C::Exists { .. }
        | C::Expire { .. }
        | C::Persist { .. }
        | C::SetContains { .. } => Reply::Flag(read(value)?),
        C::TtlMs { .. } => Reply::Ttl(ttl(read(value)?)),
        C::Delete { .. }
        | C::Increment { .. }
        | C::HashSet { .. }
        | C::HashDelete { .. }
        | C::SetAdd { .. }
        | C::SetRemove { .. }
        | C::SetCount { .. }
        | C::SortedAdd { .. }
        | C::SortedRemove { .. }
        | C::SortedCount { .. } => Reply::Integer(read(value)?),
        C::HashGetAll { .. } => Reply::Fields(read(value)?),
        C::SetMembers { .. } => Reply::Members(read(value)?),
        C::SortedRange { .. } | C::SortedRangeByScore { .. } => Reply::Scored(scored(value)?),
        C::SortedScore { .. } => Reply::Score(read(value)?),
        C::Scan { .. } => Reply::Page(page(value)?),
    })
}

/// The reply to a script, or why it failed.
pub(super) fn script_reply(value: Value, keys: &[String]) -> Result<Reply, Error> {
    match value {
        Value::ServerError(error) if is_wrong_type(Some(error.code()), error.details()) => {
            Err(Script::wrong_type(keys))
        }
        Value::ServerError(error) => Err(server_error(&error, "")),
        value => script_value(value),
    }
}

/// The reply to something that answers nothing worth reading.
pub(super) fn no_error(value: Value) -> Result<(), Error> {
    match value {
        Value::ServerError(error) => Err(server_error(&error, "")),
        _ => Ok(()),
    }
}

/// Only what [`Script`] allows.
fn script_value(value: Value) -> Result<Reply, Error> {
    match value {
        Value::Nil => Ok(Reply::Value(None)),
        Value::Int(integer) => Ok(Reply::Integer(integer)),
        Value::BulkString(bytes) => Ok(Reply::Value(Some(bytes))),
        Value::SimpleString(text) => Ok(Reply::Value(Some(text.into_bytes()))),
        Value::Okay => Ok(Reply::Value(Some(b"OK".to_vec()))),
        Value::Array(values) => values
            .into_iter()
            .map(script_value)
            .collect::<Result<_, _>>()
            .map(Reply::List),
        _ => Err(Error::Unexpected("the reply of a script".to_owned())),
    }
}

pub(super) fn server_error(error: &ServerError, key: &str) -> Error {
    let text = format!("{} {}", error.code(), error.details().unwrap_or_default());
    if is_wrong_type(Some(error.code()), error.details()) {
        Error::WrongType {
            key: key.to_owned(),
        }
    } else if is_passing(error.code()) {
        Error::Unavailable(text)
    } else {
        Error::Refused(text)
    }
}

/// Before version 7, Redis wraps an error inside a script in a general one: then the code is in
/// the text.
pub(super) fn is_wrong_type(code: Option<&str>, details: Option<&str>) -> bool {
    let is_wrapped = details.is_some_and(|details| details.contains(": WRONGTYPE "));
    code == Some("WRONGTYPE") || code == Some("ERR") && is_wrapped
}

/// States of a server that pass by themselves or by an operator's hand.
pub(super) fn is_passing(code: &str) -> bool {
    const PASSING: [&str; 10] = [
        "ASK",
        "BUSY",
        "CLUSTERDOWN",
        "LOADING",
        "MASTERDOWN",
        "MISCONF",
        "MOVED",
        "OOM",
        "READONLY",
        "TRYAGAIN",
    ];
    PASSING.contains(&code)
}

fn read<T: FromRedisValue>(value: Value) -> Result<T, Error> {
    // The error would quote the value, which may be contact data.
    from_redis_value(value)
        .map_err(|_| Error::Unexpected(format!("not a {}", std::any::type_name::<T>())))
}

pub(super) fn ttl(ms: i64) -> Ttl {
    match u64::try_from(ms) {
        Ok(ms) => Ttl::Ms(ms),
        Err(_) if ms == -1 => Ttl::Forever,
        Err(_) => Ttl::Missing,
    }
}

fn scored(value: Value) -> Result<Vec<Scored>, Error> {
    let pairs: Vec<(Vec<u8>, f64)> = read(value)?;
    Ok(pairs
        .into_iter()
        .map(|(member, score)| Scored { member, score })
        .collect())
}

/// Where a scan goes on, and the keys it found.
pub(super) fn scanned(value: Value) -> Result<(u64, Vec<String>), Error> {
    match value {
        Value::ServerError(error) => Err(server_error(&error, "")),
        value => read(value),
    }
}

fn page(value: Value) -> Result<Page, Error> {
    let (cursor, keys) = scanned(value)?;
    let next = (cursor != 0).then(|| Cursor(cursor.to_string()));
    Ok(Page { keys, next })
}
