//! API keys: made, hashed, looked up. A key is shown once; what is kept is its SHA-256.
//! The key itself is 256 random bits, so a slow hash would protect nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use kurier_core::event::{Event, Kind};
use kurier_core::id::{ApiKeyId, IdentityKey, WorkspaceId};
use kurier_core::time::Timestamp;
use kurier_store::{Access, ApiKey, NewApiKey, Result, Role, Scope, Scopes, User, Workspace};
use sha2::{Digest as _, Sha256};

use crate::clock;
use crate::operator::sign;

/// So long, and a connection's second longer, may a revoked key still work in a process that
/// had just seen it.
const REMEMBERED: Duration = Duration::from_secs(4);
const SHOWN: Duration = Duration::from_secs(1);
const REMEMBERED_MAX: u64 = 10_000;

/// What a key or a user may do, and where.
#[derive(Debug)]
pub struct Grant {
    pub workspace: Workspace,
    /// What the log calls whoever it is: a key's name, a user's e-mail address.
    pub operator: String,
    pub scopes: Scopes,
    /// Whether users, keys and settings may be changed, and contacts erased.
    pub governs: bool,
    expires_at: Option<Timestamp>,
}

impl Grant {
    pub fn of_key(workspace: Workspace, key: ApiKey) -> Self {
        Self {
            workspace,
            operator: key.name,
            scopes: key.scopes,
            governs: key.scopes.admin,
            expires_at: key.expires_at,
        }
    }

    /// Somebody who signed in; when that ends, their session knows.
    pub fn of_user(workspace: Workspace, user: &User) -> Self {
        Self {
            workspace,
            operator: user.email.clone(),
            scopes: user.role.scopes(),
            governs: user.role == Role::Owner,
            expires_at: None,
        }
    }

    pub const fn scope(&self) -> Scope {
        Scope(self.workspace.id)
    }
}

/// Looks keys up, remembering them for a moment: ingest asks for the same one all the time.
pub struct Keyring {
    access: Arc<dyn Access>,
    /// How often everything was forgotten.
    forgotten: AtomicU64,
    remembered: moka::sync::Cache<[u8; 32], Option<Arc<Grant>>>,
}

impl Keyring {
    pub fn new(access: Arc<dyn Access>) -> Self {
        let cache = moka::sync::Cache::builder();
        let remembered = cache
            .max_capacity(REMEMBERED_MAX)
            .time_to_live(REMEMBERED)
            .build();
        Self {
            access,
            forgotten: AtomicU64::new(0),
            remembered,
        }
    }

    pub async fn find(&self, key: &str, now: Timestamp) -> Result<Option<Arc<Grant>>> {
        let hash = hash(key);
        let grant = match self.remembered.get(&hash) {
            Some(known) => known,
            None => self.look_up(hash).await?,
        };
        Ok(grant.filter(|grant| grant.expires_at.is_none_or(|at| now < at)))
    }

    async fn look_up(&self, hash: [u8; 32]) -> Result<Option<Arc<Grant>>> {
        let found = self.access.find_key(hash).await?;
        let grant = found.map(|(workspace, key)| Arc::new(Grant::of_key(workspace, key)));
        self.remembered.insert(hash, grant.clone());
        Ok(grant)
    }

    /// A key was revoked: all that are remembered are looked up anew.
    pub fn forget(&self) {
        self.remembered.invalidate_all();
        self.forgotten.fetch_add(1, Ordering::Release);
    }

    /// The grant of a credential that a connection came with before, if it still holds: a client
    /// shows the same one with every request.
    pub fn known(&self, shown: &Shown, credential: &str, now: Timestamp) -> Option<Arc<Grant>> {
        let (of, grant) = shown.grant.as_ref()?;
        let is_fresh = shown.forgotten == self.forgotten.load(Ordering::Acquire)
            && now < shown.until
            && grant.expires_at.is_none_or(|at| now < at);
        (is_fresh && of == credential).then(|| grant.clone())
    }

    /// What was forgotten before a credential is looked up, so that it is not known afterwards.
    pub fn forgotten(&self) -> u64 {
        self.forgotten.load(Ordering::Acquire)
    }
}

/// The credential that a connection last came with, and its grant.
#[derive(Debug, Default)]
pub struct Shown {
    grant: Option<(String, Arc<Grant>)>,
    until: Timestamp,
    forgotten: u64,
}

