//! The seed's δ: from a node, an input and a context to the next node and effects. It is
//! pure; whoever calls it carries the effects out.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::scene::Scene;
use super::supply::Supply;
use super::{Definition, Ending, Instance, Node, NodeIndex};
use crate::columns::ContactView;
use crate::event::Position;
use crate::expr::{EventFact, FOREVER};
use crate::id::MessageId;
use crate::message::Channels;
use crate::template::Templates;
use crate::time::Timestamp;
use crate::value::Object;

/// So many nodes are passed for one input; the graph's check leaves nothing that would need
/// more, so this is for what it may have missed.
pub const HOPS_MAX: usize = 20_000;
/// So many nodes may one run pass in its whole life.
pub const STEPS_MAX: u32 = 100_000;

/// Why a node is visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// The instance comes to it.
    Arrive,
    /// An event of the contact is in scope.
    Event,
    /// Something that its condition reads has changed.
    Changed,
    /// Its time has come: the seed's TIMEOUT.
    Due,
    /// The contact has the attributes that the node gave it.
    Updated,
}

/// How an instance leaves a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum By {
    Next,
    True,
    False,
    /// The branch that stands at this place in the definition.
    Branch(u16),
    Default,
    /// What was waited for came.
    Met,
    Timeout,
}

/// What a visit comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum Visit {
    Go {
        by: By,
        to: NodeIndex,
        because: Vec<String>,
    },
    /// Stays until its time, or until what it waits for.
    Stay {
        due: Timestamp,
    },
    /// Stays until its update has been made.
    AwaitUpdate,
    Finish,
}

impl Visit {
    pub const fn go(by: By, to: NodeIndex) -> Self {
        Self::Go {
            by,
            to,
            because: Vec::new(),
        }
    }
}

/// What is to be done outside. The list is closed.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    SendMessage {
        message: MessageId,
        node: NodeIndex,
        supply: Box<Supply>,
    },
    UpdateContact {
        traits: Object,
    },
    /// Sets custom keys of the state.
    Remember {
        state: Object,
    },
    /// Wakes the instance then; in place of the timer it had.
    ArmTimer {
        due: Timestamp,
    },
    DisarmTimer,
    AwaitEvent {
        event_type: String,
    },
    Finish {
        ending: Ending,
    },
}

/// One node left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    pub node: NodeIndex,
    pub by: By,
    pub to: NodeIndex,
    pub because: Vec<String>,
}

/// The world around a step.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub definition: &'a Definition,
    pub view: ContactView<'a>,
    pub templates: &'a Templates,
    pub channels: &'a Channels,
    pub event: Option<&'a EventFact>,
    pub now: Timestamp,
    /// How far the log was read.
    pub position: Position,
    /// The journey is paused: what moves goes no further than the next node, and does not
    /// visit it.
    pub is_paused: bool,
}

impl<'a> Context<'a> {
    pub fn scene<'s>(&'s self, instance: &'s Instance) -> Scene<'s>
    where
        'a: 's,
    {
        Scene {
            view: self.view,
            definition: self.definition,
            instance: Some(instance),
            event: self.event,
        }
    }
}

/// What a step makes of an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// As it is afterwards.
    pub instance: Instance,
    pub hops: Vec<Hop>,
    pub effects: Vec<Effect>,
}

impl Step {
    pub fn ending(&self) -> Option<Ending> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Finish { ending } => Some(*ending),
            _ => None,
        })
    }

    /// Whether nothing happened that anybody needs to know.
    pub fn is_idle(&self) -> bool {
        let only_timers = |effect: &Effect| {
            matches!(
                effect,
                Effect::ArmTimer { .. } | Effect::DisarmTimer | Effect::AwaitEvent { .. }
            )
        };
        self.hops.is_empty() && self.effects.iter().all(only_timers)
    }
}

/// Lets an input move an instance as far as it goes.
pub fn step(instance: Instance, input: Input, cx: &Context<'_>) -> Step {
    let mut walk = Walk {
        cx,
        applied: 0,
        step: Step {
            instance,
            hops: Vec::new(),
            effects: Vec::new(),
        },
    };
    walk.run(input);
    walk.step
}

struct Walk<'a, 'c> {
    cx: &'a Context<'c>,
    /// How many effects the instance itself knows of.
    applied: usize,
    step: Step,
}

