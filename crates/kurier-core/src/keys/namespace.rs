//! The keys of a module: what is projected to the edge, and what is known about doing so.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::part::{self, Refused};
use super::{Key, Lifetime, Tenant, Ttls};
use crate::event::Position;

/// The version of the form of business values.
const VERSION: &str = "v1";

/// Slack workspaces.
pub const NOTIFICATION_SLACK: Namespace = Namespace::new("notification.slack", "workspace");
/// Contacts as they are now.
pub const CONTACT_PROFILE: Namespace = Namespace::new("contact.profile", "contact");
/// Documents of content; their nodes stand beside them at their own keys.
pub const CONTENT: Namespace = Namespace::new("content", "document");

/// What makes the keys of one module different from those of any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Namespace {
    module: &'static str,
    entity: &'static str,
}

/// What stands at a business key. The revision comes first, where a script finds it without
/// reading the rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry<V> {
    /// The position of the event that made it so.
    pub revision: Position,
    /// It includes every event up to here. Only what is kept for a while says so: of what is there
    /// as a whole, the tenant's mark does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<Position>,
    /// Without one it was deleted: a tombstone.
    pub value: Option<V>,
}

/// A set of ids, as [`part::escaped`].
#[derive(Debug, PartialEq, Eq)]
pub enum Members {}

/// A hash.
#[derive(Debug, PartialEq, Eq)]
pub enum Fields {}

/// Business data.
impl Namespace {
    /// Both are written by us, into code: a name that could be mistaken for another part does not
    /// compile.
    pub const fn new(module: &'static str, entity: &'static str) -> Self {
        assert!(is_name(module) && is_name(entity), "letters, digits, - . _");
        Self { module, entity }
    }

    pub const fn module(&self) -> &'static str {
        self.module
    }

    pub const fn entity(&self) -> &'static str {
        self.entity
    }

    /// `MODULE:v1:{TENANT}:ENTITY:ID`
    pub fn entry<V>(
        &self,
        tenant: &Tenant,
        id: &str,
        lifetime: Lifetime,
    ) -> Result<Key<Entry<V>>, Refused>
    where
        V: Serialize + DeserializeOwned,
    {
        let (tag, entity, id) = (tenant.tag(), self.entity, part::escaped(id)?);
        let parts = [self.module, ":", VERSION, ":", tag, ":", entity, ":", &id];
        Ok(Key::new(parts.concat(), lifetime))
    }

    /// What all business keys of a tenant begin with: `MODULE:v1:{TENANT}:`
    pub fn entries(&self, tenant: &Tenant) -> String {
        [self.module, ":", VERSION, ":", tenant.tag(), ":"].concat()
    }

    /// What all keys of the module begin with: `MODULE:`
    pub fn prefix(&self) -> String {
        format!("{}:", self.module)
    }

    /// `MODULE:v1:{TENANT}:idx:ENTITY:list`
    pub fn list(&self, tenant: &Tenant) -> Key<Members> {
        let (prefix, entity) = (self.entries(tenant), self.entity);
        Key::new(format!("{prefix}{INDEX}{entity}:list"), Lifetime::FOREVER)
    }

    /// `MODULE:v1:{TENANT}:idx:ENTITY:by-INDEX:VALUE`
    pub fn index(
        &self,
        tenant: &Tenant,
        index: &'static str,
        value: &str,
    ) -> Result<Key<Members>, Refused> {
        let (prefix, entity) = (self.entries(tenant), self.entity);
        part::plain("the name of an index", index)?;
        let text = format!(
            "{prefix}{INDEX}{entity}:by-{index}:{}",
            part::escaped(value)?
        );
        Ok(Key::new(text, Lifetime::FOREVER))
    }
}

/// What an index's key has behind the tenant.
const INDEX: &str = "idx:";

impl Namespace {
    /// The index whose members are counted under this [field](Key::field); `None` if none are.
    pub fn counted(&self, tenant: &Tenant, field: &str) -> Option<Key<Members>> {
        let text = format!("{}{field}", self.entries(tenant));
        let is_index = field.starts_with(INDEX);
        is_index.then(|| Key::new(text, Lifetime::FOREVER))
    }
}

impl Key<Members> {
    /// Under which field of the [generation](Namespace::generation) its members are counted: what
    /// follows the tenant.
    pub fn field(&self) -> &str {
        self.text().split_once("}:").map_or("", |(_, field)| field)
    }
}

/// What stands between the module and the tenant.
const VERSION_HINTS: &str = ":pp:ver:";
const DEDUPS: &str = ":pd:dup:";

/// What makes projecting quick and safe, and may be lost.
impl Namespace {
    /// `MODULE:pp:ver:{TENANT}:ENTITY:ID`: the revision up to which an entity was projected.
    pub fn version_hint(
        &self,
        tenant: &Tenant,
        id: &str,
        ttls: &Ttls,
    ) -> Result<Key<Position>, Refused> {
        let (tag, entity, id) = (tenant.tag(), self.entity, part::escaped(id)?);
        let parts = [self.module, VERSION_HINTS, tag, ":", entity, ":", &id];
        Ok(Key::new(parts.concat(), ttls.version_hint))
    }

    /// `MODULE:pp:ver:`
    pub fn version_hints(&self) -> String {
        [self.module, VERSION_HINTS].concat()
    }

    /// `MODULE:pd:dup:{TENANT}:STREAM:REVISION`: this event of the stream was projected. That it is
    /// there says all; it holds 1.
    pub fn dedup(
        &self,
        tenant: &Tenant,
        stream: &str,
        revision: Position,
        ttls: &Ttls,
    ) -> Result<Key<u8>, Refused> {
        let (tag, stream) = (tenant.tag(), part::escaped(stream)?);
        let parts = [
            self.module,
            DEDUPS,
            tag,
            ":",
            &stream,
            ":",
            &revision.to_string(),
        ];
        Ok(Key::new(parts.concat(), ttls.dedup))
    }

    /// `MODULE:pd:dup:{TENANT}:`
    pub fn dedups(&self, tenant: &Tenant) -> String {
        [self.module, DEDUPS, tenant.tag(), ":"].concat()
    }

    /// `MODULE:pp:gen:{TENANT}`: there while everything of the tenant is at the edge, with how
    /// many stand in each index; gone with everything else when the keyspace is emptied.
    pub fn generation(&self, tenant: &Tenant) -> Key<Fields> {
        let text = format!("{}:pp:gen:{tenant}", self.module);
        Key::new(text, Lifetime::FOREVER)
    }

    /// `MODULE:checkpoint:ENVIRONMENT:GROUP`, for operators to read; the one that counts is in the
    /// store.
    pub fn checkpoint(&self, environment: &str, group: &str) -> Result<Key<Fields>, Refused> {
        part::plain("an environment", environment)?;
        part::plain("a subscription group", group)?;
        let text = format!("{}{environment}:{group}", self.checkpoints());
        Ok(Key::new(text, Lifetime::FOREVER))
    }

    /// `MODULE:checkpoint:`
    pub fn checkpoints(&self) -> String {
        format!("{}:checkpoint:", self.module)
    }
}

const fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !(bytes[at].is_ascii_alphanumeric() || matches!(bytes[at], b'-' | b'.' | b'_')) {
            return false;
        }
        at += 1;
    }
    at > 0
}
