//! HTTP: one resource a file, listed here.

mod body;
mod contact_view;
mod contacts;
mod credential;
mod cursor;
mod docs;
mod edit;
mod event_view;
mod export;
mod expressions;
mod front;
mod ingest;
mod member_csv;
mod members;
mod observe;
mod operations;
mod pressure;
mod problem;
mod segment_look;
mod segment_view;
mod segments;
mod server;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn;
use utoipa::OpenApi as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

pub use export::document as export_document;
pub use member_csv::document as members_csv;
pub use pressure::Pressure;
pub use server::serve;

/// Every route there is.
fn router(app: Arc<App>) -> Router {
    let (router, openapi) = routes().split_for_parts();
    router
        .merge(ingest::aliases())
        .merge(docs::routes(openapi))
        .fallback(problem::no_such_route)
        .method_not_allowed_fallback(problem::no_such_method)
        .layer(from_fn(observe::observe))
        .with_state(app)
}

fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(docs::Description::openapi())
        .merge(ingest::routes())
        .routes(routes!(contacts::list, contacts::upsert))
        .routes(routes!(contacts::get, contacts::erase))
        .routes(routes!(contacts::events))
        .routes(routes!(contacts::export))
        .routes(routes!(expressions::check))
        .routes(routes!(segments::list, segments::create))
        .routes(routes!(segment_look::preview))
        .routes(routes!(segments::get, segments::change, segments::delete))
        .routes(routes!(members::list, members::edit))
        .routes(routes!(segments::sizes))
        .routes(routes!(segment_look::explain))
        .routes(routes!(operations::healthz))
        .routes(routes!(operations::readyz))
        .routes(routes!(operations::metrics))
}

/// The OpenAPI description as JSON.
pub fn openapi() -> String {
    let (_, openapi) = routes().split_for_parts();
    openapi
        .to_pretty_json()
        .expect("the description serialises")
}

/// A segment as the API shows it, for the command line.
pub fn segment_json(segment: kurier_core::projection::SegmentSummary) -> serde_json::Value {
    serde_json::json!(segment_view::SegmentView::from(segment))
}

/// A contact as the API shows it, for the command line.
pub fn contact_json(contact: kurier_core::contact::Contact) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&contact_view::ContactView::from(contact))
}
