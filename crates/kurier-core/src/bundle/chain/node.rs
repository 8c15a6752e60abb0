//! A header in the tree: 120 bytes, its predecessor by number instead of by hash.

use super::super::hash::Hash256;
use super::header::Header;
use super::u256::U256;

#[derive(Debug, Clone)]
pub(super) struct Node {
    pub hash: Hash256,
    /// Of the whole branch up to here.
    pub work: U256,
    pub merkle_root: Hash256,
    pub version: u32,
    pub time: u32,
    pub bits: u32,
    pub nonce: u32,
    pub parent: u32,
    pub height: u32,
}

impl Node {
    pub(super) fn new(header: &Header, hash: Hash256, work: U256, place: (u32, u32)) -> Self {
        Self {
            hash,
            work,
            merkle_root: header.merkle_root,
            version: header.version,
            time: header.time,
            bits: header.bits,
            nonce: header.nonce,
            parent: place.0,
            height: place.1,
        }
    }

    pub(super) fn header(&self, prev: Hash256) -> Header {
        Header {
            version: self.version,
            prev,
            merkle_root: self.merkle_root,
            time: self.time,
            bits: self.bits,
            nonce: self.nonce,
        }
    }
}
