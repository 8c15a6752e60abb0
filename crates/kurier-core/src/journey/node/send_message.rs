//! `send_message`: asks for a message and goes on. Whether it may be sent now, and what
//! becomes of it, is for the queue.
//!
//! ```yaml
//! - id: remind
//!   node_type: send_message
//!   channel: email
//!   template: cart-reminder
//!   priority: 7                    # 1 to 10, higher is more important; 5 if not said
//!   next_node_id: done
//! ```

use super::super::fields::{Fields, near};
use super::super::step::{By, Context, Effect, Input, Visit};
use super::super::supply::Supply;
use super::super::{Instance, NodeIndex};
use super::{Kind, Way};
use crate::id::MessageId;

pub const PRIORITY_DEFAULT: u8 = 5;

#[derive(Debug, Clone)]
pub struct SendMessage {
    pub channel: String,
    pub template: String,
    pub priority: u8,
    pub next: NodeIndex,
}

impl Kind for SendMessage {
    const NAME: &'static str = "send_message";

    fn read(fields: &mut Fields<'_, '_>) -> Self {
        let (channel, template) = (fields.text("channel"), fields.text("template"));
        let known = fields.reading.known;
        check_known(fields, "channel", &channel, known.channels.as_ref());
        check_known(fields, "template", &template, known.templates.as_ref());
        if let Some(reason) = known.spoiled.get(&template) {
            fields.fault("template", reason.as_str());
        }
        let priority = fields.optional_int("priority", (1, 10));
        let priority = priority.and_then(|priority| u8::try_from(priority).ok());
        Self {
            channel,
            template,
            priority: priority.unwrap_or(PRIORITY_DEFAULT),
            next: fields.target("next_node_id"),
        }
    }

    fn ways(&self) -> Vec<Way> {
        vec![Way {
            by: By::Next,
            to: self.next,
        }]
    }

    fn visit(
        &self,
        _: Input,
        instance: &Instance,
        cx: &Context<'_>,
        effects: &mut Vec<Effect>,
    ) -> Visit {
        let node = instance.node;
        let id = cx.definition.id_of(node);
        effects.push(Effect::SendMessage {
            message: MessageId::of_visit(instance.id, id, instance.steps),
            node,
            supply: Box::new(Supply::of(self, instance, cx)),
        });
        Visit::go(By::Next, self.next)
    }
}

fn check_known(
    fields: &mut Fields<'_, '_>,
    what: &'static str,
    name: &str,
    known: Option<&std::collections::BTreeSet<String>>,
) {
    let Some(known) = known.filter(|known| !name.is_empty() && !known.contains(name)) else {
        return;
    };
    let hint = near(name, known.iter().map(String::as_str));
    fields.fault(what, format!("there is no {what} `{name}`{hint}"));
}

#[cfg(test)]
mod tests {
    use super::super::tests::Ground;
    use crate::id::MessageId;

    const JOURNEY: &str = r#"
name: t
nodes:
  - {id: start, node_type: trigger, event_type: go, next_node_id: a}
  - {id: a, node_type: send_message, channel: email, template: hello, next_node_id: b}
  - {id: b, node_type: send_message, channel: sms, template: again, priority: 9, next_node_id: w}
  - {id: w, node_type: wait, wait_type: event, event_type: reply, next_node_id: done}
  - {id: done, node_type: exit}
"#;

    #[test]
    fn asks_for_a_message_whose_id_is_that_of_the_visit() {
        let mut ground = Ground::new(JOURNEY);
        ground.track("ann", "go", "{}");
        let asked: Vec<String> = ground.messages();
        assert_eq!(asked, ["ann email/hello 5", "ann sms/again 9"]);
        let instance = ground.instance("ann");
        let second = MessageId::of_visit(instance.id, "b", 2);
        assert_eq!(instance.last_message.map(|(id, _)| id), Some(second));
        let state = ground.state_data("ann");
        assert_eq!(state["last_message_channel"].as_text().map(String::as_str), Some("sms"));
    }
}
