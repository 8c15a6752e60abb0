//! What someone shows for versions: a transaction that commits to them and, once it is mined,
//! the way to its block. It comes as wallets hand it over, and is kept in one form.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::chain::{Chain, Header, Refusal, Tree, proven_work};
use super::commitment::{Commitment, leaf};
use super::envelope::Hex;
use super::hash::{Digest, Hash256};
use super::proof::{
    Beef, Bump, Fault, Target, Tsc, Tx, check_anchor, check_txid, without_witnesses,
};

/// What is shown: a transaction with its proof as BUMP, TSC or BEEF, or without one.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Shown {
    pub tx: Option<Hex>,
    pub bump: Option<Hex>,
    pub tsc: Option<Box<RawValue>>,
    pub beef: Option<Hex>,
    /// The block's, where our own headers do not reach it.
    pub header: Option<Hex>,
}

/// A transaction, and where it is if it is anywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    pub tx: Vec<u8>,
    pub block: Option<(Bump, Header)>,
}

/// A version and how the transaction's bytes come from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    pub version: Digest,
    pub commitment: Commitment,
}

/// `version.proven`: everything in it was verified before it was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proving {
    pub versions: Vec<Subject>,
    pub tx: Hex,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bump: Option<Hex>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<Hex>,
}

/// What is known of the chain when something is shown.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    pub chain: Chain,
    /// None while no source has told of any header.
    pub tree: Option<&'a Tree>,
    /// In seconds since 1970.
    pub now: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceFault {
    #[error("one of `bump`, `tsc` and `beef` is a proof; more than one was given")]
    Several,
    #[error("the transaction is missing: give it as `tx`")]
    NoTransaction,
    #[error("{0}")]
    Proof(#[from] Fault),
    #[error("no transaction in it carries the commitment {0}")]
    NotCommitted(Digest),
    #[error("the batch's path is none of a leaf at its place")]
    Path,
    #[error("a header has 80 bytes")]
    Header,
    #[error("the height of its block is not said: give it in the proof")]
    NoHeight,
    #[error(
        "the proof leads to no block that our headers have at height {0}; give the block's `header` if they do not reach it yet"
    )]
    UnknownBlock(u32),
    #[error("the given header is none of a block: {0}")]
    NoBlock(Refusal),
    #[error("the given header is that of a block at height {0}, not at that of the proof")]
    OtherHeight(u32),
    #[error(
        "of which chain its block is cannot be told: HEADERS_SOURCE says where block headers are"
    )]
    NoChain,
}

/// A transaction, its path, and the header that was given with it.
type Parts = (Vec<u8>, Option<Bump>, Option<Header>);

impl Shown {
    /// Reads what is shown for this commitment. Where nothing is known of a chain, only a
    /// transaction that is in no block can be taken.
    pub fn read(
        &self,
        root: &Digest,
        known: Option<&Known<'_>>,
    ) -> Result<Evidence, EvidenceFault> {
        let header = self.header.as_ref().map(|hex| Header::parse(&hex.0));
        let header = header.transpose().map_err(|_| EvidenceFault::Header)?;
        let (tx, bump, header) = match (&self.bump, &self.tsc, &self.beef) {
            (Some(bump), None, None) => (self.raw()?, Some(of_bump(bump)?), header),
            (None, Some(tsc), None) => self.of_tsc(tsc, header)?,
            (None, None, Some(beef)) => {
                let (tx, bump) = of_beef(&beef.0, root)?;
                (tx, bump, header)
            }
            (None, None, None) => (self.raw()?, None, header),
            _ => return Err(EvidenceFault::Several),
        };
        Evidence::verified(tx, bump, header, root, known)
    }

    /// Wallets hand over transactions with witnesses; their id is that of the rest.
    fn raw(&self) -> Result<Vec<u8>, EvidenceFault> {
        let raw = self.tx.as_ref().ok_or(EvidenceFault::NoTransaction)?;
        Ok(without_witnesses(&raw.0)?)
    }

