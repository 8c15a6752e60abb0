//! What is remembered for a while: `ENTITY:WORKSPACE:ID`. Which type stands at a key is said by
//! the cache that keeps it; there is one cache for each function here.

use sha2::{Digest as _, Sha256};

use super::{Key, Ttls};
use crate::expr::Checked;
use crate::id::{ContactId, JourneyId, TemplateId, WorkspaceId};
use crate::segment::Preview;

/// `contact:WORKSPACE:ID`
pub fn contact<V>(workspace: WorkspaceId, id: ContactId, ttls: &Ttls) -> Key<V> {
    Key::new(format!("contact:{workspace}:{id}"), ttls.contact)
}

/// `events:WORKSPACE:CONTACT:recent`
pub fn recent_events<V>(workspace: WorkspaceId, contact: ContactId, ttls: &Ttls) -> Key<V> {
    Key::new(format!("events:{workspace}:{contact}:recent"), ttls.events)
}

/// `template:WORKSPACE:ID`
pub fn template<V>(workspace: WorkspaceId, id: TemplateId, ttls: &Ttls) -> Key<V> {
    Key::new(format!("template:{workspace}:{id}"), ttls.template)
}

/// `journey:WORKSPACE:ID`
pub fn journey<V>(workspace: WorkspaceId, id: JourneyId, ttls: &Ttls) -> Key<V> {
    Key::new(format!("journey:{workspace}:{id}"), ttls.journey)
}

/// `segment:WORKSPACE:HASH:metadata`. Whoever asks the same has the same answer, so the id
/// is the expression's own: the hash of its one way to be written.
pub fn preview(workspace: WorkspaceId, checked: &Checked, ttls: &Ttls) -> Key<Preview> {
    let hash = hash(checked.canonical().as_bytes());
    let text = format!("segment:{workspace}:{hash}:metadata");
    Key::new(text, ttls.segment_metadata)
}

fn hash(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash[..16].iter().map(|b| format!("{b:02x}")).collect()
}
