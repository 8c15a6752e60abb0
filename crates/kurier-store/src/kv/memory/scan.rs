//! Walking the keys of a prefix, page by page.

use super::shelf::Shelf;
use crate::kv::{Cursor, Page};

/// A page of at most `count` keys. The cursor is the last key looked at: whatever is added or
/// removed between two pages, every key after it is still to come and none before it is missed.
pub(super) fn page(
    shelf: &Shelf,
    prefix: &str,
    cursor: Option<&Cursor>,
    count: u32,
    now_ms: u64,
) -> Page {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let mut walk = shelf.walk(prefix, cursor.map(|cursor| cursor.0.as_str()), now_ms);
    let mut keys = Vec::new();
    let mut last = None;
    // Dead keys count as looked at, or a page full of them would be a sweep.
    for (key, is_live) in walk.by_ref().take(count) {
        if is_live {
            keys.push(key.to_owned());
        }
        last = Some(key);
    }
    let next = if walk.next().is_some() {
        last.map(|key| Cursor(key.to_owned()))
    } else {
        None
    };
    Page { keys, next }
}
