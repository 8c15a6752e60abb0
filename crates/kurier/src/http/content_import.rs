//! Importing by API.

use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, header};
use kurier_core::content::{Encoding, decode};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::body;
use super::contacts::query;
use super::content_view::OutcomeView;
use super::credential::Admin;
use super::problem::Problem;
use crate::app::App;
use crate::flow::content::{Importer, Source, source_fault};

/// More at once goes by the command line.
const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
const DOCUMENTS_MAX: usize = 1_000;

/// Documents to import together.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportInput {
    documents: Vec<DocumentInput>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentInput {
    /// What names the document: importing the same source again changes it.
    #[schema(example = "handbook/refunds.md")]
    source: String,
    #[schema(example = "# Shipping\n\nParcels leave within a day.")]
    markdown: String,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ImportParams {
    /// Only say what would be changed.
    #[serde(default)]
    dry_run: bool,
    /// For a body that is Markdown: what names the document.
    source: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ImportAnswer {
    data: Vec<OutcomeView>,
    /// Where the log has it; missing if nothing was written.
    position: Option<i64>,
}

/// Imports documents, all of them or none: as JSON, or one as `text/markdown` with `?source=`.
/// What is there just so is left alone. Answers when it can be read.
#[utoipa::path(post, path = "/api/v1/content", tag = "content", params(ImportParams),
        request_body(content((ImportInput = "application/json"), (String = "text/markdown", example = "# Shipping\n\nParcels leave within a day.\n"))), responses(
    (status = 200, body = ImportAnswer),
    (status = 400,
        description = "`bad_source`: a name of a document is missing or not valid; `bad_document`: a document is not text"),
    (status = 409, description = "`overtaken`: another change came first; read it and try again"),
    (status = 422, description = "`twice`: two documents, or two of their parts, have one key")))]
pub async fn import(
    State(app): State<Arc<App>>,
    Admin(grant): Admin,
    params: Result<Query<ImportParams>, QueryRejection>,
    headers: HeaderMap,
    request: Body,
) -> Result<Json<ImportAnswer>, Problem> {
    let params = query(params)?;
    let (bytes, _room) =
        body::read_within(BODY_BYTES_MAX, &headers, request, &app.pressure).await?;
    let sources = read(&headers, &bytes, params.source)?;
    let mut importer = Importer::new(&app, grant.scope(), params.dry_run);
    let outcomes = importer.take(sources).await?;
    let position = importer.position;
    if position.is_some() {
        crate::flow::content::catch_up(&app).await?;
        app.content_edge.wake();
    }
    Ok(Json(ImportAnswer {
        data: outcomes.into_iter().map(OutcomeView::from).collect(),
        position: position.map(|position| position.0),
    }))
}

fn read(
    headers: &HeaderMap,
    bytes: &Bytes,
    source: Option<String>,
) -> Result<Vec<Source>, Problem> {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let documents = match kind.starts_with("text/") {
        true => vec![markdown(bytes, source)?],
        false => json(bytes)?,
    };
    if documents.len() > DOCUMENTS_MAX {
        let detail = format!("at most {DOCUMENTS_MAX} documents at once");
        return Err(Problem::too_large(detail));
    }
    let faults = documents.iter();
    let mut faults = faults.filter_map(|source| source_fault(&source.id));
    match faults.next() {
        Some(fault) => Err(Problem::bad_request("bad_source", fault)),
        None => Ok(documents),
    }
}

fn markdown(bytes: &Bytes, source: Option<String>) -> Result<Source, Problem> {
    let missing = || Problem::bad_request("bad_source", "say ?source=, which names the document");
    let id = source.ok_or_else(missing)?;
    let text = decode(bytes, Encoding::Strict);
    let text = text.map_err(|e| Problem::bad_request("bad_document", format!("`{id}` {e}")))?;
    Ok(Source {
        id,
        text: text.into_owned(),
    })
}

fn json(bytes: &Bytes) -> Result<Vec<Source>, Problem> {
    let input: ImportInput = serde_json::from_slice(bytes)
        .map_err(|e| Problem::bad_request("bad_json", e.to_string()))?;
    let sources = input.documents.into_iter().map(|it| Source {
        id: it.source,
        text: it.markdown,
    });
    Ok(sources.collect())
}
