//! The kinds of value a key may hold. Each knows its own weight without being walked.

use std::collections::{BTreeMap, BTreeSet};

use super::sorted::Sorted;

/// What a field or a member costs besides its bytes.
const ITEM_BYTES: usize = 48;

pub(super) enum Value {
    Text(Vec<u8>),
    Hash(Fields),
    Set(Members),
    Sorted(Sorted),
}

/// A collection that may be the value of a key.
pub(super) trait Collection: Default {
    fn of(value: &Value) -> Option<&Self>;
    fn of_mut(value: &mut Value) -> Option<&mut Self>;
    fn into_value(self) -> Value;
}

macro_rules! collection {
    ($type:ty, $variant:ident) => {
        impl Collection for $type {
            fn of(value: &Value) -> Option<&Self> {
                if let Value::$variant(inner) = value {
                    Some(inner)
                } else {
                    None
                }
            }

            fn of_mut(value: &mut Value) -> Option<&mut Self> {
                if let Value::$variant(inner) = value {
                    Some(inner)
                } else {
                    None
                }
            }

            fn into_value(self) -> Value {
                Value::$variant(self)
            }
        }
    };
}

collection!(Fields, Hash);
collection!(Members, Set);
collection!(Sorted, Sorted);

impl Value {
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Hash(fields) => fields.bytes,
            Self::Set(members) => members.bytes,
            Self::Sorted(sorted) => sorted.bytes(),
        }
    }

    /// A collection that loses its last item is gone; an empty text is a value like any other.
    pub(super) fn is_empty_collection(&self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::Hash(fields) => fields.map.is_empty(),
            Self::Set(members) => members.set.is_empty(),
            Self::Sorted(sorted) => sorted.len() == 0,
        }
    }
}

#[derive(Default)]
pub(super) struct Fields {
    map: BTreeMap<String, Vec<u8>>,
    bytes: usize,
}

impl Fields {
    /// Whether the field is new.
    pub(super) fn insert(&mut self, field: String, value: Vec<u8>) -> bool {
        let field_bytes = ITEM_BYTES + field.len();
        self.bytes += field_bytes + value.len();
        let Some(old) = self.map.insert(field, value) else {
            return true;
        };
        self.bytes -= field_bytes + old.len();
        false
    }

    pub(super) fn remove(&mut self, field: &str) -> bool {
        let Some(old) = self.map.remove(field) else {
            return false;
        };
        self.bytes -= ITEM_BYTES + field.len() + old.len();
        true
    }

    pub(super) fn get(&self, field: &str) -> Option<&Vec<u8>> {
        self.map.get(field)
    }

    pub(super) fn to_vec(&self) -> Vec<(String, Vec<u8>)> {
        self.map
            .iter()
            .map(|(field, value)| (field.clone(), value.clone()))
            .collect()
    }
}

#[derive(Default)]
pub(super) struct Members {
    set: BTreeSet<Vec<u8>>,
    bytes: usize,
}

impl Members {
    /// Whether the member is new.
    pub(super) fn insert(&mut self, member: Vec<u8>) -> bool {
        let bytes = ITEM_BYTES + member.len();
        let is_new = self.set.insert(member);
        if is_new {
            self.bytes += bytes;
        }
        is_new
    }

    pub(super) fn remove(&mut self, member: &[u8]) -> bool {
        let existed = self.set.remove(member);
        if existed {
            self.bytes -= ITEM_BYTES + member.len();
        }
        existed
    }

    pub(super) fn contains(&self, member: &[u8]) -> bool {
        self.set.contains(member)
    }

    pub(super) fn len(&self) -> usize {
        self.set.len()
    }

    pub(super) fn to_vec(&self) -> Vec<Vec<u8>> {
        self.set.iter().cloned().collect()
    }
}
