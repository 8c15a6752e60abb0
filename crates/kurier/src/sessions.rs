//! Sessions: what the cookie of somebody who signed in leads to. The cookie holds 256 random
//! bits; what is kept is their SHA-256, as with API keys.

use std::sync::Arc;
use std::time::Duration;

use kurier_core::id::WorkspaceId;
use kurier_core::time::Timestamp;
use kurier_store::{NewSession, Result, Scope, SignedIn, User, Users};
use sha2::{Digest as _, Sha256};

use crate::attempts::Attempts;
use crate::clock;
use crate::keyring::Grant;
use crate::password::Passwords;

/// A session that is not used ends after so long.
pub const LIFETIME_MICROS: i64 = 14 * 24 * 3_600 * 1_000_000;
/// It is let end later no more often than this: reading must not mean writing.
const EXTENDED_EVERY_MICROS: i64 = 3_600 * 1_000_000;
/// So long may a session that ended elsewhere still work in a process that had just seen it.
const REMEMBERED: Duration = Duration::from_secs(5);
const REMEMBERED_MAX: u64 = 10_000;

/// Somebody who is signed in.
pub struct Session {
    pub user: User,
    pub grant: Arc<Grant>,
    /// What a request that changes something has to say beside the cookie.
    pub csrf: String,
    expires_at: Timestamp,
}

/// A session that was just begun: its token is here and nowhere else.
pub struct Begun {
    pub token: String,
    pub session: Arc<Session>,
}

pub enum SignIn {
    Done(Begun),
    Wrong,
    /// Too often wrong: so many seconds later it may be tried again.
    Wait(u32),
}

pub struct Sessions {
    users: Arc<dyn Users>,
    remembered: moka::sync::Cache<[u8; 32], Option<Arc<Session>>>,
    attempts: Attempts,
    pub passwords: Passwords,
}

impl Sessions {
    pub fn new(users: Arc<dyn Users>) -> Self {
        let cache = moka::sync::Cache::builder();
        let cache = cache.max_capacity(REMEMBERED_MAX);
        Self {
            users,
            remembered: cache.time_to_live(REMEMBERED).build(),
            attempts: Attempts::default(),
            passwords: Passwords::default(),
        }
    }

    /// Signs in by address and password.
    pub async fn sign_in(&self, email: &str, password: &str) -> anyhow::Result<SignIn> {
        let now = clock::now();
        if let Err(seconds) = self.attempts.begin(email, now) {
            return Ok(SignIn::Wait(seconds));
        }
        let found = self.users.find_user(email).await?;
        let hash = found.as_ref().map(|(_, found)| found.password.as_str());
        let is_right = self.passwords.matches(password, hash).await?;
        let Some((scope, found)) = found.filter(|_| is_right) else {
            return Ok(SignIn::Wrong);
        };
        self.attempts.succeeded(email);
        let begun = self.begin(scope, &found.user).await?;
        Ok(begun.map_or(SignIn::Wrong, SignIn::Done))
    }

    /// Signs a user in; `None` if they were deleted in the same moment.
    pub async fn begin(&self, scope: Scope, user: &User) -> Result<Option<Begun>> {
        let (now, token) = (clock::now(), hex::encode(clock::random::<32>()));
        let session = NewSession {
            hash: hash(&token),
            user: user.id,
            created_at: now,
            expires_at: now.shifted(LIFETIME_MICROS),
        };
        self.users.begin_session(scope, session).await?;
        let session = self.find(&token, now).await?;
        Ok(session.map(|session| Begun { token, session }))
    }

    /// The session behind a token, if there is one that has not ended.
    pub async fn find(&self, token: &str, now: Timestamp) -> Result<Option<Arc<Session>>> {
        let hash = hash(token);
        let session = match self.remembered.get(&hash) {
            Some(known) => known,
            None => self.look_up(token, hash, now).await?,
        };
        let session = session.filter(|session| now < session.expires_at);
        if let Some(session) = &session {
            self.extend(hash, session, now).await?;
        }
        Ok(session)
    }

    async fn look_up(
        &self,
        token: &str,
        hash: [u8; 32],
        now: Timestamp,
    ) -> Result<Option<Arc<Session>>> {
        let found = self.users.find_session(hash, now).await?;
        let session = found.map(|found| Arc::new(Session::of(found, token)));
        self.remembered.insert(hash, session.clone());
        Ok(session)
    }

    async fn extend(&self, hash: [u8; 32], session: &Session, now: Timestamp) -> Result<()> {
        let until = now.shifted(LIFETIME_MICROS);
        if until.as_micros() - session.expires_at.as_micros() < EXTENDED_EVERY_MICROS {
            return Ok(());
        }
        self.users.extend_session(hash, until).await?;
        self.remembered.invalidate(&hash);
        Ok(())
    }

    pub async fn end(&self, token: &str) -> Result<()> {
        let hash = hash(token);
        self.users.end_session(hash).await?;
        self.remembered.insert(hash, None);
        Ok(())
    }

    /// Users were changed: whoever is remembered is looked up anew.
    pub fn forget(&self) {
        self.remembered.invalidate_all();
    }
}

impl Session {
    fn of(found: SignedIn, token: &str) -> Self {
        Self {
            grant: Arc::new(Grant::of_user(found.workspace, &found.user)),
            user: found.user,
            csrf: csrf(token),
            expires_at: found.expires_at,
        }
    }

    pub fn workspace(&self) -> (WorkspaceId, &str) {
        (self.grant.workspace.id, &self.grant.workspace.name)
    }
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// Follows from the token, so nothing more is kept; the token does not follow from it.
fn csrf(token: &str) -> String {
    let digest = Sha256::new_with_prefix("kurier csrf ");
    hex::encode(digest.chain_update(token).finalize())
}
