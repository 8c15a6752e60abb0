//! The API's description at `/openapi.json`, and at `/docs` the page of the web interface that shows it.

mod list;

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::IntoResponse;
use axum::routing::get;
use serde_json::Value;

use super::assets;
use crate::app::App;

pub fn routes(document: &Value) -> Router<Arc<App>> {
    let list: Bytes = list::page(document).into();
    let json: Bytes = document.to_string().into();
    let description = async move || ([(header::CONTENT_TYPE, "application/json")], json);
    let page = async move |State(app): State<Arc<App>>, headers: HeaderMap| {
        let reference = app.assets.reference(&headers);
        reference.unwrap_or_else(|| {
            let headers = assets::guarded("text/html; charset=utf-8", "no-cache");
            (headers, list).into_response()
        })
    };
    Router::new()
        .route("/openapi.json", get(description))
        .route("/docs", get(page))
}
