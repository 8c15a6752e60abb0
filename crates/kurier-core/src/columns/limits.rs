//! How much a world keeps columns for. Names come from clients: one that puts ids into them
//! would make a column each. What has no column is missing to every expression, and counted.

/// So many there may be of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Paths of attributes of a workspace's contacts.
    pub attributes: usize,
    /// Paths of properties of one event type.
    pub properties: usize,
    /// Types of events of a workspace.
    pub event_types: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            attributes: 500,
            properties: 500,
            event_types: 10_000,
        }
    }
}

/// How many values were not kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unkept {
    pub attributes: u64,
    pub properties: u64,
    /// Events of which only the time is known.
    pub event_types: u64,
}

impl Unkept {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How many paths there may be, and how many values found none.
#[derive(Debug)]
pub struct Room {
    pub max: usize,
    pub unkept: u64,
}

impl Room {
    pub const fn new(max: usize) -> Self {
        Self { max, unkept: 0 }
    }
}
