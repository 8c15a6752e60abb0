//! The scripts of documents: one swap, whole, and nothing that is older.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use kurier_core::content::{Entry, Key, Stored};
use kurier_store::documents::{Swap, Swapped, Taken, swap};
use kurier_store::kv::{Command, Error, Kv, KvExt as _, Order, Reply, Script, Ttl};

use crate::kv_contract::ground::{Ground, bytes};

fn key(text: &str) -> Key {
    text.parse().unwrap()
}

fn document(ground: &Ground, revision: i64, seen: Option<i64>) -> Swap {
    let entry = |name: &str, stored| Entry {
        key: ground.tied(name),
        stored,
    };
    let (one, two) = (key("chunk:one_a:001"), key("chunk:two_b:001"));
    let fields = vec![("text".to_owned(), format!("\0 ä {revision}"))];
    Swap {
        entry: ground.tied("entry"),
        value: Some(bytes(&format!(
            "{{\"revision\":{revision},\"value\":null}}"
        ))),
        generation: ground.tied("generation"),
        field: "id".to_owned(),
        revision,
        seen,
        number: u32::try_from(revision).unwrap(),
        aside: ground.tied(&format!("aside:{revision}:")),
        taken: Taken::default(),
        written: vec![
            entry("doc:d:001", Stored::Hash(fields)),
            entry(
                "doc:d:001:children",
                Stored::SortedSet(vec![(2, two), (1, one)]),
            ),
            entry("chunk:one_a:001:next", Stored::Text(two)),
            entry("level:chunk:chunks", Stored::Set(vec![one, two])),
        ],
    }
}

async fn run(ground: &Ground, swapping: Swap) -> Swapped {
    swap(ground.kv.as_ref(), swapping).await.unwrap()
}

async fn text(ground: &Ground) -> Option<Vec<u8>> {
    let key = ground.tied("doc:d:001");
    ground.kv.hash_get(&key, "text").await.unwrap()
}

pub async fn every_kind_of_value_is_swapped_in(ground: Arc<Ground>) {
    let first = document(&ground, 1, None);
    assert_eq!(run(&ground, first).await, Swapped::Done);
    assert_eq!(text(&ground).await, Some(bytes("\0 ä 1")));
    let children = ground.tied("doc:d:001:children");
    let kv = &ground.kv;
    let children = kv
        .sorted_range(&children, 0, -1, Order::Ascending)
        .await
        .unwrap();
    let children: Vec<_> = children
        .into_iter()
        .map(|it| (it.score, it.member))
        .collect();
    let expected = [
        (1.0, bytes("chunk:one_a:001")),
        (2.0, bytes("chunk:two_b:001")),
    ];
    assert_eq!(children, expected);
    let next = kv.get(&ground.tied("chunk:one_a:001:next")).await.unwrap();
    assert_eq!(next, Some(bytes("chunk:two_b:001")));
    let level = kv
        .set_members(&ground.tied("level:chunk:chunks"))
        .await
        .unwrap();
    assert_eq!(level.len(), 2);
    let generation = ground.tied("generation");
    let revision = kv.hash_get(&generation, "id").await.unwrap();
    assert_eq!(revision, Some(bytes("1")));
}

pub async fn what_was_there_goes_and_what_others_have_stays(ground: Arc<Ground>) {
    run(&ground, document(&ground, 1, None)).await;
    let level = ground.tied("level:chunk:chunks");
    ground
        .kv
        .set_add(&level, vec![bytes("of another")])
        .await
        .unwrap();
    let gone = Swap {
        value: None,
        number: 2,
        written: Vec::new(),
        taken: Taken {
            keys: vec![ground.tied("doc:d:001"), ground.tied("never there")],
            members: vec![(
                level.clone(),
                vec!["chunk:one_a:001".into(), "chunk:two_b:001".into()],
            )],
        },
        ..document(&ground, 1, Some(1))
    };
    assert_eq!(run(&ground, gone).await, Swapped::Done);
    assert_eq!(text(&ground).await, None);
    assert_eq!(
        ground.kv.set_members(&level).await.unwrap(),
        [bytes("of another")].into()
    );
    assert_eq!(ground.kv.get(&ground.tied("entry")).await.unwrap(), None);
    let field = ground
        .kv
        .hash_get(&ground.tied("generation"), "id")
        .await
        .unwrap();
    assert_eq!(field, None);
}

