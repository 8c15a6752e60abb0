//! The script of documents: one swap, whole, and nothing that is older.

use std::sync::Arc;

use kurier_core::content::{Entry, Key, Stored};
use kurier_store::documents::{Swap, Swapped, Taken, swap};
use kurier_store::kv::{KvExt as _, Order};

use crate::ground::{Ground, bytes};

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
    let keys = (1..=20_000).map(|number| {
        let page = number / 900;
        (
            number,
            key(&format!("chunk:many_{page:03}:{:03}", number % 900)),
        )
    });
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
