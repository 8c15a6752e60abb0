//! Keys as they were before modules had namespaces, and what became of them.
//!
//! `notification:workspace-projector:{TENANT}:workspace:ID`,
//! `notification:workspace-projector:{TENANT}:workspace-index` and
//! `notification:workspace-index:TENANT`; with braces around the tenant or without. The hints of
//! then, `pp:ver:…`, are left where they are: they are no data.

use serde_json::{Map, Value};

use super::part::{self, Refused};
use super::{Entry, Key, Lifetime, Members, NOTIFICATION_SLACK, Tenant};
use crate::event::Position;

const PROJECTOR: &str = "notification:workspace-projector:";
const INDEX: &str = "notification:workspace-index:";

/// What keys to migrate begin with.
pub const PREFIXES: [&str; 2] = [PROJECTOR, INDEX];

/// What a key of then is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Legacy {
    Workspace { tenant: Tenant, id: String },
    Index { tenant: Tenant },
}

impl Legacy {
    /// `None` for a key that is not one of then, or whose names no key of now could have.
    pub fn read(key: &str) -> Option<Self> {
        if let Some(tenant) = key.strip_prefix(INDEX) {
            let tenant = named(tenant)?;
            return Some(Self::Index { tenant });
        }
        let (tenant, rest) = key.strip_prefix(PROJECTOR)?.split_once(':')?;
        let tenant = named(tenant)?;
        match rest.split_once(':') {
            None if rest == "workspace-index" => Some(Self::Index { tenant }),
            Some(("workspace", id)) => Some(Self::Workspace {
                tenant,
                id: Some(id.to_owned()).filter(|id| part::escaped(id).is_ok())?,
            }),
            _ => None,
        }
    }
}

/// Where a workspace stands now.
pub fn workspace(tenant: &Tenant, id: &str) -> Result<Key<Entry<Value>>, Refused> {
    NOTIFICATION_SLACK.entry(tenant, id, Lifetime::FOREVER)
}

/// Where the list of workspaces stands now.
pub fn list(tenant: &Tenant) -> Key<Members> {
    NOTIFICATION_SLACK.list(tenant)
}

/// A value of then as one of now. Its revision is what it says of itself, or 0, which any event
/// comes after.
pub fn entry(value: Value) -> Entry<Value> {
    let said = ["revision", "version"]
        .iter()
        .find_map(|name| value.get(name)?.as_i64().filter(|revision| *revision > 0));
    Entry {
        revision: Position(said.unwrap_or(0)),
        as_of: None,
        value: Some(value),
    }
}

/// A value that was kept as a hash: its fields are texts, unless they read as JSON.
pub fn from_fields(fields: impl IntoIterator<Item = (String, Vec<u8>)>) -> Value {
    let value = |bytes: Vec<u8>| {
        serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()))
    };
    let fields = fields.into_iter().map(|(name, bytes)| (name, value(bytes)));
    Value::Object(fields.collect::<Map<_, _>>())
}

fn named(tenant: &str) -> Option<Tenant> {
    let bare = tenant
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    Tenant::named(bare.unwrap_or(tenant)).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_of_then_are_read_with_braces_and_without() {
        let tenant = Tenant::named("acme").expect("a tenant");
        let index = Legacy::Index {
            tenant: tenant.clone(),
        };
        let workspace = |id: &str| Legacy::Workspace {
            tenant: tenant.clone(),
            id: id.to_owned(),
        };
        let projector = "notification:workspace-projector";
        for (key, expected) in [
            (format!("{projector}:acme:workspace:W1"), workspace("W1")),
            (
                format!("{projector}:{{acme}}:workspace:W:1"),
                workspace("W:1"),
            ),
            (
                format!("{projector}:{{acme}}:workspace-index"),
                index.clone(),
            ),
            ("notification:workspace-index:acme".to_owned(), index),
        ] {
            assert_eq!(Legacy::read(&key), Some(expected), "{key}");
        }
    }

    #[test]
    fn nothing_else_is_read_as_one_and_no_hint() {
        for key in [
            "notification.slack:v1:{acme}:workspace:W1",
            "notification:workspace-projector:acme:workspace",
            "notification:workspace-projector:acme:workspace:",
            "notification:workspace-projector:a{b}:workspace:W1",
            "pp:ver:acme:workspace:W1",
            "notification.slack:pp:ver:{acme}:workspace:W1",
            "ver:acme:workspace:W1",
        ] {
            assert_eq!(Legacy::read(key), None, "{key}");
        }
    }

    #[test]
    fn a_value_keeps_the_revision_it_says() {
        assert_eq!(entry(json!({"version": 7})).revision, Position(7));
        assert_eq!(entry(json!({"name": "x"})).revision, Position(0));
        let fields = [("name", "Acme"), ("version", "3")];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec()));
        assert_eq!(from_fields(fields), json!({"name": "Acme", "version": 3}));
    }
}
