//! Why a header is refused.

use super::target::CompactFault;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("a header has 80 bytes")]
    Size,
    #[error("its bits are no target: {0}")]
    Compact(CompactFault),
    #[error("its target is above the limit of the chain")]
    AboveLimit,
    #[error("its hash does not meet its target")]
    ProofOfWork,
    #[error("its bits are not those that the difficulty rule asks for")]
    Difficulty,
    #[error("the headers that the difficulty rule looks at are not known")]
    ContextMissing,
    #[error("its time is not after the median of the last eleven")]
    TimeTooOld,
    #[error("its time is two hours ahead or more")]
    TimeTooNew,
    #[error("it is not the block that tells this chain from another at its height")]
    OtherChain,
    #[error("it forks off below the checkpoint")]
    BelowCheckpoint,
    #[error("it is on the list of those to be denied")]
    Denied,
    #[error("it does not follow the header before it")]
    Unlinked,
    #[error("the last of these headers is not the checkpoint")]
    NotTheCheckpoint,
    #[error("the sum of work does not fit 256 bits")]
    WorkOverflow,
}

/// Which of many headers was refused; those before it were taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("header {index}: {refusal}")]
pub struct RefusedAt {
    pub index: usize,
    pub refusal: Refusal,
}
