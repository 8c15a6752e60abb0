//! Loops over the log: read a batch, decide, commit.

mod ahead;
mod aside;
mod ask;
pub mod channel;
mod concern;
pub mod content;
mod deliver;
pub mod edge;
mod erase;
pub mod evidence;
mod fold;
pub mod journey;
mod live;
mod lookout;
mod maintain;
mod message;
mod pace;
mod project;
pub mod rate;
mod react;
pub mod rebuild;
pub mod segment;
pub mod simulate;
pub mod slack_workspace;
pub mod suppress;
pub mod template;
pub mod user;
pub mod version;

pub use ask::{Ask, Refused, ask};
pub use deliver::{Deliverer, Post, Unwritten};
pub use erase::{ErasureReport, erase, live_contact};
pub use live::live_contacts;
pub use maintain::maintain;
pub use message::{Act, act_on};
pub use project::Projector;
pub use react::{Keeping, Reactor};
