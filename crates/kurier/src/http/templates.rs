//! Templates: check, publish, retire, look at.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use kurier_core::projection::TemplateSummary;
use kurier_core::template::{Compiled, Fault};
use kurier_core::value::Value;
use serde::Serialize;
use utoipa::ToSchema;

use super::address::Path;
use super::credential::{Admin, Reader};
use super::journey_view::FaultView;
use super::journeys::{read_definition, unreadable};
use super::problem::Problem;
use super::segments::PATIENCE;
use super::template_view::{TemplateDetail, TemplateVersionView, TemplateView};
use crate::app::App;
use crate::flow::content;
use crate::flow::template::{self, Publishing};
use crate::keyring::Grant;

#[derive(Debug, Serialize, ToSchema)]
pub struct TemplateList {
    data: Vec<TemplateView>,
}

/// A template. The reference of templates has all fields.
#[derive(ToSchema)]
#[schema(example = json!({"name": "welcome", "subject": "Welcome, {{ contact.first_name | default: 'friend' }}",
    "markdown": "Good to have you here."}))]
#[expect(dead_code, reason = "it describes what the core reads")]
pub struct TemplateDocument {
    name: Option<String>,
    topic: Option<String>,
    subject: Option<String>,
    markdown: Option<String>,
}

/// All templates, by name.
#[utoipa::path(get, path = "/api/v1/templates", tag = "templates", responses(
    (status = 200, body = TemplateList)))]
pub async fn list(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
) -> Result<Json<TemplateList>, Problem> {
    let templates = app.store.templates.templates(grant.scope()).await?;
    let data = templates.iter().map(TemplateView::from).collect();
    Ok(Json(TemplateList { data }))
}

pub(super) async fn find(app: &App, grant: &Grant, name: &str) -> Result<TemplateSummary, Problem> {
    let found = template::find(&app.store, grant.scope(), name).await?;
    found.ok_or_else(|| Problem::not_found(format!("there is no template `{name}`")))
}

/// A template with its newest document.
#[utoipa::path(get, path = "/api/v1/templates/{name}", tag = "templates", params(("name" = String, Path)), responses(
    (status = 200, body = TemplateDetail)))]
pub async fn get(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(name): Path<String>,
) -> Result<Json<TemplateDetail>, Problem> {
    let template = find(&app, &grant, &name).await?;
    let document = template::document(&app.store, grant.scope(), &template, None).await?;
    Ok(Json(TemplateDetail {
        template: (&template).into(),
        document: document.map(|document| serde_json::json!(document)),
    }))
}

#[derive(Debug, Serialize, ToSchema)]
pub struct TemplateVersionList {
    data: Vec<TemplateVersionView>,
}

/// All versions of a template, the first one first.
#[utoipa::path(get, path = "/api/v1/templates/{name}/versions", tag = "templates", params(("name" = String, Path)),
        responses(
    (status = 200, body = TemplateVersionList)))]
pub async fn versions(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(name): Path<String>,
) -> Result<Json<TemplateVersionList>, Problem> {
    let id = find(&app, &grant, &name).await?.id;
    let versions = app
        .store
        .templates
        .template_versions(grant.scope(), id)
        .await?;
    let data = versions.into_iter().map(TemplateVersionView::from);
    Ok(Json(TemplateVersionList {
        data: data.collect(),
    }))
}

/// Compiling a large document takes a while, and others are not to wait for it.
pub(super) async fn compile(document: Value) -> Result<Result<Compiled, Vec<Fault>>, Problem> {
    let compiling = tokio::task::spawn_blocking(move || Compiled::new(&document));
    let compiled = compiling.await;
    compiled.map_err(|error| kurier_store::Error::Unavailable(error.to_string()).into())
}

pub(super) fn faulty(faults: &[Fault]) -> Problem {
    let first = faults.first().map_or_else(String::new, Fault::to_string);
    let detail = match faults.len() {
        0 | 1 => format!("the template is faulty: {first}"),
        count => format!("the template has {count} faults, the first: {first}"),
    };
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_template", detail)
        .with_faults(faults.iter().map(FaultView::from).collect())
}

#[derive(Debug, Serialize, ToSchema)]
pub struct TemplateCheck {
    /// It could be published.
    ok: bool,
    /// The values it reads, if it is good.
    #[schema(example = json!(["contact.name"]))]
    reads: Vec<String>,
    faults: Vec<FaultView>,
}

/// Checks a document without keeping it: everything that is wrong with it, at once.
#[utoipa::path(post, path = "/api/v1/templates/check", tag = "templates",
        request_body(content((TemplateDocument = "application/json"), (TemplateDocument = "application/yaml"))), responses(
    (status = 200, description = "Checked; `ok` says whether it is good", body = TemplateCheck),
    (status = 400, description = "`bad_definition`: the document cannot be read")))]
