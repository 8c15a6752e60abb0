//! Contacts: list, upsert, read, erase, export.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{FromRequestParts, Path, Query, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use kurier_core::contact::{Contact, normal_email};
use kurier_core::id::ContactId;
use kurier_core::value::Value;
use kurier_store::{Appended, ContactFilter, ContactQuery, TimelinePage, TimelineQuery};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::contact_view::{ContactInput, ContactView};
use super::credential::{Admin, Owner, Reader};
use super::event_view::EventView;
use super::problem::Problem;
use super::{body, contacts_by_id, cursor};
use crate::app::App;
use crate::cache::RECENT_MAX;
use crate::flow::{self, ErasureReport};
use crate::keyring::Grant;

const LIMIT_DEFAULT: usize = 50;
const LIMIT_MAX: usize = 500;
/// Who writes waits this long to read it back; durable it is before.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListParams {
    /// How many, at most 500.
    #[param(minimum = 1, maximum = 500, default = 50)]
    pub(super) limit: Option<usize>,
    /// `next_cursor` of the page before.
    pub(super) cursor: Option<String>,
    /// Exactly this e-mail address, in any case.
    pub(super) email: Option<String>,
    pub(super) user_id: Option<String>,
    pub(super) anonymous_id: Option<String>,
    /// The e-mail address or user id begins with this.
    pub(super) q: Option<String>,
    /// An attribute and its value, as `plan:pro` or `address.city:Bonn`; the value is read as JSON if it is.
    #[param(example = "plan:pro")]
    pub(super) attribute: Option<String>,
    /// Exactly these, by their ids, separated by commas: at most 100, and nothing beside it.
    ids: Option<String>,
}

/// One page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct ContactList {
    data: Vec<ContactView>,
    has_more: bool,
    next_cursor: Option<String>,
}

/// Contacts, newest first.
#[utoipa::path(get, path = "/api/v1/contacts", tag = "contacts", params(ListParams), responses(
    (status = 200, body = ContactList),
    (status = 400, description = "`bad_cursor`: the cursor belongs to another list")))]
pub async fn list(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    params: Result<Query<ListParams>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<ContactList>, Problem> {
    let params = query(params)?;
    if let Some(ids) = &params.ids {
        let data = contacts_by_id::all(&app, &grant, ids, &params).await?;
        return Ok(Json(ContactList {
            data,
            has_more: false,
            next_cursor: None,
        }));
    }
    let key = &grant.workspace.key;
    let after = params
        .cursor
        .as_deref()
        .map(|cursor| cursor::to_contact(key, cursor))
        .transpose()?;
    let limit = limit(params.limit)?;
    let query = ContactQuery {
        filter: filter(&grant, &params)?,
        after,
        limit,
    };
    let page = app.store.views.contacts(grant.scope(), &query).await?;
    let last = page.contacts.last().filter(|_| page.has_more);
    let next_cursor = last.map(|contact| cursor::of_contact(key, contact.created_at, contact.id));
    let data = page.contacts.into_iter().map(ContactView::from).collect();
    Ok(Json(ContactList {
        data,
        has_more: page.has_more,
        next_cursor,
    }))
}

pub(super) fn query<T>(
    params: Result<Query<T>, axum::extract::rejection::QueryRejection>,
) -> Result<T, Problem> {
    params
        .map(|Query(params)| params)
        .map_err(|e| Problem::bad_request("bad_parameter", e.body_text()))
}

pub(super) fn limit(limit: Option<usize>) -> Result<usize, Problem> {
    match limit.unwrap_or(LIMIT_DEFAULT) {
        limit @ 1..=LIMIT_MAX => Ok(limit),
        _ => Err(Problem::bad_request(
            "bad_parameter",
            format!("limit must be between 1 and {LIMIT_MAX}"),
        )),
    }
}

fn filter(grant: &Grant, params: &ListParams) -> Result<ContactFilter, Problem> {
    let bad = |detail: String| Problem::bad_request("bad_parameter", detail);
    let email = params.email.as_deref().map(|email| {
        let normal = normal_email(email).filter(|email| !email.contains('\0'));
        normal.ok_or_else(|| bad(format!("`{email}` is not an e-mail address")))
    });
    Ok(ContactFilter {
        email: email.transpose()?,
        user_id: params.user_id.clone().map(without_nul).transpose()?,
        anonymous: params
            .anonymous_id
            .as_deref()
            .map(|id| grant.workspace.key.contact_of_anonymous(id)),
        starts_with: params
            .q
            .clone()
            .filter(|q| !q.is_empty())
            .map(without_nul)
            .transpose()?,
        attribute: params.attribute.as_deref().map(attribute).transpose()?,
    })
}

/// The character NUL is in nothing that is kept, and not every database can look for it.
fn without_nul(text: String) -> Result<String, Problem> {
    if text.contains('\0') {
        let detail = "the character U+0000 is in nothing that is kept here";
        return Err(Problem::bad_request("bad_parameter", detail));
    }
    Ok(text)
}

fn attribute(text: &str) -> Result<(kurier_core::path::Path, Value), Problem> {
    let bad = |detail: String| Problem::bad_request("bad_parameter", detail);
    let (path, value) = text
        .split_once(':')
        .ok_or_else(|| bad("attribute must be a name and a value, as in plan:pro".into()))?;
    let path = path.parse().map_err(|e| bad(format!("attribute: {e}")))?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::Text(value.to_owned()));
    if let Value::Text(text) = &value {
        without_nul(text.clone())?;
    }
    if matches!(value, Value::List(_) | Value::Object(_)) {
        return Err(bad(
            "attribute: only text, numbers, true, false and null can be searched".into(),
        ));
    }
    Ok((path, value))
}

