//! A message as it looks, for a frame that can do nothing.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::address::Path;
use super::credential::Reader;
use super::messages::written;
use super::problem::Problem;
use crate::app::App;

/// No script, no form, no request: whatever a message holds, it is only looked at.
const POLICY: &str = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; \
    frame-ancestors 'self'";

/// A message as HTML, to be shown in a frame. One without HTML is shown as its text.
#[utoipa::path(get, path = "/api/v1/messages/{id}/preview", tag = "messages", params(("id" = String, Path,
        description = "The message's id")), responses(
    (status = 200, description = "A page that can do nothing", body = String, content_type = "text/html")))]
pub async fn show(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let rendered = written(&app, &grant, &id).await?;
    let plain = rendered.text.or(rendered.json).unwrap_or_default();
    let html = rendered.html.unwrap_or_else(|| as_page(&plain));
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, html).into_response())
}

fn as_page(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
    let style = "font: 15px/1.5 system-ui, sans-serif; white-space: pre-wrap; margin: 1em";
    format!("<!doctype html><meta charset=utf-8><pre style=\"{style}\">{escaped}</pre>")
}
