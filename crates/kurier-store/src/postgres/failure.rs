//! Why a call of `log_append` failed, whichever client made it.

use crate::Error;

/// What `log_append` says when others have appended too much.
const BEHIND: &str = "KU001";

pub struct Failure {
    /// What the database called it, if it said anything.
    code: Option<String>,
    error: Error,
}

impl Failure {
    pub fn unavailable(why: &str) -> Self {
        Self {
            code: None,
            error: Error::Unavailable(why.into()),
        }
    }

    /// Whether the database refused what is in the batch (classes 22 and 23: a value, a
    /// constraint), rather than being in trouble itself.
    pub fn is_refusal(&self) -> bool {
        let code = self.code.as_deref();
        code.is_some_and(|code| code.starts_with("22") || code.starts_with("23"))
    }

    pub fn is_behind(&self) -> bool {
        self.code.as_deref() == Some(BEHIND)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        failure.error
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        let code = error.as_database_error().and_then(|error| error.code());
        Self {
            code: code.map(Into::into),
            error: error.into(),
        }
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        let cause = std::error::Error::source(&error);
        let why = cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"));
        Self {
            code: error.code().map(|code| code.code().to_owned()),
            error: Error::Unavailable(why),
        }
    }
}
