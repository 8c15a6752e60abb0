//! What a keyspace answers.

use super::{Cursor, Error, Scored};

/// The answer to one command or script.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    Flag(bool),
    Integer(i64),
    Value(Option<Vec<u8>>),
    Members(Vec<Vec<u8>>),
    Fields(Vec<(String, Vec<u8>)>),
    Scored(Vec<Scored>),
    Score(Option<f64>),
    Ttl(Ttl),
    Page(Page),
    /// Only from scripts, which answer with integers, values and lists of these.
    List(Vec<Reply>),
    /// This command failed; its neighbours in the pipeline did not.
    Failed(Error),
}

/// How long a key will live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ttl {
    Missing,
    Forever,
    Ms(u64),
}

/// One page of a scan. It may be empty although others follow: only `next` says when it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub keys: Vec<String>,
    pub next: Option<Cursor>,
}

/// A function that takes the value out of the variant its command promises.
macro_rules! taker {
    ($name:ident, $variant:ident, $type:ty) => {
        #[doc = concat!("The value of a [`Reply::", stringify!($variant), "`], or the error.")]
        pub fn $name(self) -> Result<$type, Error> {
            match self {
                Self::$variant(value) => Ok(value),
                other => Err(other.unexpected(stringify!($variant))),
            }
        }
    };
}

impl Reply {
    taker!(flag, Flag, bool);
    taker!(integer, Integer, i64);
    taker!(value, Value, Option<Vec<u8>>);
    taker!(members, Members, Vec<Vec<u8>>);
    taker!(fields, Fields, Vec<(String, Vec<u8>)>);
    taker!(scored, Scored, Vec<Scored>);
    taker!(score, Score, Option<f64>);
    taker!(ttl, Ttl, Ttl);
    taker!(page, Page, Page);
    taker!(list, List, Vec<Reply>);

    /// The value of a [`Reply::Integer`] that counts things.
    pub fn count(self) -> Result<u64, Error> {
        let integer = self.integer()?;
        u64::try_from(integer).map_err(|_| Error::Unexpected(format!("a count of {integer}")))
    }

    /// Whether Redis could have answered this to a script. Checked in memory too, so that a
    /// local script cannot promise its callers what its Lua twin will not keep.
    pub(super) fn suits_script(&self) -> bool {
        match self {
            Self::Integer(_) | Self::Value(_) => true,
            Self::List(replies) => replies.iter().all(Self::suits_script),
            _ => false,
        }
    }

    fn unexpected(self, wanted: &str) -> Error {
        match self {
            Self::Failed(error) => error,
            // The reply itself may hold contact data and stays out of the message.
            _ => Error::Unexpected(format!("the reply is not of the kind {wanted}")),
        }
    }
}
