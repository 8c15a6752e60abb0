//! Secrets of channels: sealed before they are kept, opened only to be used, never shown.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::OpenOptions;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{Key, KeyInit as _, XChaCha20Poly1305, XNonce};
use kurier_store::Scope;

use crate::clock;

/// The first byte of what is sealed says how it was.
const VERSION: u8 = 1;
const NONCE_BYTES: usize = 24;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "there is no key to seal secrets with: set KURIER_SECRET_KEY or KURIER_SECRET_KEY_FILE \
         to 32 random bytes in hex or base64, such as `openssl rand -hex 32` prints"
    )]
    NoKey,
    #[error("the secret key {0}")]
    BadKey(String),
    #[error("the secrets cannot be opened: they were sealed with another key, or are damaged")]
    Sealed,
}

/// 256 bits that nobody prints.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretKey([u8; 32]);

impl SecretKey {
    pub fn read(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let bytes = hex::decode(text)
            .ok()
            .or_else(|| STANDARD.decode(text).ok());
        let key = bytes.and_then(|bytes| bytes.try_into().ok());
        let bad = || Error::BadKey("must be 32 bytes in hex or base64".to_owned());
        key.map(Self).ok_or_else(bad)
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(secret)")
    }
}

/// A channel's secrets by name.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(BTreeMap<String, String>);

impl Secrets {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub fn set(&mut self, name: &str, value: Option<String>) {
        match value {
            Some(value) => self.0.insert(name.to_owned(), value),
            None => self.0.remove(name),
        };
    }

    pub fn keep(&mut self, names: &[&str]) {
        self.0.retain(|name, _| names.contains(&name.as_str()));
    }

    pub fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Secrets").field(&self.names()).finish()
    }
}

/// Seals and opens. Without a key of the operator's, one is made beside the data when the
/// first secret is sealed.
pub struct Vault {
    given: Option<SecretKey>,
    file: Option<PathBuf>,
    read: OnceLock<SecretKey>,
}

impl Vault {
    pub fn new(given: Option<SecretKey>, folder: Option<&Path>) -> Self {
        Self {
            given,
            file: folder.map(|folder| folder.join("secret.key")),
            read: OnceLock::new(),
        }
    }

    /// What only the same workspace's channel of that name opens again.
    pub fn seal(&self, scope: Scope, name: &str, secrets: &Secrets) -> Result<Vec<u8>, Error> {
        let cipher = self.cipher(true)?;
        let nonce: [u8; NONCE_BYTES] = clock::random();
        let msg = serde_json::to_vec(&secrets.0).expect("texts by name serialise");
        let payload = Payload {
            msg: &msg,
            aad: &bound_to(scope, name),
        };
        let sealed = cipher.encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.expect("a few kilobytes can be sealed");
        Ok([&[VERSION], nonce.as_slice(), &sealed].concat())
    }

    pub fn open(&self, scope: Scope, name: &str, sealed: &[u8]) -> Result<Secrets, Error> {
        let [VERSION, rest @ ..] = sealed else {
            return Err(Error::Sealed);
        };
        let (nonce, msg) = rest
            .split_first_chunk::<NONCE_BYTES>()
            .ok_or(Error::Sealed)?;
        let aad = &bound_to(scope, name);
        let cipher = self.cipher(false)?;
        let opened = cipher.decrypt(&XNonce::from(*nonce), Payload { msg, aad });
        let opened = opened.map_err(|_| Error::Sealed)?;
        serde_json::from_slice(&opened)
            .map(Secrets)
            .map_err(|_| Error::Sealed)
    }

    fn cipher(&self, may_make: bool) -> Result<XChaCha20Poly1305, Error> {
        let key = self.key(may_make)?;
        Ok(XChaCha20Poly1305::new(&Key::from(key.0)))
    }

    fn key(&self, may_make: bool) -> Result<&SecretKey, Error> {
        if let Some(key) = self.given.as_ref().or_else(|| self.read.get()) {
            return Ok(key);
        }
        let file = self.file.as_deref().ok_or(Error::NoKey)?;
        let key = match read_file(file)? {
            Some(key) => key,
            None if may_make => make_file(file)?,
            None => return Err(Error::Sealed),
        };
        Ok(self.read.get_or_init(|| key))
    }
}

/// Sealed secrets moved to another channel or workspace do not open.
fn bound_to(scope: Scope, name: &str) -> Vec<u8> {
    [scope.0.as_uuid().as_bytes(), name.as_bytes()].concat()
}

