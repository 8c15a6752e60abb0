//! Pictures of a definition: Mermaid for documents, SVG for everything else.

mod mermaid;
mod svg;

pub use mermaid::mermaid;
pub use svg::svg;

use super::definition::Placed;
use super::{By, Node, Until, duration};

/// What a node does, in a few words.
fn gist(placed: &Placed) -> String {
    use super::node::TriggerKind;
    match &placed.node {
        Node::Trigger(trigger) => match &trigger.kind {
            TriggerKind::Event { event_type, .. } => format!("on {event_type}"),
            TriggerKind::Segment { entered: true, .. } => "on entering a segment".to_owned(),
            TriggerKind::Segment { entered: false, .. } => "on leaving a segment".to_owned(),
            TriggerKind::Manual => "by hand".to_owned(),
        },
        Node::Condition(condition) => condition.rule.canonical(),
        Node::Wait(wait) => match &wait.until {
            Until::Elapsed(time) => format!("wait {}", duration::print(*time)),
            Until::Event { event_type, .. } => format!("wait for {event_type}"),
            Until::Condition { rule, .. } => format!("wait until {}", rule.canonical()),
        },
        Node::SendMessage(send) => format!("send {} by {}", send.template, send.channel),
        Node::UpdateContact(update) => {
            let names: Vec<&str> = update
                .updates
                .iter()
                .map(|(name, _)| name.as_str())
                .collect();
            format!("set {}", names.join(", "))
        }
        Node::Branch(branch) => format!("{} branches", branch.arms.len()),
        Node::Exit(_) => "exit".to_owned(),
    }
}

/// What stands beside a way; nothing, where there is no choice.
fn way_label(from: &Node, by: By) -> String {
    match (by, from) {
        (By::Next, _) => String::new(),
        (By::Met, Node::Wait(wait)) if wait.timeout.is_none() => String::new(),
        (By::Met, Node::Wait(wait)) => match wait.until {
            Until::Elapsed(_) => "over".to_owned(),
            Until::Event { .. } => "came".to_owned(),
            Until::Condition { .. } => "holds".to_owned(),
        },
        (By::Timeout, Node::Wait(wait)) => {
            let after = wait.timeout.map(|(time, _)| duration::print(time));
            format!("after {}", after.unwrap_or_default())
        }
        (By::Branch(at), Node::Branch(branch)) => {
            let arm = branch.arms.iter().find(|arm| arm.at == at);
            arm.map_or_else(String::new, |arm| arm.rule.canonical())
        }
        (by, _) => by.to_string(),
    }
}

fn shortened(text: &str, chars: usize) -> String {
    match text.chars().count() > chars {
        true => text.chars().take(chars - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