pub async fn nothing_older_is_swapped_in(ground: Arc<Ground>) {
    run(&ground, document(&ground, 5, None)).await;
    let older = document(&ground, 4, Some(5));
    assert_eq!(run(&ground, older).await, Swapped::Older);
    let unseen = document(&ground, 6, None);
    assert_eq!(run(&ground, unseen).await, Swapped::Changed);
    // Known from an import that others are ahead of: it may have been withdrawn since.
    let late = Swap {
        number: 4,
        ..document(&ground, 7, Some(5))
    };
    assert_eq!(run(&ground, late).await, Swapped::Older);
    assert_eq!(text(&ground).await, Some(bytes("\0 ä 5")));
    assert_eq!(
        run(&ground, document(&ground, 6, Some(5))).await,
        Swapped::Done
    );
    assert_eq!(text(&ground).await, Some(bytes("\0 ä 6")));
}

/// More members than Lua hands over at once.
pub async fn a_large_document_is_swapped_in_whole(ground: Arc<Ground>) {
    let keys = (1..=20_000).map(|number| (number, chunk(number)));
    let large = Swap {
        written: vec![Entry {
            key: ground.tied("doc:d:001:sequence"),
            stored: Stored::SortedSet(keys.collect()),
        }],
        ..document(&ground, 1, None)
    };
    assert_eq!(run(&ground, large).await, Swapped::Done);
    let sequence = ground.tied("doc:d:001:sequence");
    assert_eq!(ground.kv.sorted_count(&sequence).await.unwrap(), 20_000);
}

fn chunk(number: u32) -> Key {
    let page = number / 900;
    key(&format!("chunk:many_{page:03}:{:03}", number % 900))
}

/// A document of so many chunks, and what it takes away of one with so many.
fn long(ground: &Ground, revision: i64, chunks: u32, taken: Option<u32>) -> Swap {
    let entry = |name: String, stored| Entry {
        key: ground.tied(&name),
        stored,
    };
    let all = || (1..=chunks).map(chunk);
    let hash = |key: &Key| Stored::Hash(vec![("text".into(), format!("{key} {revision}"))]);
    let mut written: Vec<Entry> = all()
        .map(|key| entry(key.to_string(), hash(&key)))
        .collect();
    let pairs = all().zip(all().skip(1));
    written.extend(pairs.map(|(key, next)| entry(format!("{key}:next"), Stored::Text(next))));
    let placed = (1..).zip(all()).collect();
    written.push(entry(
        "doc:d:001:children".into(),
        Stored::SortedSet(placed),
    ));
    let siblings = entry("chunk:x1:001:siblings".into(), Stored::Set(vec![chunk(1)]));
    written.push(siblings);
    written.push(entry(
        "level:doc:chunks".into(),
        Stored::Set(all().collect()),
    ));
    let before = || (1..=taken.unwrap_or(0)).map(chunk);
    let keys = before().flat_map(|key| [key.to_string(), format!("{key}:next")]);
    let members = before().map(|key| key.to_string()).collect();
    Swap {
        taken: Taken {
            keys: keys.map(|key| ground.tied(&key)).collect(),
            members: vec![(ground.tied("level:doc:chunks"), members)],
        },
        written,
        ..document(ground, revision, taken.map(|_| revision - 1))
    }
}

/// Every key of a test, and nothing that stands aside.
async fn names(ground: &Ground) -> BTreeSet<String> {
    let prefix = ground.tied("");
    let all = ground.kv.scan_all(&prefix).await.unwrap();
    let names = all.iter().map(|key| key[prefix.len()..].to_owned());
    names.collect()
}

fn expected(swapping: &Swap, ground: &Ground) -> BTreeSet<String> {
    let own = [swapping.entry.as_str(), swapping.generation.as_str()];
    let written = swapping.written.iter().map(|entry| entry.key.as_str());
    let prefix = ground.tied("");
    let all = written.chain(own);
    all.map(|key| key[prefix.len()..].to_owned()).collect()
}

