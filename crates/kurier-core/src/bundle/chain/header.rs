//! A block's header: 80 bytes, its hash, and the proof of work in it.

use super::super::hash::Hash256;
use super::Chain;
use super::refusal::Refusal;
use super::target;
use super::u256::U256;

pub const HEADER_BYTES: usize = 80;

/// A header as its 80 bytes; all of them are there, none is checked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Header {
    pub version: u32,
    pub prev: Hash256,
    pub merkle_root: Hash256,
    /// Seconds since 1970.
    pub time: u32,
    pub bits: u32,
    pub nonce: u32,
}

impl Header {
    pub fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        let whole: &[u8; HEADER_BYTES] = bytes.try_into().map_err(|_| Refusal::Size)?;
        Ok(Self::of(whole))
    }

    pub fn of(bytes: &[u8; HEADER_BYTES]) -> Self {
        Self {
            version: number(bytes, 0),
            prev: hash(bytes, 4),
            merkle_root: hash(bytes, 36),
            time: number(bytes, 68),
            bits: number(bytes, 72),
            nonce: number(bytes, 76),
        }
    }

    pub fn bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&self.version.to_le_bytes());
        bytes[4..36].copy_from_slice(&self.prev.0);
        bytes[36..68].copy_from_slice(&self.merkle_root.0);
        bytes[68..72].copy_from_slice(&self.time.to_le_bytes());
        bytes[72..76].copy_from_slice(&self.bits.to_le_bytes());
        bytes[76..].copy_from_slice(&self.nonce.to_le_bytes());
        bytes
    }

    pub fn hash(&self) -> Hash256 {
        Hash256::of(&self.bytes())
    }
}

fn number(bytes: &[u8; HEADER_BYTES], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(word)
}

fn hash(bytes: &[u8; HEADER_BYTES], at: usize) -> Hash256 {
    let mut hash = [0; 32];
    hash.copy_from_slice(&bytes[at..at + 32]);
    Hash256(hash)
}

/// The work that a header proves. The order of the checks is what makes it safe: bits that
/// stand for no target, then a target beyond the chain's limit, then a hash beyond the
/// target; only what passed all three is worth anything.
pub fn proven_work(chain: Chain, bits: u32, hash: &Hash256) -> Result<U256, Refusal> {
    let target = target::expand(bits).map_err(Refusal::Compact)?;
    if target > chain.target_max() {
        return Err(Refusal::AboveLimit);
    }
    if U256::from_le_bytes(&hash.0) > target {
        return Err(Refusal::ProofOfWork);
    }
    Ok(target::work(target))
}
