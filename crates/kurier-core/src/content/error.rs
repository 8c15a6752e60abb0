//! Why a document is not taken, or a text is no key.

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("is not UTF-8 from byte {at} on")]
    NotUtf8 { at: usize },
    #[error(
        "is {bytes} bytes long; a document has at most {}",
        super::SOURCE_BYTES_MAX
    )]
    TooLong { bytes: usize },
    #[error("has more than {} headings and blocks", super::NODES_MAX)]
    TooManyNodes,
    #[error("becomes longer than {} bytes", super::render::OUTPUT_BYTES_MAX)]
    OutputTooLong,
    #[error("{0:?} is no key")]
    Key(String),
    #[error("{0:?} is no identifier")]
    Identifier(String),
    #[error("{0:?} is no type of a node")]
    Type(String),
    #[error("{0:?} is no SHA-256")]
    Digest(String),
}
