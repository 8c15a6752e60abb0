//! Several steps as one.

use ::redis::cluster_routing::Slot;

use super::{Error, Keyspace, Reply, Ttl};

/// The Rust half of a [`Script`]: the keyspace, the keys, the arguments.
pub type Local = fn(&mut Keyspace<'_>, &[String], &[Vec<u8>]) -> Result<Reply, Error>;

/// The same atomic step written twice: in Lua for Redis, in Rust for memory.
///
/// Both must touch only the keys they are given, take time as an argument, and answer with
/// [`Reply::Integer`], [`Reply::Value`] or a [`Reply::List`] of these. A script is only finished
/// when a contract case runs it on both backends.
#[derive(Debug, Clone, Copy)]
pub struct Script {
    pub name: &'static str,
    pub lua: &'static str,
    pub local: Local,
}

impl Script {
    /// A cluster can run a script only where all of its keys are.
    pub(super) fn check(&self, keys: &[String]) -> Result<(), Error> {
        let Some((first, others)) = keys.split_first() else {
            return Ok(());
        };
        let (slot, tag) = (Slot::for_key(first), tag(first));
        // The same tag, the same slot: of thousands of keys that is quicker told.
        let is_elsewhere =
            |key: &&String| (tag.is_none() || self::tag(key) != tag) && Slot::for_key(key) != slot;
        match others.iter().find(is_elsewhere) {
            None => Ok(()),
            Some(other) => Err(Error::Refused(format!(
                "the script {} takes {first} and {other}, which lie in two slots of a cluster: \
                 give them the same {{part in braces}}",
                self.name
            ))),
        }
    }

    /// Redis does not say which key had the wrong type, so no backend does.
    pub(super) fn wrong_type(keys: &[String]) -> Error {
        Error::WrongType {
            key: keys.join(", "),
        }
    }
}

/// What decides about the slot of a key that has such a part: what stands in its first braces,
/// if that is something.
fn tag(key: &str) -> Option<&str> {
    let (_, rest) = key.split_once('{')?;
    let (tag, _) = rest.split_once('}')?;
    (!tag.is_empty()).then_some(tag)
}

/// Deletes a key that will never expire; answers 1 if it did. Asked and done as one, so that a
/// key that is given a time to live meanwhile stays.
pub const DELETE_ETERNAL: Script = Script {
    name: "delete what does not expire",
    lua: "if redis.call('PTTL', KEYS[1]) == -1 then return redis.call('DEL', KEYS[1]) end
          return 0",
    local: |keyspace, keys, _| {
        let is_eternal = keyspace.ttl_ms(&keys[0]) == Ttl::Forever;
        let is_deleted = is_eternal && keyspace.delete(&keys[0]);
        Ok(Reply::Integer(i64::from(is_deleted)))
    },
};

/// Sets a value that says how new it is, unless what is there is as new: text, a space, the rest.
/// Arguments: how new, the value, the time to live. Answers 1 if it was set.
pub const SET_NEWER: Script = Script {
    name: "set what is newer",
    lua: "local held = redis.call('GET', KEYS[1])
          local at = held and tonumber(string.match(held, '^%d+')) or -1
          if at >= tonumber(ARGV[1]) then return 0 end
          local value = ARGV[1] .. ' ' .. ARGV[2]
          if ARGV[3] == '0' then redis.call('SET', KEYS[1], value)
          else redis.call('SET', KEYS[1], value, 'PX', ARGV[3]) end
          return 1",
    local: |keyspace, keys, args| {
        let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<i64>().ok();
        let wrong = || Error::Refused("not a number".to_owned());
        let at = number(&args[0]).ok_or_else(wrong)?;
        let ttl_ms = number(&args[2]).and_then(|ms| u64::try_from(ms).ok());
        let held = keyspace.get(&keys[0])?;
        let digits = |held: Vec<u8>| {
            let count = held.iter().take_while(|byte| byte.is_ascii_digit()).count();
            number(&held[..count])
        };
        if held.and_then(digits).unwrap_or(-1) >= at {
            return Ok(Reply::Integer(0));
        }
        let value = [&args[0], b" ".as_slice(), &args[1]].concat();
        let ttl_ms = ttl_ms.ok_or_else(wrong)?;
        keyspace.set(&keys[0], value, (ttl_ms > 0).then_some(ttl_ms));
        Ok(Reply::Integer(1))
    },
};

/// Sets a value where still stands what is expected there. Arguments: what is expected, the value,
/// the time to live. Answers 1 if it was set.
pub const SET_IF_SAME: Script = Script {
    name: "set where the same still stands",
    lua: "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
          redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
          return 1",
    local: |keyspace, keys, args| {
        let text = std::str::from_utf8(&args[2]).ok();
        let ttl_ms = text.and_then(|text| text.parse().ok());
        let ttl_ms = ttl_ms.ok_or_else(|| Error::Refused("not a number".to_owned()))?;
        if keyspace.get(&keys[0])?.as_ref() != Some(&args[0]) {
            return Ok(Reply::Integer(0));
        }
        keyspace.set(&keys[0], args[1].clone(), Some(ttl_ms));
        Ok(Reply::Integer(1))
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a script takes these keys.
    fn takes(keys: &[&str]) -> bool {
        let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
        DELETE_ETERNAL.check(&keys).is_ok()
    }

    #[test]
    fn keys_of_one_script_share_a_slot() {
        assert!(takes(&["a:{t}:1", "b:{t}:2", "{t}", "c:{t}:{u}"]));
        assert!(!takes(&["a:{t}:1", "a:{u}:1"]));
        // Who has the tag for a name lies in its slot; an empty tag is none.
        assert!(takes(&["a:{t}:1", "t"]) && takes(&["t", "a:{t}:1"]));
        assert!(!takes(&["a:{}:1", "a:{}:2"]));
        assert!(takes(&["a:{}:1", "a:{}:1"]));
    }
}
