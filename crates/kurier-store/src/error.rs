//! What can go wrong while keeping things.

use kurier_core::event::UnknownKind;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// Full, unreachable, shutting down: the same call may succeed later.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// The database answered something that no version of Kurier can have written.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// The database was made by a newer Kurier, or by something else.
    #[error("the database cannot be used: {0}")]
    Unusable(String),
    /// Somebody else is at it: the same call may succeed when they have ended.
    #[error("{0}")]
    Busy(String),
    /// A projection said something of a table that another one writes.
    #[error("the projection {projection} does not write {table}")]
    Foreign {
        projection: &'static str,
        table: &'static str,
    },
    #[error("{0} is taken")]
    Taken(&'static str),
    #[error(transparent)]
    Kv(#[from] crate::kv::Error),
}

impl From<UnknownKind> for Error {
    fn from(error: UnknownKind) -> Self {
        Self::Damaged(error.to_string())
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => {
                Self::Damaged(error.to_string())
            }
            _ => Self::Unavailable(error.to_string()),
        }
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => {
                Self::Damaged(error.to_string())
            }
            _ => Self::Unavailable(error.to_string()),
        }
    }
}
