//! BEEF (BRC-62, BRC-96, and BRC-95 around them): transactions with the proofs of those that
//! are mined, as wallets hand them over.

use std::collections::HashSet;

use super::super::bytes::Reader;
use super::super::hash::Hash256;
use super::anchor::check_txid;
use super::bump::Bump;
use super::fault::Fault;
use super::read::Form;
use super::tx::Tx;

pub const BEEF_BYTES_MAX: usize = 1024 * 1024;
const V1: [u8; 4] = [0x01, 0x00, 0xbe, 0xef];
const V2: [u8; 4] = [0x02, 0x00, 0xbe, 0xef];
const ATOMIC: [u8; 4] = [0x01; 4];
/// The shortest proof, and the shortest transaction with its mark.
const PROOF_BYTES_MIN: usize = 5;
const TX_BYTES_MIN: usize = 61;

#[derive(Debug, Clone)]
pub struct Beef<'a> {
    /// The transaction that the whole is about, where it says so.
    pub subject: Option<Hash256>,
    pub bumps: Vec<Bump>,
    txs: Vec<Entry<'a>>,
}

#[derive(Debug, Clone)]
struct Entry<'a> {
    txid: Hash256,
    raw: &'a [u8],
    bump: Option<usize>,
}

/// A transaction, and the number of its proof.
type Read<'a> = (Tx<'a>, Option<u64>);

/// A transaction with its proof; whether the proof's block is in the chain is not said.
#[derive(Debug, Clone)]
pub struct Proven<'a> {
    pub txid: Hash256,
    pub raw: &'a [u8],
    pub bump: &'a Bump,
}

impl<'a> Beef<'a> {
    /// Reads it and checks all that can be checked without headers: every proof leads to a
    /// root, every mined transaction is marked in its proof, parents come first.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Fault> {
        if bytes.len() > BEEF_BYTES_MAX {
            return Err(Fault::TooLarge);
        }
        let mut reader = Reader::new(bytes);
        let mut magic = reader.array()?;
        let mut subject = None;
        if magic == ATOMIC {
            subject = Some(Hash256(reader.array()?));
            magic = reader.array()?;
        }
        let mut beef = Self {
            subject,
            bumps: read_bumps(&mut reader)?,
            txs: Vec::new(),
        };
        match magic {
            V1 => beef.read_txs(&mut reader, read_v1)?,
            V2 => beef.read_txs(&mut reader, read_v2)?,
            _ => return Err(Fault::Unreadable),
        }
        beef.check_subject()?;
        match reader.left() {
            0 => Ok(beef),
            _ => Err(Fault::Trailing),
        }
    }

    fn read_txs(
        &mut self,
        reader: &mut Reader<'a>,
        read: fn(&mut Reader<'a>) -> Result<Read<'a>, Fault>,
    ) -> Result<(), Fault> {
        let count = reader.count(TX_BYTES_MIN)?;
        let mut spent: HashSet<Hash256> = HashSet::new();
        for _ in 0..count {
            let (tx, bump) = read(reader)?;
            let txid = check_txid(tx.raw(), None)?;
            if spent.contains(&txid) {
                return Err(Fault::ParentLater);
            }
            spent.extend(tx.spends());
            self.put(txid, tx.raw(), bump)?;
        }
        Ok(())
    }

    fn put(&mut self, txid: Hash256, raw: &'a [u8], bump: Option<u64>) -> Result<(), Fault> {
        let bump = bump.map(|at| at.try_into().map_err(|_| Fault::NoSuchProof));
        let bump = bump.transpose()?;
        if let Some(at) = bump {
            let bump: &Bump = self.bumps.get(at).ok_or(Fault::NoSuchProof)?;
            if !bump.txids().any(|marked| marked == txid) {
                return Err(Fault::OtherMarked);
            }
        }
        self.txs.push(Entry { txid, raw, bump });
        Ok(())
    }

    fn check_subject(&self) -> Result<(), Fault> {
        let there = |subject: &Hash256| self.txs.iter().any(|tx| tx.txid == *subject);
        match self.subject.is_none_or(|subject| there(&subject)) {
            true => Ok(()),
            false => Err(Fault::SubjectMissing),
        }
    }

    /// The mined transactions, each with its proof, which may be of others as well.
    pub fn proven(&self) -> impl Iterator<Item = Proven<'_>> {
        self.txs.iter().filter_map(|tx| {
            Some(Proven {
                txid: tx.txid,
                raw: tx.raw,
                bump: self.bumps.get(tx.bump?)?,
            })
        })
    }

    /// Transactions that are not mined yet, as far as this tells.
    pub fn unproven(&self) -> impl Iterator<Item = (Hash256, &'a [u8])> + '_ {
        let unproven = self.txs.iter().filter(|tx| tx.bump.is_none());
        unproven.map(|tx| (tx.txid, tx.raw))
    }
}

fn read_bumps(reader: &mut Reader<'_>) -> Result<Vec<Bump>, Fault> {
    let count = reader.count(PROOF_BYTES_MIN)?;
    let mut bumps = Vec::new();
    for _ in 0..count {
        bumps.push(Bump::read(reader, Form::Foreign)?);
    }
    Ok(bumps)
}

fn read_v1<'a>(reader: &mut Reader<'a>) -> Result<Read<'a>, Fault> {
    let tx = Tx::read(reader)?;
    match reader.byte()? {
        0 => Ok((tx, None)),
        1 => Ok((tx, Some(reader.varint()?))),
        flag => Err(Fault::Flag(flag)),
    }
}

fn read_v2<'a>(reader: &mut Reader<'a>) -> Result<Read<'a>, Fault> {
    let bump = match reader.byte()? {
        0 => None,
        1 => Some(reader.varint()?),
        2 => return Err(Fault::TxidOnly),
        flag => return Err(Fault::Flag(flag)),
    };
    Ok((Tx::read(reader)?, bump))
}
