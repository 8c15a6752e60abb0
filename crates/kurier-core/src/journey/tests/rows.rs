//! One test for every row of the specification of journeys, and for every row of how its
//! gaps were settled.

mod instances;
mod processing;
mod settled;
mod state_machine;

use super::ring::Ring;
use crate::event::{Kind, Position};
use crate::id::MessageId;
use crate::journey::node::tests::Ground;
use crate::journey::{Ending, Known, Node, RESERVED_KEYS, Status, check};
use crate::value::Value;

const HOUR: i64 = 3_600;

/// Trigger, wait, message, exit; with fields of the journey itself.
fn simple(head: &str) -> String {
    format!(
        r#"
name: t
{head}
nodes:
  - {{id: start, label: Begin, node_type: trigger, event_type: go, state: {{n: event.properties.n}}, next_node_id: wait}}
  - {{id: wait, node_type: wait, wait_type: duration, duration: 1h, next_node_id: send}}
  - {{id: send, node_type: send_message, channel: email, template: m, next_node_id: done}}
  - {{id: done, node_type: exit}}
"#
    )
}

fn with_wait(wait: &str) -> String {
    format!(
        r#"
name: t
nodes:
  - {{id: start, node_type: trigger, event_type: go, next_node_id: wait}}
  - {{id: wait, node_type: wait, {wait}, next_node_id: done}}
  - {{id: done, node_type: exit}}
"#
    )
}