    fn of_tsc(&self, text: &RawValue, header: Option<Header>) -> Result<Parts, EvidenceFault> {
        #[derive(Deserialize)]
        struct Placed {
            height: Option<u32>,
        }
        let tsc = Tsc::parse(text.get().as_bytes())?;
        let raw = match &tsc.raw {
            Some(raw) => raw.clone(),
            None => self.raw()?,
        };
        let (stated, header) = match &tsc.target {
            Some(Target::Height(height)) => (Some(*height), header),
            Some(Target::Header(own)) => (None, Some(*own)),
            _ => (None, header),
        };
        let beside = serde_json::from_str::<Placed>(text.get()).ok();
        let height = stated.or(beside.and_then(|beside| beside.height));
        let bump = tsc.to_bump(height.ok_or(EvidenceFault::NoHeight)?)?;
        Ok((raw, Some(bump), header))
    }
}

fn of_bump(hex: &Hex) -> Result<Bump, EvidenceFault> {
    Ok(Bump::import(&hex.0)?)
}

/// The transaction among many that carries the commitment.
fn of_beef(bytes: &[u8], root: &Digest) -> Result<(Vec<u8>, Option<Bump>), EvidenceFault> {
    let beef = Beef::parse(bytes)?;
    let carries = |raw: &[u8]| Tx::parse(raw).is_ok_and(|tx| tx.commits_to(root).is_some());
    if let Some(proven) = beef.proven().find(|proven| carries(proven.raw)) {
        let bump = proven.bump.only(&proven.txid)?;
        return Ok((proven.raw.to_vec(), Some(bump)));
    }
    let mut unproven = beef.unproven();
    match unproven.find(|(_, raw)| carries(raw)) {
        Some((_, raw)) => Ok((raw.to_vec(), None)),
        None => Err(EvidenceFault::NotCommitted(*root)),
    }
}

impl Evidence {
    fn verified(
        tx: Vec<u8>,
        bump: Option<Bump>,
        header: Option<Header>,
        root: &Digest,
        known: Option<&Known<'_>>,
    ) -> Result<Self, EvidenceFault> {
        let txid = check_txid(&tx, None)?;
        if Tx::parse(&tx)?.commits_to(root).is_none() {
            return Err(EvidenceFault::NotCommitted(*root));
        }
        let block = bump.map(|bump| {
            let known = known.ok_or(EvidenceFault::NoChain)?;
            known.place(&txid, &bump, header)
        });
        Ok(Self {
            block: block.transpose()?,
            tx,
        })
    }

    pub fn proving(&self, versions: Vec<Subject>) -> Proving {
        let (bump, header) = self.block.as_ref().map_or((None, None), |(bump, header)| {
            (Some(Hex(bump.bytes())), Some(Hex(header.bytes().to_vec())))
        });
        Proving {
            versions,
            tx: Hex(self.tx.clone()),
            bump,
            header,
        }
    }
}

impl Known<'_> {
    /// The block that a proof leads to: the one of the best branch, else the one that was given,
    /// if that is one.
    fn place(
        &self,
        txid: &Hash256,
        bump: &Bump,
        given: Option<Header>,
    ) -> Result<(Bump, Header), EvidenceFault> {
        let only = bump.only(txid)?;
        let height = only.height();
        let root = only.root()?;
        let best = self.tree.and_then(|tree| tree.best_at(height));
        let header = match best.filter(|best| best.merkle_root == root) {
            Some(best) => best,
            None => given.ok_or(EvidenceFault::UnknownBlock(height))?,
        };
        check_anchor(txid, &only, &header, height)?;
        self.check(&header, height)?;
        Ok((only, header))
    }

    /// A header costs the work in it, whoever gives it; where its predecessor is known, all
    /// that is asked of headers is asked of it as well.
    fn check(&self, header: &Header, height: u32) -> Result<(), EvidenceFault> {
        proven_work(self.chain, header.bits, &header.hash()).map_err(EvidenceFault::NoBlock)?;
        let stands = self.tree.map(|tree| tree.examine(header, self.now));
        match stands.transpose().map_err(EvidenceFault::NoBlock)? {
            Some(Some(own)) if own != height => Err(EvidenceFault::OtherHeight(own)),
            _ => Ok(()),
        }
    }
}

impl Subject {
    /// The 32 bytes that a transaction must carry for this version.
    pub fn root(&self, tenant: &str, content_sha256: &Digest) -> Result<Digest, EvidenceFault> {
        let leaf = leaf(tenant, &self.version, content_sha256);
        self.commitment.root(&leaf).ok_or(EvidenceFault::Path)
    }
}