impl Walk<'_, '_> {
    fn run(&mut self, input: Input) {
        let mut input = input;
        if self.step.instance.is_held {
            if self.cx.is_paused || input != Input::Due {
                self.exits();
                return;
            }
            self.step.instance.is_held = false;
            self.step.instance.arrived_at = self.cx.now;
            self.step.instance.since = self.cx.position;
            input = Input::Arrive;
        }
        if self.exits() {
            return;
        }
        for _ in 0..HOPS_MAX {
            if self.step.instance.steps >= STEPS_MAX {
                break;
            }
            let visit = self.visit(input);
            match visit {
                Visit::Go { by, to, because } => self.go(by, to, because),
                Visit::Stay { due } => return self.stay(due),
                Visit::AwaitUpdate => return self.await_update(),
                Visit::Finish => return self.finish(Ending::Exit),
            }
            if self.cx.is_paused {
                return self.hold();
            }
            input = Input::Arrive;
        }
        self.finish(Ending::StepLimit);
    }

    fn visit(&mut self, input: Input) -> Visit {
        let Some(node) = self.cx.definition.node(self.step.instance.node) else {
            return Visit::Finish;
        };
        node.visit(input, &self.step.instance, self.cx, &mut self.step.effects)
    }

    fn go(&mut self, by: By, to: NodeIndex, because: Vec<String>) {
        let instance = &mut self.step.instance;
        for effect in &self.step.effects[self.applied..] {
            match effect {
                Effect::SendMessage { message, node, .. } => {
                    instance.last_message = Some((*message, *node));
                }
                Effect::Remember { state } => remember(instance, state),
                _ => {}
            }
        }
        self.applied = self.step.effects.len();
        let node = instance.node;
        self.step.hops.push(Hop {
            node,
            by,
            to,
            because,
        });
        instance.node = to;
        instance.steps += 1;
        instance.arrived_at = self.cx.now;
        instance.since = self.cx.position;
    }

    /// `exit_when` is looked at before anything else, and again when the instance rests.
    fn exits(&mut self) -> bool {
        let Some(rule) = &self.cx.definition.exit_when else {
            return false;
        };
        let scene = Scene {
            event: None,
            ..self.cx.scene(&self.step.instance)
        };
        if !rule.verdict(&scene, self.cx.now).holds {
            return false;
        }
        self.finish(Ending::ExitWhen);
        true
    }

    fn exit_until(&self) -> Timestamp {
        let Some(rule) = &self.cx.definition.exit_when else {
            return FOREVER;
        };
        let scene = Scene {
            event: None,
            ..self.cx.scene(&self.step.instance)
        };
        rule.verdict(&scene, self.cx.now).until
    }

    fn stay(&mut self, due: Timestamp) {
        if self.step.hops.is_empty() || !self.exits() {
            self.rest(due);
        }
    }

    /// The update comes back in a moment; nothing that is later may come before it.
    fn await_update(&mut self) {
        self.step.instance.due = FOREVER;
        self.step.effects.push(Effect::DisarmTimer);
    }

    fn rest(&mut self, due: Timestamp) {
        let due = due.min(self.exit_until());
        self.step.instance.due = due;
        let effects = &mut self.step.effects;
        effects.push(match due {
            FOREVER => Effect::DisarmTimer,
            due => Effect::ArmTimer { due },
        });
        let node = self.cx.definition.node(self.step.instance.node);
        if let Some(event_type) = node.and_then(Node::awaited) {
            let event_type = event_type.to_owned();
            effects.push(Effect::AwaitEvent { event_type });
        }
    }

    /// Rests before the next node; it is visited when the journey is resumed.
    fn hold(&mut self) {
        self.step.instance.is_held = true;
        self.step.instance.due = self.cx.now;
        let due = self.cx.now;
        self.step.effects.push(Effect::ArmTimer { due });
    }

    fn finish(&mut self, ending: Ending) {
        self.step.instance.due = FOREVER;
        self.step.effects.push(Effect::Finish { ending });
    }
}

pub fn remember(instance: &mut Instance, state: &Object) {
    if state.is_empty() {
        return;
    }
    let kept = instance.state.get_or_insert_default();
    kept.extend(
        state
            .iter()
            .map(|(key, value)| (key.clone(), value.clone())),
    );
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Next => f.write_str("next"),
            Self::True => f.write_str("true"),
            Self::False => f.write_str("false"),
            Self::Branch(at) => write!(f, "branch:{at}"),
            Self::Default => f.write_str("default"),
            Self::Met => f.write_str("met"),
            Self::Timeout => f.write_str("timeout"),
        }
    }
}

impl FromStr for By {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "next" => Self::Next,
            "true" => Self::True,
            "false" => Self::False,
            "default" => Self::Default,
            "met" => Self::Met,
            "timeout" => Self::Timeout,
            other => {
                let at = other.strip_prefix("branch:").and_then(|at| at.parse().ok());
                return at
                    .map(Self::Branch)
                    .ok_or_else(|| format!("`{other}` is no way to leave a node"));
            }
        })
    }
}

impl Serialize for By {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for By {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}
