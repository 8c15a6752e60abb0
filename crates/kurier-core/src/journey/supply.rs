//! What a message is given on its way: the values that its template reads, as they are when it
//! is asked for. So what was sent can be shown again, whatever becomes of the contact.

use super::Instance;
use super::node::SendMessage;
use super::step::Context;
use crate::expr::ContactField;
use crate::id::MessageId;
use crate::message::{Origin, Request};
use crate::template::gather;
use crate::value::{Object, Value};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Supply {
    pub to: Option<String>,
    pub topic: Option<String>,
    pub template_version: Option<u32>,
    pub inputs: Object,
}

impl Supply {
    /// Of a template that is not known nothing is known to be read.
    pub fn of(send: &SendMessage, instance: &Instance, cx: &Context<'_>) -> Self {
        let to = address(&send.channel, cx);
        let Some(template) = cx.templates.get(&send.template) else {
            return Self {
                to,
                ..Self::default()
            };
        };
        let reads = template.reads.iter().map(String::as_str);
        let inputs = gather(reads, |root, names| match root {
            "contact" => cx.view.value(&ContactField::of(names)),
            "journey" => instance.value(cx.definition, names),
            _ => None,
        });
        Self {
            to,
            topic: template.topic.clone(),
            template_version: Some(template.version),
            inputs,
        }
    }
}

impl Supply {
    pub fn request(&self, message: MessageId, origin: Origin, send: &SendMessage) -> Request {
        Request {
            message,
            origin: Some(origin),
            channel: send.channel.clone(),
            template: Some(send.template.clone()),
            template_version: self.template_version,
            body: None,
            to: self.to.clone(),
            topic: self.topic.clone(),
            inputs: self.inputs.clone(),
            priority: send.priority,
            scheduled_at: None,
        }
    }
}

fn address(channel: &str, cx: &Context<'_>) -> Option<String> {
    let attribute = cx.channels.kind(channel)?.attribute()?;
    let field = ContactField::Attribute(vec![attribute.to_owned()]);
    match cx.view.value(&field)? {
        Value::Text(address) => Some(address).filter(|address| !address.is_empty()),
        _ => None,
    }
}
