//! What an operator says of Slack workspaces, as events in the log; their secrets are sealed
//! before they stand there.

use std::cmp::Ordering;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kurier_core::event::{Event, Kind, Position};
use kurier_core::id::{EventId, SlackWorkspaceId};
use kurier_core::message::channel::Problem;
use kurier_core::projection::{Cell, Need, SLACK_WORKSPACE, slack_workspace_of_row};
use kurier_core::slack_workspace::{
    Archival, Definition, PER_WORKSPACE_MAX, SECRETS, SlackWorkspace, Stated,
};
use kurier_store::{Appended, Scope, Store};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::app::App;
use crate::clock;
use crate::operator::sign;
use crate::secret::{self, Secrets, Vault};

/// A secret has at most so many bytes.
const SECRET_BYTES_MAX: usize = 2_048;
/// The edge follows within milliseconds, or is not waited for.
const EDGE_PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}", said(.0))]
    Problems(Vec<Problem>),
    #[error("someone else changed this Slack workspace at the same time; look at it and try again")]
    Changed,
    #[error(
        "there are {PER_WORKSPACE_MAX} Slack workspaces already, which is the most there can be"
    )]
    Full,
    #[error(transparent)]
    Secret(#[from] secret::Error),
    #[error(transparent)]
    Store(#[from] kurier_store::Error),
}

fn said(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// What is said of one: its definition, and secrets by name. Those that are not named stay; one
/// that is null is removed.
pub struct Wanted {
    pub definition: Definition,
    pub secrets: Map<String, Value>,
}

impl Wanted {
    /// Reads what someone wrote; what is wrong with it names no value, which may be a secret.
    pub fn read(mut written: Value) -> Result<Self, Error> {
        let secrets = written.as_object_mut().and_then(|it| it.remove("secrets"));
        let secrets = match secrets {
            Some(Value::Object(secrets)) => secrets,
            Some(Value::Null) | None => Map::new(),
            Some(_) => return Err(problem("/secrets", "an object of texts")),
        };
        let definition: Definition =
            serde_json::from_value(written).map_err(|e| problem("", &e.to_string()))?;
        Ok(Self {
            definition,
            secrets,
        })
    }
}

fn problem(pointer: &str, detail: &str) -> Error {
    Error::Problems(vec![Problem::new(pointer, detail)])
}

/// What can be read back at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    pub id: SlackWorkspaceId,
    pub position: Position,
}

/// All Slack workspaces by name, those that were archived among them.
pub async fn all(store: &Store, scope: Scope) -> kurier_store::Result<Vec<SlackWorkspace>> {
    let by_workspace = &SLACK_WORKSPACE.columns[..1];
    let need = Need::by(&SLACK_WORKSPACE, by_workspace, vec![vec![scope.0.into()]]);
    let rows = rows(store, need).await?;
    let mut all: Vec<_> = rows.into_iter().map(|(known, _)| known).collect();
    all.sort_by(by_name);
    Ok(all)
}

pub async fn find(
    store: &Store,
    scope: Scope,
    id: SlackWorkspaceId,
) -> kurier_store::Result<Option<SlackWorkspace>> {
    Ok(kept(store, scope, id).await?.map(|(known, _)| known))
}

/// Those that are in use, or those that were archived; of one category, or all.
pub fn listed(
    all: Vec<SlackWorkspace>,
    category: Option<&str>,
    archived: bool,
) -> Vec<SlackWorkspace> {
    let is_meant = |known: &SlackWorkspace| {
        let is_of_category =
            category.is_none_or(|it| known.definition.category.as_deref() == Some(it));
        is_of_category && known.archived_at.is_some() == archived
    };
    all.into_iter().filter(is_meant).collect()
}

/// The list as it can be asked for from outside.
pub async fn list(
    app: &App,
    scope: Scope,
    category: Option<&str>,
    archived: bool,
) -> kurier_store::Result<Vec<SlackWorkspace>> {
    let by = category.map(|category| ("category", category));
    if !archived && let Some(mut known) = app.slack_edge.list(scope, by).await {
        known.sort_by(by_name);
        return Ok(known);
    }
    Ok(listed(all(&app.store, scope).await?, category, archived))
}

/// One as it can be asked for from outside.
pub async fn one(
    app: &App,
    scope: Scope,
    id: SlackWorkspaceId,
) -> kurier_store::Result<Option<SlackWorkspace>> {
    let at_edge = app.slack_edge.get(scope, id.as_uuid()).await;
    match at_edge.and_then(|entry| entry.value) {
        Some(known) => Ok(Some(known)),
        None => find(&app.store, scope, id).await,
    }
}

/// Waits until what was told can be read back; false if that takes longer than `patience`. The
/// edge has a moment to follow, so that also who asks another process reads it there.
pub async fn is_read(app: &App, position: Position, patience: Duration) -> bool {
    let is_read = app.slack_workspaces.reach(position, patience).await;
    if is_read {
        app.slack_edge.reach(position, EDGE_PATIENCE).await;
    }
    is_read
}

fn by_name(a: &SlackWorkspace, b: &SlackWorkspace) -> Ordering {
    (&a.definition.name, a.id).cmp(&(&b.definition.name, b.id))
}

/// Makes one.
pub async fn create(
    store: &Store,
    vault: &Vault,
    scope: Scope,
    wanted: Wanted,
) -> Result<Told, Error> {
    let id = SlackWorkspaceId::new(clock::now(), clock::random());
    if all(store, scope).await?.len() >= PER_WORKSPACE_MAX {
        return Err(Error::Full);
    }
    let stated = stated(vault, scope, id, wanted, None)?;
    let event = event(
        clock::fresh_event_id(),
        Kind::SlackWorkspaceCreated,
        &stated,
    );
    append(store, scope, id, event).await
}

/// Says anew what is known of one, which brings it back if it was archived; `None` if there is
/// none. The read model must have been brought up to date.
pub async fn update(
    store: &Store,
    vault: &Vault,
    scope: Scope,
    id: SlackWorkspaceId,
    wanted: Wanted,
) -> Result<Option<Told>, Error> {
    let Some((known, sealed)) = kept(store, scope, id).await? else {
        return Ok(None);
    };
    let stated = stated(vault, scope, id, wanted, sealed.as_deref())?;
    let event = event(known.next_event_id(), Kind::SlackWorkspaceUpdated, &stated);
    append(store, scope, id, event).await.map(Some)
}

/// Archives one; `None` if there is none that is not archived.
pub async fn archive(
    store: &Store,
    scope: Scope,
    id: SlackWorkspaceId,
) -> Result<Option<Told>, Error> {
    let known = find(store, scope, id).await?;
    let Some(known) = known.filter(|known| known.archived_at.is_none()) else {
        return Ok(None);
    };
    let archival = Archival { id };
    let event = event(
        known.next_event_id(),
        Kind::SlackWorkspaceArchived,
        &archival,
    );
    append(store, scope, id, event).await.map(Some)
}

async fn append(
    store: &Store,
    scope: Scope,
    id: SlackWorkspaceId,
    event: Event,
) -> Result<Told, Error> {
    match store.log.append(scope, vec![event]).await?.first() {
        Some(Appended::At(position)) => Ok(Told {
            id,
            position: *position,
        }),
        _ => Err(Error::Changed),
    }
}

/// One with its sealed secrets.
async fn kept(
    store: &Store,
    scope: Scope,
    id: SlackWorkspaceId,
) -> kurier_store::Result<Option<(SlackWorkspace, Option<String>)>> {
    let key = vec![scope.0.into(), Cell::Id(id.as_uuid())];
    let need = Need::new(&SLACK_WORKSPACE, vec![key]);
    Ok(rows(store, need).await?.pop())
}

async fn rows(
    store: &Store,
    need: Need,
) -> kurier_store::Result<Vec<(SlackWorkspace, Option<String>)>> {
    let loaded = store.views.load(vec![need]).await?;
    let rows = loaded.iter().flat_map(|loaded| &loaded.rows);
    let read = rows.map(|row| {
        let unreadable = || kurier_store::Error::Damaged("a Slack workspace's row".into());
        let (_, known, sealed) = slack_workspace_of_row(row).ok_or_else(unreadable)?;
        Ok((known, sealed))
    });
    read.collect()
}

fn stated(
    vault: &Vault,
    scope: Scope,
    id: SlackWorkspaceId,
    wanted: Wanted,
    sealed: Option<&str>,
) -> Result<Stated, Error> {
    let mut problems = wanted.definition.check();
    let mut secrets = opened(vault, scope, id, sealed)?;
    for (name, value) in wanted.secrets {
        match checked(&name, value) {
            Ok(value) => secrets.set(&name, value),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(Error::Problems(problems));
    }
    let sealed = match secrets.is_empty() {
        true => None,
        false => Some(STANDARD.encode(vault.seal(scope, &bound_to(id), &secrets)?)),
    };
    Ok(Stated {
        id,
        definition: wanted.definition,
        secrets: secrets.names().into_iter().map(str::to_owned).collect(),
        sealed,
    })
}

fn checked(name: &str, value: Value) -> Result<Option<String>, Problem> {
    let pointer = format!("/secrets/{name}");
    if !SECRETS.contains(&name) {
        let detail = format!("there is no such secret; there are {}", SECRETS.join(", "));
        return Err(Problem::new(pointer, detail));
    }
    match value {
        Value::Null => Ok(None),
        Value::String(text) if name == "webhook_url" && !text.starts_with("https://") => Err(
            Problem::new(pointer, "an address that begins with https://"),
        ),
        Value::String(text) if (1..=SECRET_BYTES_MAX).contains(&text.len()) => Ok(Some(text)),
        _ => {
            let detail = format!("a text of 1 to {SECRET_BYTES_MAX} bytes, or null");
            Err(Problem::new(pointer, detail))
        }
    }
}

/// Secrets that cannot be opened are as good as none: whoever says a Slack workspace anew gives
/// them again.
fn opened(
    vault: &Vault,
    scope: Scope,
    id: SlackWorkspaceId,
    sealed: Option<&str>,
) -> Result<Secrets, Error> {
    let bytes = sealed.and_then(|sealed| STANDARD.decode(sealed).ok());
    match bytes.map(|bytes| vault.open(scope, &bound_to(id), &bytes)) {
        Some(Ok(secrets)) => Ok(secrets),
        Some(Err(secret::Error::BadKey(why))) => Err(secret::Error::BadKey(why).into()),
        Some(Err(_)) | None => Ok(Secrets::default()),
    }
}

/// What is sealed opens for this Slack workspace alone; no channel can have such a name.
fn bound_to(id: SlackWorkspaceId) -> String {
    format!("slack_workspace:{id}")
}

fn event(id: EventId, kind: Kind, payload: &impl Serialize) -> Event {
    let now = clock::now();
    sign(Event {
        id,
        kind,
        contact: None,
        occurred_at: now,
        recorded_at: now,
        payload: serde_json::to_string(payload).expect("texts and ids serialise"),
    })
}
