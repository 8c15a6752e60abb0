//! Passwords: hashed with argon2id as its authors recommend, a few at a time, since each takes
//! memory and time on purpose.

use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use tokio::sync::{OnceCell, Semaphore};

use crate::clock;

/// So many are hashed at the same time; the others wait.
const AT_ONCE_MAX: usize = 2;

pub struct Passwords {
    room: Arc<Semaphore>,
    /// What a password is compared with that belongs to nobody, so that this takes as long.
    nobody: OnceCell<String>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self {
            room: Arc::new(Semaphore::new(AT_ONCE_MAX)),
            nobody: OnceCell::new(),
        }
    }
}

impl Passwords {
    /// The hash of a password, with how it was made.
    pub async fn hash(&self, password: &str) -> anyhow::Result<String> {
        let password = password.to_owned();
        self.work(move || hash(&password)).await?
    }

    /// Whether a password has this hash; without one it has not, after the same time.
    pub async fn matches(&self, password: &str, hash: Option<&str>) -> anyhow::Result<bool> {
        let nobody = async || self.hash("nobody's password").await;
        let nobody = self.nobody.get_or_try_init(nobody).await?;
        let is_known = hash.is_some();
        let (password, hash) = (password.to_owned(), hash.unwrap_or(nobody).to_owned());
        let matches = self.work(move || verify(&password, &hash)).await??;
        Ok(matches && is_known)
    }

    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> anyhow::Result<T> {
        let _room = self.room.acquire().await?;
        tokio::task::spawn_blocking(work)
            .await
            .context("hashing was cut short")
    }
}

fn hash(password: &str) -> anyhow::Result<String> {
    let salt: [u8; 16] = clock::random();
    let hash = Argon2::default().hash_password_with_salt(password.as_bytes(), &salt);
    let hash: PasswordHash = hash.map_err(|e| anyhow!("a password cannot be hashed: {e}"))?;
    Ok(hash.to_string())
}

fn verify(password: &str, hash: &str) -> anyhow::Result<bool> {
    let hash = PasswordHash::new(hash).map_err(|e| anyhow!("a kept hash is damaged: {e}"))?;
    let verified = Argon2::default().verify_password(password.as_bytes(), &hash);
    Ok(verified.is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_is_known_by_its_hash_and_nothing_else_is() {
        let passwords = Passwords::default();
        let hash = passwords.hash("correct horse").await.expect("hashed");
        let again = passwords.hash("correct horse").await.expect("hashed");
        assert!(
            hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{hash}"
        );
        assert_ne!(hash, again, "each has a salt of its own");
        let matches = async |password: &str, hash: Option<&str>| {
            passwords.matches(password, hash).await.expect("compared")
        };
        assert!(matches("correct horse", Some(&hash)).await);
        assert!(!matches("correct hors", Some(&hash)).await);
        assert!(!matches("nobody's password", None).await);
        assert!(passwords.matches("x", Some("nonsense")).await.is_err());
    }
}
