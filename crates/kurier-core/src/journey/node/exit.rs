//! `exit`: where a journey ends.
//!
//! ```yaml
//! - id: done
//!   node_type: exit
//! ```

use super::super::Instance;
use super::super::fields::Fields;
use super::super::step::{Context, Effect, Input, Visit};
use super::{Kind, Way};

#[derive(Debug, Clone)]
pub struct Exit;

impl Kind for Exit {
    const NAME: &'static str = "exit";

    fn read(_: &mut Fields<'_, '_>) -> Self {
        Self
    }

    fn ways(&self) -> Vec<Way> {
        Vec::new()
    }

    fn visit(&self, _: Input, _: &Instance, _: &Context<'_>, _: &mut Vec<Effect>) -> Visit {
        Visit::Finish
    }
}
