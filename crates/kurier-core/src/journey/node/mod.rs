//! Node kinds: one file each with its type, how it is read, how it is visited, its
//! documentation and its tests. To add one, write its file and add it to the list below.

use super::fields::Fields;
use super::step::{By, Context, Effect, Input, Visit};
use super::{Instance, NodeIndex};

/// What every kind of node can do.
pub trait Kind: Sized {
    /// The seed's `node_type`.
    const NAME: &'static str;

    /// Reads it from a definition; what is wrong is noted there.
    fn read(fields: &mut Fields<'_, '_>) -> Self;

    /// Every way out, with the field that names it.
    fn ways(&self) -> Vec<Way>;

    fn visit(
        &self,
        input: Input,
        instance: &Instance,
        cx: &Context<'_>,
        effects: &mut Vec<Effect>,
    ) -> Visit;
}

/// A way out of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    pub by: By,
    pub to: NodeIndex,
}

macro_rules! kinds {
    ($($file:ident::$name:ident,)*) => {
        $(mod $file;)*
        $(pub use $file::$name;)*

        #[derive(Debug, Clone)]
        pub enum Node { $($name($name),)* }

        impl Node {
            pub const KINDS: &[&str] = &[$($name::NAME,)*];

            /// Each kind with the file it is written in, which begins with its documentation.
            const FILES: &[(&str, &str)] =
                &[$(($name::NAME, include_str!(concat!(stringify!($file), ".rs"))),)*];

            /// Reads a node of the kind with this name, if there is one.
            pub fn read(name: &str, fields: &mut Fields<'_, '_>) -> Option<Self> {
                match name {
                    $($name::NAME => Some(Self::$name($name::read(fields))),)*
                    _ => None,
                }
            }

            pub const fn kind(&self) -> &'static str {
                match self { $(Self::$name(_) => $name::NAME,)* }
            }

            pub fn ways(&self) -> Vec<Way> {
                match self { $(Self::$name(node) => node.ways(),)* }
            }

            pub fn visit(
                &self,
                input: Input,
                instance: &Instance,
                cx: &Context<'_>,
                effects: &mut Vec<Effect>,
            ) -> Visit {
                match self { $(Self::$name(node) => node.visit(input, instance, cx, effects),)* }
            }
        }
    };
}

// Every kind of node there is.
kinds! {
    trigger::Trigger,
    condition::Condition,
    wait::Wait,
    send_message::SendMessage,
    update_contact::UpdateContact,
    branch::Branch,
    exit::Exit,
}

mod guide;

pub use guide::{Field, Guide};
pub use trigger::TriggerKind;
pub use wait::Until;

impl Node {
    /// The type of the event it waits for.
    pub fn awaited(&self) -> Option<&str> {
        match self {
            Self::Wait(wait) => wait.awaited(),
            _ => None,
        }
    }

    /// Whether an instance may rest here however fast it came: what breaks a cycle.
    pub const fn takes_time(&self) -> bool {
        matches!(self, Self::Wait(wait) if wait.takes_time())
    }
}

#[cfg(test)]
pub mod tests;
