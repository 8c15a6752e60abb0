//! Asking for a message: a program's way, beside journeys.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use kurier_core::contact::Contact;
use kurier_core::event::Event;
use kurier_core::message::Rendered;
use kurier_core::time::Timestamp;
use kurier_core::value::{Object, mend_escapes};
use kurier_store::{Asked, Once};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use super::body;
use super::credential::Admin;
use super::problem::{Fault, Problem};
use super::segments::PATIENCE;
use crate::app::App;
use crate::flow::{self, Ask, Refused};
use crate::keyring::Grant;

/// So long a name for a request is remembered.
pub const REMEMBERED_MICROS: i64 = 24 * 3_600 * 1_000_000;
const KEY_CHARS_MAX: usize = 255;

/// A message to be sent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"channel": "email", "user_id": "ann", "template": "receipt", "data": {"order": 17}}))]
pub struct MessageInput {
    #[schema(example = "email")]
    channel: String,
    /// To a contact, by id.
    contact: Option<String>,
    /// To a contact, by user id.
    user_id: Option<String>,
    /// To this address; in place of the contact's own, if there is one.
    #[schema(example = "ann@example.com")]
    to: Option<String>,
    /// What it says: a template's name,
    #[schema(example = "welcome")]
    template: Option<String>,
    /// or the words themselves.
    body: Option<BodyInput>,
    /// What it is about; the template's topic if not said. Without one it always goes.
    #[schema(example = "news")]
    topic: Option<String>,
    /// What the template is handed as `data`.
    #[serde(default)]
    #[schema(value_type = Object, required = false)]
    data: Object,
    /// 1 to 10; 10 goes first; 5 if not said.
    #[schema(minimum = 1, maximum = 10, default = 5)]
    priority: Option<u8>,
    /// Not before this; at once if not said.
    #[schema(value_type = Option<String>)]
    scheduled_at: Option<Timestamp>,
}

/// Words that need no template.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BodyInput {
    #[schema(example = "Welcome")]
    subject: Option<String>,
    #[schema(example = "<p>Hello {{ contact.name }}</p>")]
    html: Option<String>,
    #[schema(example = "Hello {{ contact.name }}")]
    text: Option<String>,
    /// A webhook's data, or Slack's blocks.
    json: Option<serde_json::Value>,
}

/// A message that is durable and will be delivered.
#[derive(Debug, Serialize, ToSchema)]
pub struct MessageAccepted {
    id: String,
    #[schema(example = "queued")]
    state: &'static str,
}

/// Asks for a message. With the header `Idempotency-Key`, asking again within a day is
/// answered with the same message, and the header `Idempotent-Replayed: true`.
#[utoipa::path(post, path = "/api/v1/messages", tag = "messages", request_body = MessageInput,
        params(("Idempotency-Key" = Option<String>, Header,
        description = "Your own name for this request, at most 255 characters")), responses(
    (status = 202, description = "Durable; it will be delivered", body = MessageAccepted),
    (status = 400, description = "`bad_idempotency_key`: the header Idempotency-Key is not valid"),
    (status = 422,
        description = "`bad_message`: the request is not valid; `errors` has every fault; `idempotency_key_reused`: another request had this Idempotency-Key"),
    (status = 404, description = "`not_found`: there is no such contact")))]
pub async fn request(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let key = idempotency_key(&headers)?;
    let (bytes, _room) = body::read(&headers, request, &app.pressure).await?;
    let bad_json = |e: String| Problem::bad_request("bad_json", e);
    let text = std::str::from_utf8(&bytes).map_err(|e| bad_json(e.to_string()))?;
    let input: MessageInput =
        serde_json::from_str(&mend_escapes(text)).map_err(|e| bad_json(e.to_string()))?;
    let asked = read(&app, &grant, input).await?;
    let event = flow::ask(&app, grant.scope(), asked).await;
    let event = event.map_err(refused)?;
    let Some(key) = key else {
        let id = event.id.to_string();
        app.store.queue.request(grant.scope(), vec![event]).await?;
        app.deliverer.wake();
        return Ok(accepted(id, false));
    };
    once(&app, &grant, event, key, &bytes).await
}