/// A contact that is durable, but cannot be read back yet.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ContactPending)]
pub struct Pending {
    id: String,
}

/// Makes a contact or changes it; answers when it can be read back.
#[utoipa::path(post, path = "/api/v1/contacts", tag = "contacts", request_body = ContactInput, responses(
    (status = 200, description = "Changed", body = ContactView),
    (status = 201, description = "Made", body = ContactView),
    (status = 202, description = "Durable; the read models are behind", body = Pending),
    (status = 422, description = "`bad_contact`: the contact is not valid; `errors` has every fault")))]
pub async fn upsert(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    headers: HeaderMap,
    request: axum::body::Body,
) -> Result<Response, Problem> {
    let (bytes, _room) = body::read(&headers, request, &app.pressure).await?;
    let input: ContactInput = serde_json::from_slice(&bytes)
        .map_err(|e| Problem::bad_request("bad_json", e.to_string()))?;
    let event = input
        .profile()
        .event(&grant.workspace.key, None)
        .map_err(|problems| {
            let faults = problems.into_iter().map(super::problem::Fault::from);
            Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "bad_contact",
                "the contact cannot be accepted",
            )
            .with(faults.collect())
        })?;
    let id = event
        .contact
        .ok_or_else(|| Problem::not_found("the contact has no id"))?;
    let appended = app.store.log.append(grant.scope(), vec![event]).await?;
    if let Some(Appended::At(position)) = appended.first()
        && !app.projector.reach(*position, PATIENCE).await
    {
        return Ok((StatusCode::ACCEPTED, Json(Pending { id: id.to_string() })).into_response());
    }
    let contact = find(&app, &grant, id).await?;
    let status = if contact.event_count == 1 {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok((status, Json(ContactView::from(contact))).into_response())
}

/// The live contact at an id of this workspace; anyone else's is not found.
pub(super) async fn find(app: &App, grant: &Grant, id: ContactId) -> Result<Contact, Problem> {
    let found = app.contact(grant.scope(), id).await?;
    found.ok_or_else(|| Problem::not_found("there is no such contact"))
}

/// The contact id in the address; what is no id is the id of nobody.
pub struct Id(ContactId);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        let id = path.ok().and_then(|Path(text)| text.parse().ok());
        id.map(Self)
            .ok_or_else(|| Problem::not_found("there is no such contact"))
    }
}

/// A contact. The id of one that was merged into another answers the other.
#[utoipa::path(get, path = "/api/v1/contacts/{id}", tag = "contacts", params(("id" = String, Path)), responses(
    (status = 200, body = ContactView)))]
pub async fn get(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Id(id): Id,
) -> Result<Json<ContactView>, Problem> {
    Ok(Json(find(&app, &grant, id).await?.into()))
}