fn read_file(path: &Path) -> Result<Option<SecretKey>, Error> {
    let mut text = String::new();
    match std::fs::File::open(path) {
        Ok(mut file) => file
            .read_to_string(&mut text)
            .map_err(|e| unusable(path, &e))?,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(unusable(path, &e)),
    };
    SecretKey::read(&text).map(Some)
}

/// Makes the file, readable by its owner alone, whole from the first moment; if another
/// process was faster, its key is the key.
fn make_file(path: &Path) -> Result<SecretKey, Error> {
    let key = SecretKey(clock::random());
    let draft = path.with_extension(hex::encode(clock::random::<4>()));
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|e| unusable(path, &e))?;
    let written = write_draft(&draft, &key).and_then(|()| {
        // A link is made only where there is nothing, unlike a rename.
        std::fs::hard_link(&draft, path)
    });
    let _ = std::fs::remove_file(&draft);
    match written {
        Ok(()) => Ok(key),
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {
            read_file(path)?.ok_or(Error::NoKey)
        }
        Err(e) => Err(unusable(path, &e)),
    }
}

fn write_draft(draft: &Path, key: &SecretKey) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(draft)?;
    writeln!(file, "{}", hex::encode(key.0))?;
    file.sync_all()
}

fn unusable(path: &Path, error: &std::io::Error) -> Error {
    Error::BadKey(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use kurier_core::id::WorkspaceId;

    use super::*;

    fn scope(number: u8) -> Scope {
        Scope(WorkspaceId::from_bytes([number; 16]))
    }

    fn secrets() -> Secrets {
        let mut secrets = Secrets::default();
        secrets.set("password", Some("swordfish".into()));
        secrets
    }

    #[test]
    fn what_is_sealed_opens_for_its_own_channel_only() {
        let key = SecretKey::read(&"ab".repeat(32)).expect("a key");
        let vault = Vault::new(Some(key), None);
        let sealed = vault.seal(scope(1), "email", &secrets()).expect("sealed");
        assert!(!sealed.windows(9).any(|it| it == b"swordfish"));
        let again = vault.seal(scope(1), "email", &secrets()).expect("sealed");
        assert_ne!(sealed, again, "a nonce is used once");
        assert_eq!(
            vault.open(scope(1), "email", &sealed).expect("opened"),
            secrets()
        );
        assert!(vault.open(scope(2), "email", &sealed).is_err());
        assert!(vault.open(scope(1), "emails", &sealed).is_err());
        for at in 0..sealed.len() {
            let mut damaged = sealed.clone();
            damaged[at] ^= 1;
            assert!(
                vault.open(scope(1), "email", &damaged).is_err(),
                "byte {at}"
            );
        }
        let other = SecretKey::read(&STANDARD.encode([7; 32])).expect("a key");
        let other = Vault::new(Some(other), None);
        assert!(matches!(
            other.open(scope(1), "email", &sealed),
            Err(Error::Sealed)
        ));
        assert!(vault.open(scope(1), "email", &[]).is_err());
    }

    #[test]
    fn a_key_is_made_beside_the_data_for_its_owner_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let vault = Vault::new(None, Some(folder.path()));
        assert!(vault.open(scope(1), "a", &[1; 60]).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).expect("read").count(), 0);
        let sealed = vault.seal(scope(1), "a", &secrets()).expect("sealed");
        let file = folder.path().join("secret.key");
        let mode = std::fs::metadata(&file)
            .expect("there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).expect("read").count(), 1);
        let next = Vault::new(None, Some(folder.path()));
        assert_eq!(
            next.open(scope(1), "a", &sealed).expect("opened"),
            secrets()
        );
    }

    #[test]
    fn of_many_who_make_a_key_one_does() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("not there yet/secret.key");
        let keys: Vec<SecretKey> = std::thread::scope(|threads| {
            let makers: Vec<_> = (0..8)
                .map(|_| threads.spawn(|| make_file(&file).expect("made")))
                .collect();
            makers
                .into_iter()
                .map(|it| it.join().expect("done"))
                .collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
        assert_eq!(read_file(&file).expect("read"), Some(keys[0].clone()));
    }

    #[test]
    fn without_a_key_the_error_says_what_to_set() {
        let vault = Vault::new(None, None);
        let error = vault.seal(scope(1), "a", &secrets()).expect_err("no key");
        assert!(error.to_string().contains("KURIER_SECRET_KEY"), "{error}");
        for bad in ["", "short", &"z".repeat(64), &"ab".repeat(31)] {
            assert!(SecretKey::read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn nothing_prints_a_secret() {
        let key = SecretKey::read(&"ab".repeat(32)).expect("a key");
        let shown = format!("{:?} {:?}", key, secrets());
        assert_eq!(shown, r#"SecretKey(secret) Secrets(["password"])"#);
    }
}