impl Shown {
    /// Remembers a grant that was looked up after so much was forgotten.
    pub fn remember(
        &mut self,
        credential: &str,
        grant: Arc<Grant>,
        now: Timestamp,
        forgotten: u64,
    ) {
        *self = Self {
            grant: Some((credential.to_owned(), grant)),
            until: now.plus(SHOWN),
            forgotten,
        };
    }
}

fn hash(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

/// A key that was just made: its secret is here and nowhere else.
pub struct Minted {
    pub secret: String,
    pub new: NewApiKey,
    pub event: Event,
}

/// Makes a key, of a given secret or a random one.
pub fn mint(
    name: &str,
    scopes: Scopes,
    secret: Option<String>,
    expires_at: Option<Timestamp>,
) -> Minted {
    let secret = secret.unwrap_or_else(|| format!("kur_{}", hex::encode(clock::random::<32>())));
    let now = clock::now();
    let id = ApiKeyId::new(now, clock::random());
    let key = ApiKey {
        id,
        name: name.to_owned(),
        scopes,
        created_at: now,
        expires_at,
        revoked_at: None,
    };
    let payload = serde_json::json!({"id": id, "name": name, "scopes": scopes.to_string()});
    let event = operator_event(Kind::ApiKeyCreated, payload, now);
    Minted {
        new: NewApiKey {
            key,
            hash: hash(&secret),
        },
        secret,
        event,
    }
}

pub fn revocation(id: ApiKeyId) -> Event {
    operator_event(
        Kind::ApiKeyRevoked,
        serde_json::json!({"id": id}),
        clock::now(),
    )
}

/// An event that an operator caused, of no contact.
pub fn operator_event(kind: Kind, payload: serde_json::Value, now: Timestamp) -> Event {
    sign(Event {
        id: clock::fresh_event_id(),
        kind,
        contact: None,
        occurred_at: now,
        recorded_at: now,
        payload: payload.to_string(),
    })
}

/// The keys of a new workspace, to be shown once.
pub struct Founding {
    pub workspace: Workspace,
    pub write_key: String,
    pub admin_key: String,
}

/// Makes a workspace with a write key and an admin key.
pub async fn found(
    access: &dyn Access,
    name: &str,
    write_key: Option<String>,
    admin_key: Option<String>,
) -> Result<Founding> {
    let now = clock::now();
    let workspace = Workspace {
        id: WorkspaceId::new(now, clock::random()),
        name: name.to_owned(),
        key: IdentityKey::new(clock::random()),
        created_at: now,
    };
    let ingest = Scopes {
        ingest: true,
        ..Scopes::default()
    };
    let everything = Scopes {
        ingest: true,
        read: true,
        admin: true,
    };
    let write = mint("write key", ingest, write_key, None);
    let admin = mint("admin key", everything, admin_key, None);
    let payload = serde_json::json!({"id": workspace.id, "name": name});
    let created = operator_event(Kind::WorkspaceCreated, payload, now);
    let events = vec![created, write.event, admin.event];
    access
        .create_workspace(&workspace, vec![write.new, admin.new], events)
        .await?;
    Ok(Founding {
        workspace,
        write_key: write.secret,
        admin_key: admin.secret,
    })
}

#[cfg(test)]
mod tests {
    use kurier_store::{Sqlite, Store};

    use super::*;

    #[tokio::test]
    async fn what_a_connection_showed_holds_for_a_moment_and_not_after_a_key_was_revoked() {
        let home = tempfile::tempdir().expect("a folder");
        let store = Store::from(Sqlite::open(&home.path().join("kurier.db")).expect("opened"));
        let founding = found(store.access.as_ref(), "default", None, None).await;
        let key = founding.expect("founded").write_key;
        let keyring = Keyring::new(store.access.clone());
        let now = clock::now();
        let grant = keyring.find(&key, now).await.expect("read").expect("known");
        let mut shown = Shown::default();
        let knows = |shown: &Shown, value, at| keyring.known(shown, value, at).is_some();
        assert!(!knows(&shown, "Bearer a", now));
        shown.remember("Bearer a", grant.clone(), now, keyring.forgotten());
        assert!(knows(&shown, "Bearer a", now) && !knows(&shown, "Bearer b", now));
        assert!(!knows(&shown, "Bearer a", now.plus(SHOWN)));
        // A key that was looked up before another was revoked may have been that one.
        let before = keyring.forgotten();
        keyring.forget();
        assert!(!knows(&shown, "Bearer a", now));
        shown.remember("Bearer a", grant, now, before);
        assert!(!knows(&shown, "Bearer a", now));
    }
}
