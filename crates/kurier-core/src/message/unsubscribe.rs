//! The token in an unsubscribe link: all that is to be known, with a tag that only the
//! workspace can make. It does not expire, for mails grow old and laws do not ask how old.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use uuid::Uuid;

use super::{AddressKind, Topic};
use crate::id::{AddressKey, IdentityKey, MessageId, WorkspaceId};

const VERSION: u8 = 1;
const HEAD: usize = 2 + 3 * 16;
const TAG: usize = 32;
/// More than the longest topic takes; whoever sends more means harm.
const TOKEN_CHARS_MAX: usize = 1_024;

/// Who does not want what any more, and which message they answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsubscribe {
    pub workspace: WorkspaceId,
    pub kind: AddressKind,
    pub address: AddressKey,
    pub message: MessageId,
    pub topic: Topic,
}

impl Unsubscribe {
    /// The token, fit for a URL.
    pub fn seal(&self, key: &IdentityKey) -> String {
        let ids = [
            self.workspace.as_uuid(),
            self.address.as_uuid(),
            self.message.as_uuid(),
        ];
        let ids = ids.map(Uuid::into_bytes).concat();
        let head = [VERSION, letter(self.kind)];
        let said = [&head, &ids[..], self.topic.as_str().as_bytes()].concat();
        let tag = key.seal(&said);
        URL_SAFE_NO_PAD.encode([&said[..], &tag].concat())
    }
}

/// A token that was read and is not believed yet: the key to check it with is its workspace's.
#[derive(Debug)]
pub struct Sealed {
    said: Vec<u8>,
    tag: [u8; TAG],
}

impl Sealed {
    pub fn read(token: &str) -> Option<Self> {
        if token.len() > TOKEN_CHARS_MAX {
            return None;
        }
        let mut said = URL_SAFE_NO_PAD.decode(token).ok()?;
        let at = said.len().checked_sub(TAG).filter(|at| *at > HEAD)?;
        let tag = said.split_off(at).try_into().ok()?;
        (said[0] == VERSION).then_some(Self { said, tag })
    }

    /// The workspace it claims to be of.
    pub fn workspace(&self) -> WorkspaceId {
        WorkspaceId::from_bytes(self.id(0))
    }

    /// What it says, if this key made it.
    pub fn open(&self, key: &IdentityKey) -> Option<Unsubscribe> {
        if !key.is_seal(&self.said, &self.tag) {
            return None;
        }
        let topic = std::str::from_utf8(&self.said[HEAD..]).ok()?;
        let mut kinds = AddressKind::ALL.iter();
        Some(Unsubscribe {
            workspace: self.workspace(),
            kind: *kinds.find(|kind| letter(**kind) == self.said[1])?,
            address: AddressKey::from_bytes(self.id(1)),
            message: MessageId::from_bytes(self.id(2)),
            topic: topic.parse().ok()?,
        })
    }

    fn id(&self, index: usize) -> [u8; 16] {
        let from = 2 + 16 * index;
        let bytes = self.said[from..from + 16].try_into();
        bytes.expect("what was read is longer than its head")
    }
}

const fn letter(kind: AddressKind) -> u8 {
    match kind {
        AddressKind::Email => b'e',
        AddressKind::Phone => b'p',
        AddressKind::Other => b'o',
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::time::Timestamp;

    fn key(secret: u8) -> IdentityKey {
        IdentityKey::new([secret; 32])
    }

    fn unsubscribe(topic: &str, seed: u8) -> Unsubscribe {
        Unsubscribe {
            workspace: WorkspaceId::new(Timestamp::from_millis(1), [seed; 10]),
            kind: AddressKind::ALL[usize::from(seed) % 3],
            address: key(1).address("ann@example.com"),
            message: MessageId::from_bytes([seed.wrapping_mul(7); 16]),
            topic: topic.parse().expect("a topic"),
        }
    }

    fn opened(token: &str, secret: u8) -> Option<Unsubscribe> {
        Sealed::read(token)?.open(&key(secret))
    }

    proptest! {
        #[test]
        fn a_token_comes_back_and_only_under_its_key(topic in "[a-zäß][ -~]{0,50}[a-z]", seed: u8) {
            let said = unsubscribe(&topic, seed);
            let token = said.seal(&key(1));
            prop_assert_eq!(Sealed::read(&token).expect("one").workspace(), said.workspace);
            prop_assert_eq!(opened(&token, 1), Some(said));
            prop_assert_eq!(opened(&token, 2), None);
        }

        #[test]
        fn any_other_byte_is_refused(topic in "[a-z]{1,20}", seed: u8, at: prop::sample::Index, flip in 1u8..) {
            let token = unsubscribe(&topic, seed).seal(&key(1));
            let mut bytes = URL_SAFE_NO_PAD.decode(&token).expect("ours");
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
            prop_assert_eq!(opened(&URL_SAFE_NO_PAD.encode(bytes), 1), None);
        }

        #[test]
        fn any_other_text_is_refused(seed: u8, at: prop::sample::Index, other in "[A-Za-z0-9_=~/+-]") {
            let token = unsubscribe("news", seed).seal(&key(1));
            let at = at.index(token.len());
            let mut changed = token.clone();
            changed.replace_range(at..=at, &other);
            prop_assume!(changed != token);
            prop_assert_eq!(opened(&changed, 1), None);
            prop_assert_eq!(opened(&token[..at], 1), None);
            prop_assert_eq!(opened(&format!("{token}{other}"), 1), None);
        }

        #[test]
        fn nonsense_is_refused(text in "\\PC{0,400}") {
            prop_assert_eq!(opened(&text, 1), None);
        }
    }

    #[test]
    fn a_token_is_fit_for_a_url() {
        let token = unsubscribe("produkt neuheiten & mehr", 9).seal(&key(1));
        assert!(
            token
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        );
        assert!(token.len() < 150, "{}", token.len());
        let longest = unsubscribe(&"ß".repeat(100), 9).seal(&key(1));
        assert!(opened(&longest, 1).is_some());
    }
}