pub async fn check(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    headers: HeaderMap,
    request: Body,
) -> Result<Json<TemplateCheck>, Problem> {
    let document = read_definition(&app, &headers, request).await?;
    let document = document.ok_or_else(|| unreadable("the body is empty"))?;
    Ok(Json(match compile(document).await? {
        Ok(compiled) => {
            let absent = content_faults(&app, &grant, &compiled).await?;
            TemplateCheck {
                ok: absent.is_empty(),
                reads: compiled.reads().into_iter().collect(),
                faults: absent.iter().map(FaultView::from).collect(),
            }
        }
        Err(faults) => TemplateCheck {
            ok: false,
            reads: Vec::new(),
            faults: faults.iter().map(FaultView::from).collect(),
        },
    }))
}

#[derive(Debug, Serialize, ToSchema)]
pub struct TemplateAnswer {
    /// False if the current version is just that.
    published: bool,
    version: u32,
    /// Missing while it cannot be read back yet.
    template: Option<TemplateView>,
}

/// Publishes a document as the next version of a template; one that is the current version
/// already publishes nothing. Messages that are asked for from now on use it.
#[utoipa::path(put, path = "/api/v1/templates/{name}", tag = "templates", params(("name" = String, Path)),
        request_body(content((TemplateDocument = "application/json"), (TemplateDocument = "application/yaml"))), responses(
    (status = 200, body = TemplateAnswer),
    (status = 201, description = "Its first version", body = TemplateAnswer),
    (status = 202, description = "Durable; it can be read in a moment", body = TemplateAnswer),
    (status = 400, description = "`bad_definition`: the document cannot be read"),
    (status = 409, description = "`overtaken`: another change came first; read it and try again"),
    (status = 422,
        description = "`bad_template`: the document is not valid; `faults` has every fault with its place")))]
pub async fn publish(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    Path(name): Path<String>,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let document = read_definition(&app, &headers, request).await?;
    let document = document.ok_or_else(|| unreadable("the body is empty"))?;
    let document = named(document, &name)?;
    let compiled = compile(document.clone()).await?;
    let compiled = compiled.map_err(|faults| faulty(&faults))?;
    catch_up(&app).await?;
    let absent = content_faults(&app, &grant, &compiled).await?;
    if !absent.is_empty() {
        return Err(faulty(&absent));
    }
    let done = template::publish(&app.store, grant.scope(), &compiled, document).await?;
    answer(&app, &grant, &name, done).await
}

/// What of its quotations is not there.
async fn content_faults(
    app: &App,
    grant: &Grant,
    compiled: &Compiled,
) -> Result<Vec<Fault>, Problem> {
    content::catch_up(app).await?;
    Ok(content::faults(&app.store, grant.scope(), compiled).await?)
}

/// The address names the template; a document may leave its name out, but not have another.
fn named(document: Value, name: &str) -> Result<Value, Problem> {
    let Value::Object(mut object) = document else {
        return Ok(document);
    };
    let given = object.entry("name".to_owned());
    let given = given.or_insert_with(|| Value::Text(name.to_owned()));
    if *given == Value::Text(name.to_owned()) {
        return Ok(Value::Object(object));
    }
    let message = format!("must be `{name}`; another name is another template");
    Err(faulty(&[Fault::new(Some("name"), message)]))
}

/// What was said before is known.
async fn catch_up(app: &App) -> Result<(), Problem> {
    let head = app.store.log.head().await?;
    match app.templates.reach(head, PATIENCE).await {
        true => Ok(()),
        false => Err(Problem::busy(
            "the read models are too far behind; nothing was changed",
        )),
    }
}

async fn answer(
    app: &App,
    grant: &Grant,
    name: &str,
    done: Publishing,
) -> Result<Response, Problem> {
    let (published, version, is_read) = match done {
        Publishing::Overtaken => {
            let detail = "another version was published in the same moment; look at it first";
            return Err(Problem::new(StatusCode::CONFLICT, "overtaken", detail));
        }
        Publishing::Unchanged { version } => (false, version, true),
        Publishing::Done { position, version } => {
            let is_read = app.templates.reach(position, PATIENCE).await;
            (true, version, is_read)
        }
    };
    let template = template::find(&app.store, grant.scope(), name).await?;
    let status = match (is_read, published, version) {
        (false, ..) => StatusCode::ACCEPTED,
        (true, true, 1) => StatusCode::CREATED,
        _ => StatusCode::OK,
    };
    let answer = TemplateAnswer {
        published,
        version,
        template: template.as_ref().map(TemplateView::from),
    };
    Ok((status, Json(answer)).into_response())
}

/// Retires a template: no journey can be published with it. Journeys that name it go on, and
/// publishing it again brings it back.
#[utoipa::path(delete, path = "/api/v1/templates/{name}", tag = "templates", params(("name" = String, Path)), responses(
    (status = 204, description = "Retired"),
    (status = 409, description = "`overtaken`: another change came first; read it and try again")))]
pub async fn retire(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    Path(name): Path<String>,
) -> Result<StatusCode, Problem> {
    catch_up(&app).await?;
    let template = find(&app, &grant, &name).await?;
    if template.retired_at.is_some() {
        return Err(Problem::not_found(format!("`{name}` is retired already")));
    }
    let position = template::retire(&app.store, grant.scope(), &template).await?;
    app.templates.reach(position, PATIENCE).await;
    Ok(StatusCode::NO_CONTENT)
}