/// What an erasure did.
#[derive(Debug, Serialize, ToSchema)]
pub struct Erased {
    /// The contact and those that were merged into it.
    contacts: usize,
    /// Events whose content is gone.
    events: usize,
    /// False if the erasure is durable, but is still being carried out.
    done: bool,
}

/// Erases a contact: what its events said is gone from the log, every read model and the queue.
#[utoipa::path(delete, path = "/api/v1/contacts/{id}", tag = "contacts", params(("id" = String, Path)), responses(
    (status = 200, body = Erased),
    (status = 202, body = Erased)))]
pub async fn erase(
    State(app): State<Arc<App>>,
    Owner(grant): Owner,
    Id(id): Id,
) -> Result<(StatusCode, Json<Erased>), Problem> {
    let report = flow::erase(&app, &grant, id).await?;
    let report = report.ok_or_else(|| Problem::not_found("there is no such contact"))?;
    let ErasureReport {
        contacts,
        events,
        done,
    } = report;
    let status = if done {
        StatusCode::OK
    } else {
        StatusCode::ACCEPTED
    };
    Ok((
        status,
        Json(Erased {
            contacts,
            events,
            done,
        }),
    ))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventParams {
    /// How many, at most 500.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// Only events of this type.
    #[param(example = "track")]
    r#type: Option<String>,
    /// Only events of this name.
    #[param(example = "Order Completed")]
    name: Option<String>,
}

/// One page of a timeline.
#[derive(Debug, Serialize, ToSchema)]
pub struct EventList {
    data: Vec<EventView>,
    has_more: bool,
    next_cursor: Option<String>,
}

/// A contact's events, latest first, with those of the contacts merged into it.
#[utoipa::path(get, path = "/api/v1/contacts/{id}/events", tag = "contacts", params(("id" = String, Path),
        EventParams), responses(
    (status = 200, body = EventList),
    (status = 400, description = "`bad_cursor`: the cursor belongs to another list")))]
pub async fn events(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Id(id): Id,
    params: Result<Query<EventParams>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<EventList>, Problem> {
    let params = query(params)?;
    let key = &grant.workspace.key;
    let kind = params.r#type.as_deref().map(str::parse).transpose();
    let query = TimelineQuery {
        kind: kind.map_err(|e| Problem::bad_request("bad_parameter", format!("type: {e}")))?,
        title: params.name.map(without_nul).transpose()?,
        after: params
            .cursor
            .as_deref()
            .map(|cursor| cursor::to_event(key, cursor))
            .transpose()?,
        limit: limit(params.limit)?,
    };
    let contact = find(&app, &grant, id).await?;
    let page = timeline(&app, &grant, &contact, &query).await?;
    let last = page.events.last().filter(|_| page.has_more);
    let next_cursor = last.map(|last| cursor::of_event(key, last.event.occurred_at, last.position));
    let data = page
        .events
        .iter()
        .map(EventView::of)
        .collect::<Result<_, _>>()?;
    Ok(Json(EventList {
        data,
        has_more: page.has_more,
        next_cursor,
    }))
}

/// The newest of all are what is asked for most, and remembered.
async fn timeline(
    app: &App,
    grant: &Grant,
    contact: &Contact,
    query: &TimelineQuery,
) -> kurier_store::Result<TimelinePage> {
    let is_all = query.kind.is_none() && query.title.is_none() && query.after.is_none();
    if is_all && query.limit <= RECENT_MAX {
        return app.recent.page(grant.scope(), contact, query.limit).await;
    }
    let views = &app.store.views;
    views.timeline(grant.scope(), &contact.ids(), query).await
}

/// Everything kept of a contact, as one JSON document: the contact and all its events.
#[utoipa::path(get, path = "/api/v1/contacts/{id}/export", tag = "contacts", params(("id" = String, Path)), responses(
    (status = 200, body = super::export::ContactExport)))]
pub async fn export(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    Id(id): Id,
) -> Result<Response, Problem> {
    let contact = find(&app, &grant, id).await?;
    let headers = [
        ("content-type", "application/json".to_owned()),
        (
            "content-disposition",
            format!("attachment; filename=\"contact-{}.json\"", contact.id),
        ),
    ];
    let body = axum::body::Body::from_stream(super::export::document(app, grant, contact));
    Ok((headers, body).into_response())
}
