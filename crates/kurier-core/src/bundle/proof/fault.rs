//! Why a proof is refused.

use super::super::bytes::BytesFault;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("it ends in the middle, or says that more follows than does")]
    Truncated,
    #[error("it has more bytes than a proof may have")]
    TooLarge,
    #[error("a number is written in more bytes than it needs")]
    Varint,
    #[error("it is no hexadecimal text, or no text of its format")]
    Unreadable,
    #[error("a tree of {0} levels: there are 1 to 32")]
    TreeHeight(u8),
    #[error("a block height beyond 32 bits")]
    BlockHeight,
    #[error("its lowest level is empty")]
    Empty,
    #[error("flag {0}: there are 0, 1 and 2")]
    Flag(u8),
    #[error("a transaction is marked above the lowest level")]
    MarkedInside,
    #[error("the offsets of a level do not ascend")]
    Order,
    #[error("an offset beyond the width of its level")]
    Offset,
    #[error("a duplicate on the left side")]
    DuplicateLeft,
    #[error("a right sibling that equals its left one, where a duplicate would be said to be one")]
    RightEqualsLeft,
    #[error(
        "a left sibling that equals what it stands beside: a place that the block does not have"
    )]
    LeftEqualsWorking,
    #[error("a duplicate that is not the end of its level, or a place behind such an end")]
    Phantom,
    #[error("a sibling is missing")]
    MissingSibling,
    #[error("a hash that no marked transaction needs")]
    Unused,
    #[error("two ways to one node give different hashes")]
    Contradiction,
    #[error("bytes follow behind its end")]
    Trailing,
    #[error("it marks no transaction")]
    NoneMarked,
    #[error("it marks other transactions than the one to be proven")]
    OtherMarked,
    #[error("it is of another height than the block")]
    OtherHeight,
    #[error("it leads to another root than the block's")]
    OtherRoot,
    #[error("the transaction's hash is not its id")]
    OtherTxid,
    #[error("a transaction of 64 bytes could be an inner node")]
    SixtyFourBytes,
    #[error("a lone transaction is a block's root; it has neither levels nor an offset")]
    LoneLeaf,
    #[error("the transaction has no inputs or no outputs, or is given with its witnesses")]
    NoInputs,
    #[error("a transaction is named by its id alone: that proves nothing")]
    TxidOnly,
    #[error("a transaction names a proof that is not there")]
    NoSuchProof,
    #[error("a transaction stands before one that it spends")]
    ParentLater,
    #[error("the transaction that the whole is about is not in it")]
    SubjectMissing,
    #[error("a proof of more than one transaction in this format is not read")]
    Composite,
}

impl From<BytesFault> for Fault {
    fn from(fault: BytesFault) -> Self {
        match fault {
            BytesFault::Truncated => Self::Truncated,
            BytesFault::Varint => Self::Varint,
        }
    }
}
