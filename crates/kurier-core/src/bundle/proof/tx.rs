//! Transactions: so much of them as it takes to find a commitment, and where one ends.

use super::super::bytes::{Reader, put_varint};
use super::super::hash::{Digest, Hash256};
use super::fault::Fault;

/// More would not fit a bundle.
pub const TX_BYTES_MAX: usize = 100_000;
const INPUT_BYTES_MIN: usize = 41;
const OUTPUT_BYTES_MIN: usize = 9;

const OP_FALSE: u8 = 0x00;
const OP_PUSHDATA1: u8 = 0x4c;
const OP_PUSHDATA2: u8 = 0x4d;
const OP_PUSHDATA4: u8 = 0x4e;
const OP_RETURN: u8 = 0x6a;

/// A transaction without witnesses, as it is hashed for its id.
#[derive(Debug, Clone)]
pub struct Tx<'a> {
    raw: &'a [u8],
    spends: Vec<Hash256>,
    scripts: Vec<Script<'a>>,
}

/// What an output asks for.
#[derive(Debug, Clone, Copy)]
pub struct Script<'a>(&'a [u8]);

impl<'a> Tx<'a> {
    /// Reads a transaction that is all there is.
    pub fn parse(raw: &'a [u8]) -> Result<Self, Fault> {
        if raw.len() > TX_BYTES_MAX {
            return Err(Fault::TooLarge);
        }
        let mut reader = Reader::new(raw);
        let tx = Self::read(&mut reader)?;
        match reader.left() {
            0 => Ok(tx),
            _ => Err(Fault::Trailing),
        }
    }

    /// Reads a transaction that others follow.
    pub(in crate::bundle) fn read(reader: &mut Reader<'a>) -> Result<Self, Fault> {
        let whole = reader.rest();
        reader.u32()?;
        let spends = read_inputs(reader)?;
        let scripts = read_outputs(reader)?;
        reader.u32()?;
        // No inputs is also how a transaction with witnesses begins.
        if spends.is_empty() || scripts.is_empty() {
            return Err(Fault::NoInputs);
        }
        let raw = &whole[..whole.len() - reader.left()];
        Ok(Self {
            raw,
            spends,
            scripts,
        })
    }

    pub fn raw(&self) -> &'a [u8] {
        self.raw
    }

    pub fn txid(&self) -> Hash256 {
        Hash256::of(self.raw)
    }

    /// The transactions whose outputs it spends.
    pub fn spends(&self) -> &[Hash256] {
        &self.spends
    }

    pub fn scripts(&self) -> &[Script<'a>] {
        &self.scripts
    }

    /// The first output that carries these 32 bytes and nothing but data.
    pub fn commits_to(&self, root: &Digest) -> Option<usize> {
        let carries = |script: &Script<'_>| script.pushes().any(|push| push == root.0);
        self.scripts.iter().position(carries)
    }
}

pub(super) fn read_inputs(reader: &mut Reader<'_>) -> Result<Vec<Hash256>, Fault> {
    let count = reader.count(INPUT_BYTES_MIN)?;
    let mut spends = Vec::with_capacity(count);
    for _ in 0..count {
        spends.push(Hash256(reader.array()?));
        reader.u32()?;
        reader.sized()?;
        reader.u32()?;
    }
    Ok(spends)
}

pub(super) fn read_outputs<'a>(reader: &mut Reader<'a>) -> Result<Vec<Script<'a>>, Fault> {
    let count = reader.count(OUTPUT_BYTES_MIN)?;
    let mut scripts = Vec::with_capacity(count);
    for _ in 0..count {
        reader.array::<8>()?;
        scripts.push(Script(reader.sized()?));
    }
    Ok(scripts)
}

impl<'a> Script<'a> {
    /// What is pushed behind OP_RETURN, or OP_FALSE OP_RETURN, up to the first thing that is
    /// no push; nothing of other scripts.
    pub fn pushes(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let behind = match self.0 {
            [OP_RETURN, rest @ ..] | [OP_FALSE, OP_RETURN, rest @ ..] => rest,
            _ => &[],
        };
        let mut reader = Reader::new(behind);
        std::iter::from_fn(move || next_push(&mut reader))
    }
}

fn next_push<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let length = match reader.byte().ok()? {
        direct @ 0..OP_PUSHDATA1 => usize::from(direct),
        OP_PUSHDATA1 => usize::from(reader.byte().ok()?),
        OP_PUSHDATA2 => usize::from(u16::from_le_bytes(reader.array().ok()?)),
        OP_PUSHDATA4 => usize::try_from(reader.u32().ok()?).ok()?,
        _ => return None,
    };
    reader.take(length).ok()
}

/// A transaction that carries a commitment and can be mined where no one asks for money:
/// at home. `salt` tells it from others.
pub fn committing_tx(root: &Digest, salt: u64) -> Vec<u8> {
    let mut raw = 1_u32.to_le_bytes().to_vec();
    raw.push(1);
    raw.extend([0; 32]);
    raw.extend(u32::MAX.to_le_bytes());
    put_varint(&mut raw, 9);
    raw.push(8);
    raw.extend(salt.to_le_bytes());
    raw.extend(u32::MAX.to_le_bytes());
    raw.push(1);
    raw.extend([0; 8]);
    put_varint(&mut raw, 35);
    raw.extend([OP_FALSE, OP_RETURN, 32]);
    raw.extend(root.0);
    raw.extend([0; 4]);
    raw
}
