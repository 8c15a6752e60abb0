//! What a template becomes for somebody, by the renderer that messages are sent with.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use kurier_core::contact::Contact;
use kurier_core::template::{Compiled, Noted, Quotes, RenderFault};
use kurier_core::time::Timestamp;
use kurier_core::value::{Object, Value};
use serde::Deserialize;
use utoipa::ToSchema;

use super::address::Path;
use super::body;
use super::credential::Reader;
use super::problem::Problem;
use super::template_view::RenderedView;
use super::templates::{compile, faulty, find};
use crate::app::App;
use crate::clock;
use crate::flow::content::explained;
use crate::flow::template;
use crate::keyring::Grant;

/// Whom to render for, and what.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({"user_id": "ann", "data": {"order": 17}, "channel": "email"}))]
pub struct TemplatePreviewInput {
    /// A contact, by id.
    contact: Option<String>,
    /// A contact, by user id.
    user_id: Option<String>,
    /// What a program would hand over.
    #[schema(value_type = Object, required = false, example = json!({"order": 17}))]
    data: Object,
    /// What a run would hand over: `name`, `key`, `state`.
    #[schema(value_type = Object, required = false, example = json!({"state": {"cart_id": "c1"}}))]
    journey: Object,
    /// A document that is not published, in place of the newest version.
    #[schema(value_type = Option<super::templates::TemplateDocument>)]
    document: Option<Value>,
    version: Option<u32>,
    /// The channel it would go to, which decides how content is shown; `email` without it.
    #[schema(example = "slack")]
    channel: Option<String>,
    /// When it is rendered; now without it.
    #[schema(value_type = Option<String>, example = "2026-11-19T09:30:00Z")]
    now: Option<Timestamp>,
}

/// Renders a template for a contact and what else is given, without sending anything.
#[utoipa::path(post, path = "/api/v1/templates/{name}/preview", tag = "templates", params(("name" = String, Path)),
        request_body = TemplatePreviewInput, responses(
    (status = 200, body = RenderedView),
    (status = 422,
        description = "`bad_template`: the document is not valid; `cannot_render`: it cannot be rendered for this contact")))]
pub async fn preview(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(name): Path<String>,
    headers: HeaderMap,
    request: Body,
) -> Result<Json<RenderedView>, Problem> {
    let (bytes, _room) = body::read(&headers, request, &app.pressure).await?;
    let mut input: TemplatePreviewInput = match bytes.trim_ascii().is_empty() {
        true => TemplatePreviewInput::default(),
        false => serde_json::from_slice(&bytes)
            .map_err(|e| Problem::bad_request("bad_json", e.to_string()))?,
    };
    let document = match input.document.take() {
        Some(document) => document,
        None => published(&app, &grant, &name, input.version).await?,
    };
    let compiled = compile(document).await?.map_err(|faults| faulty(&faults))?;
    let contact = contact(&app, &grant, &input).await?;
    let channel = input.channel.take().unwrap_or_else(|| "email".to_owned());
    let quotes = app.post.quotes(grant.scope(), &compiled, &channel).await?;
    match render(compiled, contact, input, quotes).await? {
        Ok(noted) => Ok(Json(noted.into())),
        Err(fault) => {
            let why = explained(&app.store, grant.scope(), &fault).await?;
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            Err(Problem::new(status, "cannot_render", why))
        }
    }
}

async fn published(
    app: &App,
    grant: &Grant,
    name: &str,
    version: Option<u32>,
) -> Result<Value, Problem> {
    let found = find(app, grant, name).await?;
    let document = template::document(&app.store, grant.scope(), &found, version).await?;
    document.ok_or_else(|| Problem::not_found(format!("`{name}` has no such version")))
}

async fn contact(
    app: &App,
    grant: &Grant,
    input: &TemplatePreviewInput,
) -> Result<Option<Contact>, Problem> {
    let unknown = || Problem::not_found("there is no such contact");
    let id = match (&input.contact, &input.user_id) {
        (Some(id), _) => id.parse().map_err(|_| unknown())?,
        (None, Some(user_id)) => grant.workspace.key.contact_of_user(user_id),
        (None, None) => return Ok(None),
    };
    let found = app.contact(grant.scope(), id).await?;
    found.map(Some).ok_or_else(unknown)
}

async fn render(
    compiled: Compiled,
    contact: Option<Contact>,
    input: TemplatePreviewInput,
    quotes: Quotes,
) -> Result<Result<Noted, RenderFault>, Problem> {
    let now = input.now.unwrap_or_else(clock::now);
    let rendering = tokio::task::spawn_blocking(move || {
        let (journey, data) = (input.journey, input.data);
        let inputs = template::inputs(&compiled, contact.as_ref(), journey, data);
        compiled.render_quoting(&inputs, now, &quotes)
    });
    let rendered = rendering.await;
    rendered.map_err(|e| kurier_store::Error::Unavailable(e.to_string()).into())
}