pub async fn a_long_document_is_brought_in_and_replaced_whole(ground: Arc<Ground>) {
    let first = long(&ground, 1, 16_000, None);
    let wanted = expected(&first, &ground);
    assert_eq!(run(&ground, first).await, Swapped::Done);
    assert_eq!(names(&ground).await, wanted);
    let (kv, level) = (&ground.kv, ground.tied("level:doc:chunks"));
    assert_eq!(kv.set_count(&level).await.unwrap(), 16_000);
    kv.set_add(&level, vec![bytes("of another")]).await.unwrap();
    let last = ground.tied(&chunk(16_000).to_string());
    assert_eq!(kv.ttl_ms(&last).await.unwrap(), Ttl::Forever);

    let second = long(&ground, 2, 14_000, Some(16_000));
    let wanted = expected(&second, &ground);
    assert_eq!(run(&ground, second).await, Swapped::Done);
    assert_eq!(names(&ground).await, wanted);
    assert_eq!(
        kv.set_count(&level).await.unwrap(),
        14_001,
        "and the other's"
    );
    let first = ground.tied(&chunk(1).to_string());
    let text = kv.hash_get(&first, "text").await.unwrap();
    assert_eq!(text, Some(bytes(&format!("{} 2", chunk(1)))));
    let children = ground.tied("doc:d:001:children");
    assert_eq!(kv.sorted_count(&children).await.unwrap(), 14_000);

    let late = long(&ground, 1, 16_000, None);
    assert_eq!(run(&ground, late).await, Swapped::Older);
    let gone = Swap {
        value: None,
        written: Vec::new(),
        ..long(&ground, 3, 1, Some(40_000))
    };
    assert_eq!(run(&ground, gone).await, Swapped::Done);
    assert_eq!(kv.set_count(&level).await.unwrap(), 1);
    assert!(!kv.exists(&first).await.unwrap());
}

/// A keyspace that loses a key before a document is brought in.
struct Losing {
    kv: Arc<dyn Kv>,
    /// The end of the key.
    lost: &'static str,
}

#[async_trait]
impl Kv for Losing {
    async fn run(&self, commands: Vec<Command>) -> Result<Vec<Reply>, Error> {
        self.kv.run(commands).await
    }

    async fn script(
        &self,
        script: &Script,
        keys: &[String],
        args: &[Vec<u8>],
    ) -> Result<Reply, Error> {
        if script.name == "bring a document in" {
            let aside = self.kv.scan_all(&keys[2]).await?;
            let lost = aside.into_iter().find(|key| key.ends_with(self.lost));
            self.kv.delete(vec![lost.expect("it is aside")]).await?;
        }
        self.kv.script(script, keys, args).await
    }

    async fn ping(&self) -> Result<(), Error> {
        self.kv.ping().await
    }
}

pub async fn of_what_was_lost_aside_nothing_is_brought_in(ground: Arc<Ground>) {
    run(&ground, document(&ground, 1, None)).await;
    let is_aside = |name: &String| name.starts_with("aside:");
    for lost in [">0", "doc:d:001:children", "k>", "level:doc:chunks"] {
        let before = names(&ground).await;
        let kv = ground.kv.clone();
        let losing = Losing { kv, lost };
        let mut long = long(&ground, 2, 13_000, None);
        long.seen = Some(1);
        assert_eq!(
            swap(&losing, long).await.unwrap(),
            Swapped::Changed,
            "{lost}"
        );
        let mut after = names(&ground).await;
        let aside: Vec<String> = after.iter().filter(|it| is_aside(it)).cloned().collect();
        assert!(!aside.is_empty());
        let ttl = ground.kv.ttl_ms(&ground.tied(&aside[0])).await.unwrap();
        assert!(matches!(ttl, Ttl::Ms(_)), "it goes by itself: {ttl:?}");
        after.retain(|name| !is_aside(name));
        let before: BTreeSet<String> = before.into_iter().filter(|it| !is_aside(it)).collect();
        assert_eq!(after, before, "{lost}");
        assert_eq!(text(&ground).await, Some(bytes("\0 ä 1")));
    }
}
