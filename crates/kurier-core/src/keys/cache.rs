//! What is remembered for a while: `ENTITY:WORKSPACE:ID`. Which type stands at a key is said by
//! the cache that keeps it; there is one cache for each function here.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

use super::part::{self, Refused};
use super::{Key, Ttls};
use crate::expr::Checked;
use crate::id::{ContactId, JourneyId, SegmentId, TemplateId, WorkspaceId};
use crate::segment::Preview;

/// So many contacts are one bulk at most.
pub const BULK_MAX: usize = 1_000;

/// `contact:WORKSPACE:ID`
pub fn contact<V>(workspace: WorkspaceId, id: ContactId, ttls: &Ttls) -> Key<V> {
    Key::new(format!("contact:{workspace}:{id}"), ttls.contact)
}

/// `contacts:WORKSPACE:ids:ID,ID,…`: each once and in order, so that the same contacts have one
/// key however they are asked for. `None` for none of them and for more than [`BULK_MAX`].
pub fn contacts<V>(workspace: WorkspaceId, ids: &[ContactId], ttls: &Ttls) -> Option<Key<V>> {
    let ids: BTreeSet<ContactId> = ids.iter().copied().collect();
    let listed: Vec<String> = ids.iter().map(ToString::to_string).collect();
    let text = format!("contacts:{workspace}:ids:{}", listed.join(","));
    (1..=BULK_MAX)
        .contains(&ids.len())
        .then(|| Key::new(text, ttls.contact))
}

/// `template:WORKSPACE:ID`
pub fn template<V>(workspace: WorkspaceId, id: TemplateId, ttls: &Ttls) -> Key<V> {
    Key::new(format!("template:{workspace}:{id}"), ttls.template)
}

/// `channel:WORKSPACE:NAME`
pub fn channel<V>(workspace: WorkspaceId, name: &str, ttls: &Ttls) -> Result<Key<V>, Refused> {
    let text = format!("channel:{workspace}:{}", part::escaped(name)?);
    Ok(Key::new(text, ttls.channel))
}

/// `journey:WORKSPACE:ID`
pub fn journey<V>(workspace: WorkspaceId, id: JourneyId, ttls: &Ttls) -> Key<V> {
    Key::new(format!("journey:{workspace}:{id}"), ttls.journey)
}

/// `segment:WORKSPACE:ID:members`
pub fn segment_members<V>(workspace: WorkspaceId, id: SegmentId, ttls: &Ttls) -> Key<V> {
    Key::new(format!("segment:{workspace}:{id}:members"), ttls.segment)
}

/// `segment:WORKSPACE:ID:metadata`
pub fn segment_metadata<V>(workspace: WorkspaceId, id: SegmentId, ttls: &Ttls) -> Key<V> {
    let text = format!("segment:{workspace}:{id}:metadata");
    Key::new(text, ttls.segment_metadata)
}

/// `segment:WORKSPACE:HASH:metadata`. Whoever asks the same has the same answer, so the id
/// is the expression's own: the hash of its one way to be written.
pub fn preview(workspace: WorkspaceId, checked: &Checked) -> Key<Preview> {
    let hash = hash(checked.canonical().as_bytes());
    let text = format!("segment:{workspace}:{hash}:metadata");
    Key::new(text, Ttls::default().segment_metadata)
}

/// `events:WORKSPACE:CONTACT:recent`
pub fn recent_events<V>(workspace: WorkspaceId, contact: ContactId, ttls: &Ttls) -> Key<V> {
    Key::new(format!("events:{workspace}:{contact}:recent"), ttls.events)
}

/// `events:WORKSPACE:CONTACT:HASH`, with the hash of what is asked for, written in one way.
pub fn filtered_events<V>(
    workspace: WorkspaceId,
    contact: ContactId,
    canonical_filter: &str,
    ttls: &Ttls,
) -> Key<V> {
    let hash = hash(canonical_filter.as_bytes());
    Key::new(format!("events:{workspace}:{contact}:{hash}"), ttls.events)
}

fn hash(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash[..16].iter().map(|b| format!("{b:02x}")).collect()
}
