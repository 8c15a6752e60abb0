//! Asking for a message outside any journey: to a contact or to an address, by a template or
//! with its own words.

use kurier_core::contact::Contact;
use kurier_core::event::{Event, Kind};
use kurier_core::id::{EventId, MessageId};
use kurier_core::message::channel::ChannelKind;
use kurier_core::message::{Address, AddressKind, Rendered, Request, Topic};
use kurier_core::template::Compiled;
use kurier_core::time::Timestamp;
use kurier_core::value::{Object, Value};
use kurier_store::{Error, Scope};

use super::template;
use crate::app::App;
use crate::clock;

/// What somebody asks for.
#[derive(Debug, Default)]
pub struct Ask {
    pub channel: String,
    pub contact: Option<Contact>,
    /// In place of the contact's own address.
    pub to: Option<String>,
    pub template: Option<String>,
    pub body: Option<Rendered>,
    pub topic: Option<String>,
    pub data: Object,
    pub priority: Option<u8>,
    pub scheduled_at: Option<Timestamp>,
}

/// Why it cannot be asked for: what is wrong, by field; or the store.
#[derive(Debug)]
pub enum Refused {
    Faults(Vec<(&'static str, String)>),
    Store(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

type Faults = Vec<(&'static str, String)>;

const PRIORITY_DEFAULT: u8 = 5;

/// The event that asks, which is not in the log yet.
pub async fn ask(app: &App, scope: Scope, ask: Ask) -> Result<Event, Refused> {
    let mut faults = Faults::new();
    let kind = kind(app, scope, &ask.channel, &mut faults).await?;
    let to = address(kind, &ask, &mut faults);
    let written = written(app, scope, &ask, &mut faults).await?;
    let priority = ask.priority.unwrap_or(PRIORITY_DEFAULT);
    if !(1..=10).contains(&priority) {
        faults.push(("/priority", "must be between 1 and 10".into()));
    }
    let topic = ask.topic.clone().or(written.topic);
    if topic
        .as_ref()
        .is_some_and(|it| it.parse::<Topic>().is_err())
    {
        faults.push(("/topic", "is not a topic".into()));
    }
    if !faults.is_empty() {
        return Err(Refused::Faults(faults));
    }
    let now = clock::now();
    let message = MessageId::new(now, clock::random());
    let request = Request {
        message,
        origin: None,
        channel: ask.channel,
        template: ask.template,
        template_version: written.version,
        body: ask.body,
        to,
        topic,
        inputs: written.inputs,
        priority,
        scheduled_at: ask.scheduled_at.filter(|at| now < *at),
    };
    Ok(Event {
        id: EventId::from_uuid(message.as_uuid()),
        kind: Kind::MessageRequested,
        contact: ask.contact.map(|contact| contact.id),
        occurred_at: now,
        recorded_at: now,
        payload: serde_json::to_string(&request).expect("a request serialises"),
    })
}

/// What the channel speaks; a name that nobody set up is a fault.
async fn kind(
    app: &App,
    scope: Scope,
    channel: &str,
    faults: &mut Faults,
) -> Result<Option<ChannelKind>, Error> {
    let Some(found) = app.channels.find(scope, channel).await? else {
        faults.push(("/channel", format!("there is no channel `{channel}`")));
        return Ok(None);
    };
    match found.settings.kind() {
        ChannelKind::Outbox => Ok(ChannelKind::of(channel)),
        kind => Ok(Some(kind)),
    }
}

/// Where it goes: what was given, or what the contact has. A channel that writes to people
/// needs one.
fn address(kind: Option<ChannelKind>, ask: &Ask, faults: &mut Faults) -> Option<String> {
    let attribute = kind.and_then(ChannelKind::attribute);
    let own = || match ask.contact.as_ref()?.attributes.get(attribute?)? {
        Value::Text(address) => Some(address.clone()),
        _ => None,
    };
    let to = ask.to.clone().or_else(own);
    let address_kind = AddressKind::of_channel(kind.map_or("", ChannelKind::as_str));
    match (&to, kind) {
        (None, Some(ChannelKind::Email | ChannelKind::Sms)) if ask.contact.is_none() => {
            faults.push(("/to", "is missing: name a contact or an address".into()));
        }
        (Some(to), Some(ChannelKind::Email | ChannelKind::Sms))
            if Address::new(address_kind, to).is_none() =>
        {
            let what = address_kind.as_str();
            faults.push(("/to", format!("`{to}` is not an address of kind {what}")));
        }
        _ => {}
    }
    to
}

/// What a template brings along.
#[derive(Default)]
struct Written {
    version: Option<u32>,
    topic: Option<String>,
    inputs: Object,
}

async fn written(
    app: &App,
    scope: Scope,
    ask: &Ask,
    faults: &mut Faults,
) -> Result<Written, Error> {
    let name = match (&ask.template, &ask.body) {
        (Some(name), None) => name,
        (None, Some(body)) if *body != Rendered::default() => return Ok(Written::default()),
        (None, Some(_)) => {
            faults.push((
                "/body",
                "says nothing: give subject, html, text or json".into(),
            ));
            return Ok(Written::default());
        }
        _ => {
            faults.push(("", "must have `template` or `body`, one of them".into()));
            return Ok(Written::default());
        }
    };
    let missing = || ("/template", format!("there is no template `{name}`"));
    let Some(found) = template::find(&app.store, scope, name).await? else {
        faults.push(missing());
        return Ok(Written::default());
    };
    let document = template::document(&app.store, scope, &found, None).await?;
    let compiled = document.and_then(|document| Compiled::new(&document).ok());
    let Some(compiled) = compiled else {
        faults.push(missing());
        return Ok(Written::default());
    };
    let contact = ask.contact.as_ref();
    Ok(Written {
        version: Some(found.version),
        topic: found.topic,
        inputs: template::inputs(&compiled, contact, Object::new(), ask.data.clone()),
    })
}
