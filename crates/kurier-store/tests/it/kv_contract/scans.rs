//! Walking a prefix.

use std::collections::BTreeSet;
use std::sync::Arc;

use kurier_store::kv::{Error, KvExt};

use crate::kv_contract::ground::Ground;

/// More pages than any walk here needs, even on a server full of other tests' keys.
const PAGES_MAX: usize = 100_000;

async fn fill(ground: &Ground, names: impl Iterator<Item = String>) -> BTreeSet<String> {
    let keys: BTreeSet<String> = names.map(|name| ground.key(&name)).collect();
    for key in &keys {
        ground.kv.set(key, "value", None).await.unwrap();
    }
    keys
}

pub async fn a_scan_covers_the_prefix_and_ends(ground: Arc<Ground>) {
    fill(&ground, (0..20).map(|index| format!("other:{index}"))).await;
    let keys = fill(&ground, (0..250).map(|index| format!("some:{index}"))).await;
    for count in [1, 7, 1_000] {
        let (mut found, mut cursor, mut pages) = (BTreeSet::new(), None, 0);
        loop {
            let page = ground
                .kv
                .scan(&ground.key("some:"), cursor, count)
                .await
                .unwrap();
            found.extend(page.keys);
            pages += 1;
            assert!(pages < PAGES_MAX, "the scan does not end");
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(found, keys, "{count} per page");
    }
    assert_eq!(
        ground.kv.scan_all(&ground.key("none:")).await,
        Ok(BTreeSet::new())
    );
}

pub async fn a_prefix_is_not_a_pattern(ground: Arc<Ground>) {
    for prefix in [
        "a*b:", "a?b:", "a[xy]b:", "a\\b:", "a^b:", "ä😀:", "a]b:", "[^x]",
    ] {
        let keys = fill(&ground, (0..3).map(|index| format!("{prefix}{index}"))).await;
        fill(
            &ground,
            ["axb:0", "aab:0", "a:0", "y0", "\\0"]
                .map(str::to_owned)
                .into_iter(),
        )
        .await;
        assert_eq!(
            ground.kv.scan_all(&ground.key(prefix)).await,
            Ok(keys),
            "{prefix}"
        );
    }
}

/// Whoever sweeps a prefix deletes each page before asking for the next.
pub async fn a_scan_survives_deletion_between_pages(ground: Arc<Ground>) {
    fill(&ground, (0..100).map(|index| format!("gone:{index}"))).await;
    let kept = fill(&ground, (0..3).map(|index| format!("kept:{index}"))).await;
    let mut cursor = None;
    for _ in 0..PAGES_MAX {
        let page = ground
            .kv
            .scan(&ground.key("gone:"), cursor, 10)
            .await
            .unwrap();
        ground.kv.delete(page.keys).await.unwrap();
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(ground.kv.scan_all(&ground.prefix).await, Ok(kept));
}

pub async fn a_scan_does_not_show_the_dead(ground: Arc<Ground>) {
    let kept = fill(&ground, (0..3).map(|index| format!("kept:{index}"))).await;
    for index in 0..40 {
        ground
            .kv
            .set(&ground.key(&format!("dead:{index}")), "value", Some(2))
            .await
            .unwrap();
    }
    ground.pass(2).await;
    assert_eq!(ground.kv.scan_all(&ground.prefix).await, Ok(kept));
}

pub async fn a_page_without_room_is_refused(ground: Arc<Ground>) {
    let page = ground.kv.scan(&ground.prefix, None, 0).await;
    assert!(matches!(page, Err(Error::Refused(_))), "{page:?}");
}
