//! Several steps as one.

use std::sync::Arc;

use kurier_store::kv::{Error, Keyspace, Kv, KvExt, Reply, SET_IF_SAME, SET_NEWER, Script, Ttl};

use crate::kv_contract::ground::{Ground, bytes};

/// Puts the arguments one after the other into the keys, and answers what was there.
const SWAP: Script = Script {
    name: "swap",
    lua: "local old = {}
          for index, key in ipairs(KEYS) do
            old[index] = redis.call('GET', key)
            redis.call('SET', key, ARGV[index])
          end
          return old",
    local: |keyspace, keys, args| {
        let mut old = Vec::new();
        for (key, arg) in keys.iter().zip(args) {
            old.push(Reply::Value(keyspace.get(key)?));
            keyspace.set(key, arg.clone(), None);
        }
        Ok(Reply::List(old))
    },
};

/// Reads, adds one, writes: an update is lost as soon as anybody comes between.
pub const ADD_ONE: Script = Script {
    name: "add one",
    lua: "local sum = tonumber(redis.call('GET', KEYS[1]) or '0') + 1
          redis.call('SET', KEYS[1], sum)
          return sum",
    local: |keyspace, keys, _| {
        let sum = number(keyspace, &keys[0])? + 1;
        keyspace.set(&keys[0], sum.to_string().into_bytes(), None);
        Ok(Reply::Integer(sum))
    },
};

/// Moves one from the first key to the second, and answers the sum of both.
const MOVE_ONE: Script = Script {
    name: "move one",
    lua: "local left = redis.call('INCRBY', KEYS[1], -1)
          local right = redis.call('INCRBY', KEYS[2], 1)
          return left + right",
    local: |keyspace, keys, _| {
        let left = keyspace.increment(&keys[0], -1, None)?;
        let right = keyspace.increment(&keys[1], 1, None)?;
        Ok(Reply::Integer(left + right))
    },
};

fn number(keyspace: &Keyspace<'_>, key: &str) -> Result<i64, Error> {
    let text = keyspace.get(key)?.unwrap_or_else(|| bytes("0"));
    Ok(String::from_utf8(text).unwrap().parse().unwrap())
}

pub async fn a_script_sees_keys_and_arguments(ground: Arc<Ground>) {
    let keys = [ground.tied("a"), ground.tied("b")];
    ground.kv.set(&keys[1], [0, 255], None).await.unwrap();
    let args = [b"\xff\x00new".to_vec(), bytes("newer")];
    let old = ground.kv.script(&SWAP, &keys, &args).await;
    // Lua cannot hold "nothing" in a list, so Redis answers a false as nothing.
    let expected = vec![Reply::Value(None), Reply::Value(Some(vec![0, 255]))];
    assert_eq!(old, Ok(Reply::List(expected)));
    assert_eq!(ground.kv.get(&keys[0]).await, Ok(Some(args[0].clone())));
    assert_eq!(ground.kv.get(&keys[1]).await, Ok(Some(args[1].clone())));
}

pub async fn a_script_answers_integers_values_and_lists(ground: Arc<Ground>) {
    let shapes = Script {
        name: "shapes",
        lua: "return {7, 'text', {'inner', {}}, false}",
        local: |_, _, _| {
            let inner = vec![Reply::Value(Some(bytes("inner"))), Reply::List(vec![])];
            let text = Reply::Value(Some(bytes("text")));
            Ok(Reply::List(vec![
                Reply::Integer(7),
                text,
                Reply::List(inner),
                Reply::Value(None),
            ]))
        },
    };
    let text = |text| Reply::Value(Some(bytes(text)));
    let inner = Reply::List(vec![text("inner"), Reply::List(vec![])]);
    let list = vec![Reply::Integer(7), text("text"), inner, Reply::Value(None)];
    assert_eq!(
        ground.kv.script(&shapes, &[], &[]).await,
        Ok(Reply::List(list))
    );
}

pub async fn an_older_value_is_not_set(ground: Arc<Ground>) {
    let key = ground.key("value");
    let set = async |at: &str, value: &str| {
        let args = [at, value, "60000"].map(bytes);
        ground
            .kv
            .script(&SET_NEWER, std::slice::from_ref(&key), &args)
            .await
    };
    for (at, value, is_set) in [("9", "a", 1), ("9", "b", 0), ("10", "c", 1), ("2", "d", 0)] {
        assert_eq!(set(at, value).await, Ok(Reply::Integer(is_set)), "{at}");
    }
    assert_eq!(ground.kv.get(&key).await, Ok(Some(bytes("10 c"))));
    let ttl = ground.kv.ttl_ms(&key).await.unwrap();
    assert!(matches!(ttl, Ttl::Ms(1..=60_000)), "{ttl:?}");
    ground.kv.set(&key, "of another kind", None).await.unwrap();
    assert_eq!(set("1", "e").await, Ok(Reply::Integer(1)));
}

