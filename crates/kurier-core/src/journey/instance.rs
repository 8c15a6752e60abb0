//! An instance: one run of a contact through a version of a journey. A million of them wait
//! in memory, so it holds numbers; its path is not here but in the log.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Definition, Node, NodeIndex};
use crate::event::Position;
use crate::expr::Datum;
use crate::id::{EventId, InstanceId, MessageId};
use crate::path::Path;
use crate::time::Timestamp;
use crate::value::{Object, Value};

#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    pub id: InstanceId,
    /// What began it.
    pub trigger: EventId,
    pub last_message: Option<(MessageId, NodeIndex)>,
    pub key: Option<Box<str>>,
    /// Custom keys of `state_data`.
    pub state: Option<Box<Object>>,
    pub entered_at: Timestamp,
    /// When it came to the node it is at.
    pub arrived_at: Timestamp,
    /// When time alone may move it.
    pub due: Timestamp,
    /// Only events behind this one can move it.
    pub since: Position,
    /// The contact's number in the world.
    pub contact: u32,
    /// The number of its version among all versions.
    pub version: u32,
    pub node: NodeIndex,
    /// How many decisions were made about it.
    pub seq: u32,
    /// How many nodes it has passed.
    pub steps: u32,
    /// It came to its node while the journey was paused, and has not visited it yet.
    pub is_held: bool,
}

impl Instance {
    /// What `journey.…` means for this instance.
    pub fn datum<'a>(&'a self, definition: &'a Definition, names: &[String]) -> Datum<'a> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match names.as_slice() {
            ["id"] => Datum::Text(self.id.to_string().into()),
            ["name"] => Datum::Text(definition.name.as_str().into()),
            ["version"] => Datum::Number(f64::from(definition.version)),
            ["key"] => text(self.key.as_deref()),
            ["state", key] => self
                .reserved(definition, key)
                .unwrap_or_else(|| self.custom(&[key])),
            ["state", path @ ..] => self.custom(path),
            _ => Datum::Missing,
        }
    }

    /// The same as a value to keep, whole where it is an object.
    pub fn value(&self, definition: &Definition, names: &[String]) -> Option<Value> {
        if let [state] = names
            && state == "state"
        {
            return Some(Value::Object(self.state_data(definition)));
        }
        match self.datum(definition, names) {
            Datum::Object => {
                let path: Path = names[1..].join(".").parse().ok()?;
                path.find(self.state.as_deref()?).cloned()
            }
            datum => datum.into_value(),
        }
    }

    fn custom(&self, path: &[&str]) -> Datum<'_> {
        let Some((last, parents)) = path.split_last() else {
            return Datum::Missing;
        };
        let mut object = self.state.as_deref();
        for name in parents {
            object = object.and_then(|object| object.get(*name)?.as_object());
        }
        Datum::of(object.and_then(|object| object.get(*last)))
    }

    fn reserved<'a>(&'a self, definition: &'a Definition, key: &str) -> Option<Datum<'a>> {
        let time = |time: Option<Timestamp>| time.map_or(Datum::Missing, Datum::Time);
        let wait = match definition.node(self.node) {
            Some(Node::Wait(wait)) => Some(wait),
            _ => None,
        };
        let begun = wait.map(|_| self.arrived_at);
        Some(match key {
            "entry_time" => Datum::Time(self.entered_at),
            "trigger_event_id" => Datum::Text(self.trigger.to_string().into()),
            "wait_start_time" => time(begun),
            "wait_until" => time(wait.and_then(|wait| wait.until(self.arrived_at))),
            // Looks that change nothing are not on record; the first one is.
            "last_condition_check" => {
                time(begun.filter(|_| wait.is_some_and(|w| w.rule().is_some())))
            }
            "last_message_id" => {
                let id = self.last_message.map(|(id, _)| id.to_string());
                id.map_or(Datum::Missing, |id| Datum::Text(id.into()))
            }
            "last_message_channel" => text(self.last_channel(definition)),
            "step_count" => Datum::Number(f64::from(self.steps)),
            _ => return None,
        })
    }

    fn last_channel<'a>(&self, definition: &'a Definition) -> Option<&'a str> {
        match definition.node(self.last_message?.1)? {
            Node::SendMessage(send) => Some(&send.channel),
            _ => None,
        }
    }

    /// The seed's `state_data`: reserved and custom keys together.
    pub fn state_data(&self, definition: &Definition) -> Object {
        let mut all = self.state.as_deref().cloned().unwrap_or_default();
        for key in super::rule::RESERVED_KEYS {
            let value = match self.reserved(definition, key) {
                Some(Datum::Text(text)) => Value::Text(text.into_owned()),
                Some(Datum::Time(time)) => Value::Text(time.to_string()),
                Some(Datum::Number(number)) => Value::Int(number as i64),
                _ => continue,
            };
            all.insert((*key).to_owned(), value);
        }
        all
    }

    /// How many bytes it takes beside its own size.
    pub fn heap_bytes(&self) -> usize {
        let state = self.state.as_ref().map_or(0, |state| {
            state.keys().map(|key| key.len() + 64).sum::<usize>() + 64
        });
        self.key.as_ref().map_or(0, |key| key.len()) + state
    }
}

fn text(text: Option<&str>) -> Datum<'_> {
    text.map_or(Datum::Missing, |text| Datum::Text(text.into()))
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It came to an exit.
    Exit,
    /// `exit_when` held.
    ExitWhen,
    /// A new run took its place.
    Restarted,
    /// An operator took it out.
    Cancelled,
    /// Its contact became part of another that has such a run already.
    Merged,
    /// Its contact was erased.
    Erased,
    /// It went through more nodes than one run may.
    StepLimit,
}

/// The seed's status of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Active,
    Completed,
    Cancelled,
}

impl Status {
    pub const ALL: &[Self] = &[Self::Active, Self::Completed, Self::Cancelled];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn named(text: &str) -> Option<Self> {
        let named = Self::ALL.iter().find(|status| status.as_str() == text);
        named.copied()
    }
}

impl Ending {
    pub const ALL: &[Self] = &[
        Self::Exit,
        Self::ExitWhen,
        Self::Restarted,
        Self::Cancelled,
        Self::Merged,
        Self::Erased,
        Self::StepLimit,
    ];

    pub fn named(text: &str) -> Option<Self> {
        let named = Self::ALL.iter().find(|ending| ending.as_str() == text);
        named.copied()
    }

    pub const fn status(self) -> Status {
        match self {
            Self::Exit | Self::ExitWhen => Status::Completed,
            _ => Status::Cancelled,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exit => "exit",
            Self::ExitWhen => "exit_when",
            Self::Restarted => "restarted",
            Self::Cancelled => "cancelled",
            Self::Merged => "merged",
            Self::Erased => "erased",
            Self::StepLimit => "step_limit",
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
