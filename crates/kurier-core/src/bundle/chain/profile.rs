//! The chains Kurier knows, and in what their rules differ.

use serde::{Deserialize, Serialize};

use super::super::hash::Hash256;
use super::header::Header;
use super::u256::U256;

/// Whose rules hold. Bitcoin and Bitcoin SV have their first 478,559 blocks in common, so a
/// proof says of which chain it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Chain {
    Btc,
    Bsv,
    /// Mined at home: anyone can, so it proves nothing to others.
    Regtest,
}

/// A block that only one of several chains has at its height.
struct Pin {
    height: u32,
    hash: &'static str,
}

const BTC_PINS: &[Pin] = &[Pin {
    height: 478_559,
    hash: "00000000000000000019f112ec0a9982926f1258cdcc558dd7c3b7e5dc7fa148",
}];
const BSV_PINS: &[Pin] = &[
    Pin {
        height: 478_559,
        hash: "000000000000000000651ef99cb9fcbe0dadde1d424bd9f15ff20136191a5eec",
    },
    Pin {
        height: 556_767,
        hash: "000000000000000001d956714215d96ffc00e0afda4cd0a96c96f8d802b1662b",
    },
];

const GENESIS_ROOT: [u8; 32] = [
    0x3b, 0xa3, 0xed, 0xfd, 0x7a, 0x7b, 0x12, 0xb2, 0x7a, 0xc7, 0x2c, 0x3e, 0x67, 0x76, 0x8f, 0x61,
    0x7f, 0xc8, 0x1b, 0xc3, 0x88, 0x8a, 0x51, 0x32, 0x3a, 0x9f, 0xb8, 0xaa, 0x4b, 0x1e, 0x5e, 0x4a,
];

impl Chain {
    pub const ALL: [Self; 3] = [Self::Btc, Self::Bsv, Self::Regtest];

    pub fn name(self) -> &'static str {
        match self {
            Self::Btc => "btc",
            Self::Bsv => "bsv",
            Self::Regtest => "regtest",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|chain| chain.name() == name)
    }

    /// The easiest target there may be.
    pub fn target_max(self) -> U256 {
        match self {
            Self::Btc | Self::Bsv => (U256::ONE << 224).wrapping_sub(U256::ONE),
            Self::Regtest => (U256::ONE << 255).wrapping_sub(U256::ONE),
        }
    }

    pub fn genesis(self) -> Header {
        let (time, bits, nonce) = match self {
            Self::Btc | Self::Bsv => (1_231_006_505, 0x1d00_ffff, 2_083_236_893),
            Self::Regtest => (1_296_688_602, 0x207f_ffff, 2),
        };
        Header {
            version: 1,
            prev: Hash256::default(),
            merkle_root: Hash256(GENESIS_ROOT),
            time,
            bits,
            nonce,
        }
    }

    /// Whether a block may stand at this height in this chain, and not in another.
    pub(super) fn allows(self, height: u32, hash: &Hash256) -> bool {
        let pins = match self {
            Self::Btc => BTC_PINS,
            Self::Bsv => BSV_PINS,
            Self::Regtest => &[],
        };
        let pin = pins.iter().find(|pin| pin.height == height);
        pin.is_none_or(|pin| pin.hash.parse() == Ok(*hash))
    }
}