pub async fn a_value_is_set_only_where_the_same_still_stands(ground: Arc<Ground>) {
    let key = ground.key("value");
    let set = async |expected: &str, value: &str| {
        let args = [expected, value, "60000"].map(bytes);
        let keys = std::slice::from_ref(&key);
        ground.kv.script(&SET_IF_SAME, keys, &args).await
    };
    assert_eq!(
        set("", "a").await,
        Ok(Reply::Integer(0)),
        "nothing is there"
    );
    ground.kv.set(&key, "mine", None).await.unwrap();
    assert_eq!(set("min", "a").await, Ok(Reply::Integer(0)));
    assert_eq!(set("mine", "a").await, Ok(Reply::Integer(1)));
    let ttl = ground.kv.ttl_ms(&key).await.unwrap();
    assert!(matches!(ttl, Ttl::Ms(1..=60_000)), "{ttl:?}");
    assert_eq!(set("mine", "b").await, Ok(Reply::Integer(0)), "it was set");
    assert_eq!(ground.kv.get(&key).await, Ok(Some(bytes("a"))));
    ground.kv.delete(vec![key.clone()]).await.unwrap();
    assert_eq!(set("a", "b").await, Ok(Reply::Integer(0)), "it was deleted");
    assert_eq!(ground.kv.get(&key).await, Ok(None));
}

/// Redis is told a script by its hash and knows this one from nobody: its text is new each time.
pub async fn an_unknown_script_is_taught(ground: Arc<Ground>) {
    let lua: &'static str = format!("return #KEYS -- {}", ground.prefix).leak();
    let local = |_: &mut Keyspace<'_>, keys: &[String], _: &[Vec<u8>]| {
        Ok(Reply::Integer(i64::try_from(keys.len()).unwrap()))
    };
    let script = Script {
        name: "count keys",
        lua,
        local,
    };
    for count in [3, 2] {
        let keys = vec![ground.key("a"); count];
        let expected = Reply::Integer(i64::try_from(count).unwrap());
        assert_eq!(ground.kv.script(&script, &keys, &[]).await, Ok(expected));
    }
}

pub async fn scripts_do_not_lose_updates(ground: Arc<Ground>) {
    const TASKS: usize = 8;
    const UPDATES: usize = 50;
    let key = ground.key("count");
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let (kv, keys) = (Arc::clone(&ground.kv), [key.clone()]);
            tokio::spawn(async move {
                for _ in 0..UPDATES {
                    kv.script(&ADD_ONE, &keys, &[]).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(
        ground.kv.get(&key).await,
        Ok(Some(bytes(&(TASKS * UPDATES).to_string())))
    );
}

pub async fn scripts_see_all_their_keys_at_once(ground: Arc<Ground>) {
    let keys = [ground.tied("left"), ground.tied("right")];
    ground.kv.set(&keys[0], "1000", None).await.unwrap();
    let back = [keys[1].clone(), keys[0].clone()];
    let tasks = [keys, back].map(|keys| {
        let kv: Arc<dyn Kv> = Arc::clone(&ground.kv);
        tokio::spawn(async move {
            for _ in 0..200 {
                let sum = kv.script(&MOVE_ONE, &keys, &[]).await;
                assert_eq!(sum, Ok(Reply::Integer(1_000)));
            }
        })
    });
    for task in tasks {
        task.await.unwrap();
    }
}

pub async fn a_script_reports_a_wrong_type(ground: Arc<Ground>) {
    let keys = [ground.tied("a"), ground.tied("b")];
    ground
        .kv
        .set_add(&keys[0], vec![bytes("member")])
        .await
        .unwrap();
    let alone = ground.kv.script(&ADD_ONE, &keys[..1], &[]).await;
    assert_eq!(
        alone,
        Err(Error::WrongType {
            key: keys[0].clone()
        })
    );
    let both = ground.kv.script(&MOVE_ONE, &keys, &[]).await;
    assert_eq!(
        both,
        Err(Error::WrongType {
            key: keys.join(", ")
        })
    );
}

/// Neither backend rolls back: a script checks first and writes last.
pub async fn a_failed_script_keeps_what_it_wrote(ground: Arc<Ground>) {
    let keys = [ground.tied("a"), ground.tied("b")];
    ground.kv.set(&keys[1], "not a number", None).await.unwrap();
    let failed = ground.kv.script(&MOVE_ONE, &keys, &[]).await;
    assert!(matches!(failed, Err(Error::Refused(_))), "{failed:?}");
    assert_eq!(ground.kv.get(&keys[0]).await, Ok(Some(bytes("-1"))));
}