async fn once(
    app: &App,
    grant: &Grant,
    event: Event,
    key: String,
    bytes: &[u8],
) -> Result<Response, Problem> {
    let once = Once {
        key,
        fingerprint: Sha256::digest(bytes).into(),
        since: event.recorded_at.shifted(-REMEMBERED_MICROS),
    };
    let id = event.id.to_string();
    let asked = app
        .store
        .queue
        .request_once(grant.scope(), event, once)
        .await?;
    match asked {
        Asked::New => {
            app.deliverer.wake();
            Ok(accepted(id, false))
        }
        Asked::Again(message) => Ok(accepted(message.to_string(), true)),
        Asked::Otherwise => Err(Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "idempotency_key_reused",
            "something else was asked for under this Idempotency-Key",
        )),
    }
}

fn accepted(id: String, is_replayed: bool) -> Response {
    let body = Json(MessageAccepted {
        id,
        state: "queued",
    });
    let mut response = (StatusCode::ACCEPTED, body).into_response();
    if is_replayed {
        let yes = HeaderValue::from_static("true");
        response.headers_mut().insert("idempotent-replayed", yes);
    }
    response
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(key) = headers.get("idempotency-key") else {
        return Ok(None);
    };
    let bad = || {
        let detail = format!("Idempotency-Key must be 1 to {KEY_CHARS_MAX} visible characters");
        Problem::bad_request("bad_idempotency_key", detail)
    };
    // The draft standard has it in quotes; most write it without.
    let key = key.to_str().map_err(|_| bad())?.trim().trim_matches('"');
    match key.len() {
        1..=KEY_CHARS_MAX => Ok(Some(key.to_owned())),
        _ => Err(bad()),
    }
}

async fn read(app: &App, grant: &Grant, input: MessageInput) -> Result<Ask, Problem> {
    let contact = contact(app, grant, &input).await?;
    if input.template.is_some() {
        // What was published a moment ago is to be found.
        let head = app.store.log.head().await?;
        app.templates.reach(head, PATIENCE).await;
    }
    Ok(Ask {
        channel: input.channel,
        contact,
        to: input.to,
        template: input.template,
        body: input.body.map(|body| Rendered {
            subject: body.subject,
            html: body.html,
            text: body.text,
            json: body.json.map(|json| json.to_string()),
        }),
        topic: input.topic,
        data: input.data,
        priority: input.priority,
        scheduled_at: input.scheduled_at,
    })
}

async fn contact(
    app: &App,
    grant: &Grant,
    input: &MessageInput,
) -> Result<Option<Contact>, Problem> {
    let unknown = || Problem::not_found("there is no such contact");
    let id = match (&input.contact, &input.user_id) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => {
            let detail = "name the contact by `contact` or by `user_id`, not both";
            return Err(refused(Refused::Faults(vec![("", detail.into())])));
        }
        (Some(id), None) => id.parse().map_err(|_| unknown())?,
        (None, Some(user_id)) => grant.workspace.key.contact_of_user(user_id),
    };
    // Who was accepted a moment ago is to be found.
    let head = app.store.log.head().await?;
    app.projector.reach(head, PATIENCE).await;
    let found = app.contact(grant.scope(), id).await?;
    found.map(Some).ok_or_else(unknown)
}

fn refused(refused: Refused) -> Problem {
    let faults = match refused {
        Refused::Faults(faults) => faults,
        Refused::Store(error) => return error.into(),
    };
    let fault = |(pointer, detail): (&str, String)| Fault {
        pointer: pointer.to_owned(),
        detail,
    };
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    let problem = Problem::new(status, "bad_message", "the message cannot be asked for so");
    problem.with(faults.into_iter().map(fault).collect())
}
