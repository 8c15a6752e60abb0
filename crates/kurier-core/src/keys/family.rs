//! What a key is for, read from its text: for operators who count keys.

use super::{CONTACT_PROFILE, CONTENT, NOTIFICATION_SLACK, Namespace, Tenant, legacy};

/// Every module that is projected to the edge.
pub const MODULES: [Namespace; 3] = [NOTIFICATION_SLACK, CONTACT_PROFILE, CONTENT];

/// What the keys of caches begin with.
const CACHES: [&str; 8] = [
    "cache:",
    "contact:",
    "contacts:",
    "template:",
    "channel:",
    "journey:",
    "segment:",
    "events:",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// What is projected.
    Business,
    /// Which there are.
    Index,
    /// Up to which revision something was projected.
    Hint,
    /// That an event was projected.
    Dedup,
    /// How far a projection has come.
    Checkpoint,
    /// What is remembered for a while.
    Cache,
    /// As keys were before.
    Legacy,
    /// Not one of ours, or of another version of Kurier.
    Other,
}

impl Family {
    pub const ALL: [Self; 8] = [
        Self::Business,
        Self::Index,
        Self::Hint,
        Self::Dedup,
        Self::Checkpoint,
        Self::Cache,
        Self::Legacy,
        Self::Other,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Business => "business",
            Self::Index => "index",
            Self::Hint => "hint",
            Self::Dedup => "dedup",
            Self::Checkpoint => "checkpoint",
            Self::Cache => "cache",
            Self::Legacy => "legacy",
            Self::Other => "other",
        }
    }

    pub fn of(key: &str) -> Self {
        let module = MODULES
            .iter()
            .find_map(|module| key.strip_prefix(&module.prefix()));
        match module {
            Some(rest) => Self::of_module(rest),
            None if CACHES.iter().any(|cache| key.starts_with(cache)) => Self::Cache,
            None if legacy::PREFIXES.iter().any(|old| key.starts_with(old)) => Self::Legacy,
            None => Self::Other,
        }
    }

    /// `v1:{TENANT}:…`, `pp:ver:…`, `pp:gen:…`, `pd:dup:…` or `checkpoint:…`.
    fn of_module(rest: &str) -> Self {
        if rest.starts_with("pp:") {
            Self::Hint
        } else if rest.starts_with("pd:dup:") {
            Self::Dedup
        } else if rest.starts_with("checkpoint:") {
            Self::Checkpoint
        } else if rest.contains("}:idx:") {
            Self::Index
        } else {
            Self::Business
        }
    }
}

/// What the dedup keys of a module begin with, those of one tenant or of all.
pub fn dedups(module: &Namespace, tenant: Option<&Tenant>) -> String {
    match tenant {
        Some(tenant) => module.dedups(tenant),
        None => format!("{}pd:dup:", module.prefix()),
    }
}

/// Whether the key tells for how long something is known, and not what: `pp:gen:` does not.
pub fn is_version_hint(key: &str) -> bool {
    MODULES
        .iter()
        .any(|module| key.starts_with(&module.version_hints()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Position;
    use crate::id::{ContactId, WorkspaceId};
    use crate::keys::{Entry, Key, Lifetime, Ttls, cache};

    /// Asked of the keys themselves, so that a key that changes its form is noticed here.
    #[test]
    fn every_key_is_of_its_family() {
        let (tenant, ttls) = (Tenant::named("acme").expect("a tenant"), Ttls::default());
        let workspace = WorkspaceId::from_bytes([1; 16]);
        for module in MODULES {
            let entry: Key<Entry<u8>> = module
                .entry(&tenant, "idx:x", Lifetime::FOREVER)
                .expect("a key");
            assert_eq!(Family::of(entry.text()), Family::Business);
            assert_eq!(Family::of(module.list(&tenant).text()), Family::Index);
            let index = module.index(&tenant, "category", "x").expect("a key");
            assert_eq!(Family::of(index.text()), Family::Index);
            let hint = module.version_hint(&tenant, "W1", &ttls).expect("a key");
            assert_eq!(Family::of(hint.text()), Family::Hint);
            assert!(is_version_hint(hint.text()));
            let generation = module.generation(&tenant);
            assert!(!is_version_hint(generation.text()));
            let dedup = module.dedup(&tenant, "s", Position(1), &ttls).expect("one");
            assert_eq!(Family::of(dedup.text()), Family::Dedup);
            assert!(dedup.text().starts_with(&dedups(&module, None)));
            assert!(dedup.text().starts_with(&dedups(&module, Some(&tenant))));
            let checkpoint = module.checkpoint("dev", "group").expect("a key");
            assert_eq!(Family::of(checkpoint.text()), Family::Checkpoint);
        }
        let id = ContactId::from_bytes([2; 16]);
        let contact: Key<u8> = cache::contact(workspace, id, &ttls);
        assert_eq!(Family::of(contact.text()), Family::Cache);
        let old = "notification:workspace-index:acme";
        assert_eq!(Family::of(old), Family::Legacy);
        assert_eq!(Family::of("pp:ver:acme:workspace:W1"), Family::Other);
    }
}
