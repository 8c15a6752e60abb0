//! What can go wrong with a keyspace.

/// Why a command, a script or a round trip failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The backend did not answer, or is in no state to. Trying later may help; the command may
    /// nevertheless have run, because a connection can break after it was sent.
    #[error("the keyspace is unavailable: {0}")]
    Unavailable(String),
    /// The key holds another kind of value. A script with several keys names them all, since
    /// Redis does not say which one it was.
    #[error("the key {key} holds a value of another type")]
    WrongType { key: String },
    /// The backend, or the vocabulary itself, said no: asking again will not help.
    #[error("the keyspace refused: {0}")]
    Refused(String),
    /// The answer does not have the shape its question promises.
    #[error("the keyspace answered unexpectedly: {0}")]
    Unexpected(String),
}
