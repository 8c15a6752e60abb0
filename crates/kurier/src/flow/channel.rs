//! What an operator says of a channel: it is checked, its secrets are sealed, and it is kept
//! together with the event that says so.

use kurier_core::event::{Event, Kind};
use kurier_core::id::MessageId;
use kurier_core::message::channel::{ChannelSettings, Problem, check_name};
use kurier_core::message::{Letter, Rendered};
use kurier_store::{KeptChannel, NewChannel, Scope, Store};
use serde_json::{Map, Value, json};

use crate::channel::{Registry, build};
use crate::clock;
use crate::operator::sign;
use crate::secret::{self, Secrets};

/// A secret has at most so many bytes; a DKIM key of 4096 bits has 3,300.
const SECRET_BYTES_MAX: usize = 16_384;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}", said(.0))]
    Problems(Vec<Problem>),
    #[error("someone else changed this channel at the same time; look at it and try again")]
    Changed,
    #[error(transparent)]
    Secret(#[from] secret::Error),
    #[error(transparent)]
    Store(#[from] kurier_store::Error),
}

fn said(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::Problems(vec![problem])
    }
}

/// Sets a channel up, or up otherwise. Secrets that are not named stay as they are; one that
/// is null is removed.
pub async fn configure(
    store: &Store,
    registry: &Registry,
    scope: Scope,
    name: &str,
    mut written: Value,
) -> Result<KeptChannel, Error> {
    check_name(name)?;
    let given = take_secrets(&mut written)?;
    let settings = ChannelSettings::read(written).map_err(Error::Problems)?;
    let kept = store.channels.channel(scope, name).await?;
    let sealed = kept.as_ref().and_then(|kept| kept.secrets.as_deref());
    let mut before = known(registry, scope, name, sealed)?;
    if let Some(kept) = &kept {
        forget(&mut before, &kept.settings, &settings);
    }
    let secrets = merged(before, given, &settings)?;
    build(&settings, &secrets, registry.outside())
        .map_err(|e| Problem::new("/secrets", e.to_string()))?;
    let sealed = match secrets.is_empty() {
        true => None,
        false => Some(registry.vault().seal(scope, name, &secrets)?),
    };
    let event = event(
        Kind::ChannelConfigured,
        &json!({"channel": name, "settings": settings, "secrets": secrets.names()}),
    );
    let changed_at = event.recorded_at;
    let new = NewChannel {
        name: name.to_owned(),
        settings: settings.clone(),
        secrets: sealed.clone(),
    };
    let seen = kept.map(|kept| kept.revision);
    let revision = store.channels.set_channel(scope, new, seen, event).await?;
    registry.find_anew(scope, name).await?;
    Ok(KeptChannel {
        name: name.to_owned(),
        settings,
        secrets: sealed,
        revision: revision.ok_or(Error::Changed)?,
        changed_at,
    })
}

/// Removes a channel with its secrets; false if nobody had set it up.
pub async fn remove(
    store: &Store,
    registry: &Registry,
    scope: Scope,
    name: &str,
) -> Result<bool, Error> {
    let event = event(Kind::ChannelRemoved, &json!({ "channel": name }));
    let removed = store.channels.remove_channel(scope, name, event).await?;
    registry.find_anew(scope, name).await?;
    Ok(removed)
}

/// A letter that says nothing but that it arrived.
pub fn test_letter(to: Option<String>, text: Option<String>) -> Letter {
    let now = clock::now();
    let text = text.unwrap_or_else(|| "This is a test of a channel of Kurier.".to_owned());
    Letter {
        message: MessageId::new(now, clock::random()),
        attempt: 1,
        at: now,
        to,
        rendered: Rendered {
            subject: Some("A test of Kurier".to_owned()),
            html: None,
            text: Some(text),
            json: None,
        },
        unsubscribe: None,
        template: Some("channel.test".to_owned()),
        topic: None,
    }
}

/// Secrets that cannot be opened are as good as none: whoever sets a channel up anew gives
/// those it needs again, or is told which.
fn known(
    registry: &Registry,
    scope: Scope,
    name: &str,
    sealed: Option<&[u8]>,
) -> Result<Secrets, Error> {
    let opened = sealed.map(|sealed| registry.vault().open(scope, name, sealed));
    match opened {
        Some(Ok(secrets)) => Ok(secrets),
        Some(Err(secret::Error::BadKey(why))) => Err(secret::Error::BadKey(why).into()),
        Some(Err(_)) | None => Ok(Secrets::default()),
    }
}

/// A password is not told to another server than the one it was set for: who changes the
/// server gives it again.
fn forget(secrets: &mut Secrets, before: &ChannelSettings, now: &ChannelSettings) {
    if let Some((told, whom)) = now.setup.confidant()
        && before.setup.confidant().map(|(_, whom)| whom) != Some(whom)
    {
        told.iter().for_each(|name| secrets.set(name, None));
    }
}

fn merged(
    mut secrets: Secrets,
    given: Map<String, Value>,
    settings: &ChannelSettings,
) -> Result<Secrets, Error> {
    secrets.keep(settings.setup.secrets());
    let mut problems = Vec::new();
    for (name, value) in given {
        match value {
            Value::Null => secrets.set(&name, None),
            Value::String(text) if (1..=SECRET_BYTES_MAX).contains(&text.len()) => {
                secrets.set(&name, Some(text));
            }
            _ => {
                let detail = format!("a text of 1 to {SECRET_BYTES_MAX} bytes, or null");
                problems.push(Problem::new(format!("/secrets/{name}"), detail));
            }
        }
    }
    problems.extend(settings.check_secrets(&secrets.names()));
    if problems.is_empty() {
        Ok(secrets)
    } else {
        Err(Error::Problems(problems))
    }
}

fn take_secrets(written: &mut Value) -> Result<Map<String, Value>, Problem> {
    let taken = written.as_object_mut().and_then(|it| it.remove("secrets"));
    match taken {
        Some(Value::Object(secrets)) => Ok(secrets),
        Some(Value::Null) | None => Ok(Map::new()),
        Some(_) => Err(Problem::new("/secrets", "an object of texts")),
    }
}

fn event(kind: Kind, payload: &Value) -> Event {
    let now = clock::now();
    sign(Event {
        id: clock::fresh_event_id(),
        kind,
        contact: None,
        occurred_at: now,
        recorded_at: now,
        payload: payload.to_string(),
    })
}
