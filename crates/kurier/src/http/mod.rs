//! HTTP: one resource a file, listed here.

mod address;
mod answer;
mod api_keys;
mod assets;
mod body;
mod bundles;
mod channel_view;
mod channels;
mod connection;
mod contact_import;
mod contact_view;
mod contacts;
mod contacts_by_id;
mod content;
mod content_import;
mod content_view;
mod content_ways;
mod cookie;
mod credential;
mod cursor;
mod docs;
mod edit;
mod event_view;
mod export;
mod expressions;
mod front;
mod header_file;
mod html;
mod ingest;
mod ingest_ways;
mod instance_view;
mod instances;
mod journey_nodes;
mod journey_simulation;
mod journey_stats;
mod journey_turns;
mod journey_view;
mod journeys;
mod live;
mod member_csv;
mod members;
mod message_acts;
mod message_filter;
mod message_preview;
mod message_request;
mod message_view;
mod messages;
mod names;
mod observe;
mod openapi;
mod operations;
mod overview;
mod plain;
mod pressure;
mod problem;
mod problem_code;
mod projection_view;
mod projections;
mod records;
mod rejections;
mod segment_look;
mod segment_view;
mod segments;
mod server;
mod session;
mod slack_workspace_view;
mod slack_workspaces;
mod suppressions;
mod template_preview;
mod template_view;
mod templates;
mod unsubscribe;
mod users;
mod version_view;
mod versions;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn;
use utoipa::OpenApi as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use kurier_core::projection::{JourneySummary, SegmentSummary};

pub use assets::Assets;
pub use channel_view::{ChannelView, TestView};
pub use content_view::{ContentItem, ContentNodeView, OutcomeView, Shape, UsedView};
pub use instance_view::{InstanceDetail, InstanceView};
pub use journey_stats::StatsView;
pub use journey_view::{FaultView, JourneyDetail, JourneyView};
pub use journeys::with_definitions;
pub use template_view::{RenderedView, TemplateView};

pub use header_file::serve_headers;
pub use version_view::{ProofView, VerdictNote, VersionView};

pub use export::document as export_document;
pub use member_csv::document as members_csv;
pub use message_request::REMEMBERED_MICROS;
pub use overview::Overviews;
pub use pressure::Pressure;
pub use projection_view::{ProjectionView, SetAsideView, VerdictView};
pub use server::{Open, serve};
pub use slack_workspace_view::SlackWorkspaceView;
pub use suppressions::SuppressionView;

/// Every route there is.
fn router(app: Arc<App>) -> Router {
    let (router, openapi) = routes().split_for_parts();
    router
        .merge(ingest_ways::aliases())
        .merge(docs::routes(&openapi::complete(&openapi)))
        .fallback(assets::answer)
        .method_not_allowed_fallback(problem::no_such_method)
        .layer(from_fn(observe::observe))
        .with_state(app)
}

fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(openapi::Description::openapi())
        .merge(ingest_ways::routes())
        .routes(routes!(rejections::list))
        .routes(routes!(contacts::list, contacts::upsert))
        .routes(routes!(contacts::get, contacts::erase))
        .routes(routes!(contacts::events))
        .routes(routes!(contact_import::import))
        .routes(routes!(contacts::export))
        .routes(routes!(expressions::check))
        .routes(routes!(segments::list, segments::create))
        .routes(routes!(segment_look::preview))
        .routes(routes!(segments::get, segments::change, segments::delete))
        .routes(routes!(members::list, members::edit))
        .routes(routes!(segments::sizes))
        .routes(routes!(segment_look::explain))
        .merge(message_routes())
        .merge(journey_routes())
        .routes(routes!(suppressions::list, suppressions::add))
        .routes(routes!(suppressions::remove))
        .routes(routes!(unsubscribe::show, unsubscribe::carry_out))
        .merge(channel_routes())
        .merge(template_routes())
        .merge(content_routes())
        .merge(projection_routes())
        .merge(slack_workspace_routes())
        .merge(bundle_routes())
        .merge(portal_routes())
        .routes(routes!(operations::healthz))
        .routes(routes!(operations::readyz))
        .routes(routes!(operations::metrics))
}

fn portal_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(session::get, session::sign_in, session::sign_out))
        .routes(routes!(session::setup))
        .routes(routes!(users::list, users::create))
        .routes(routes!(users::change, users::delete))
        .routes(routes!(api_keys::list, api_keys::create))
        .routes(routes!(api_keys::revoke))
        .routes(routes!(overview::get))
        .routes(routes!(live::listen))
        .routes(routes!(names::get))
}

fn message_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(messages::list, message_request::request))
        .routes(routes!(messages::counts))
        .routes(routes!(message_acts::redrive))
        .routes(routes!(message_acts::discard))
        .routes(routes!(messages::get))
        .routes(routes!(messages::content))
        .routes(routes!(message_preview::show))
}

fn template_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(templates::list))
        .routes(routes!(templates::check))
        .routes(routes!(
            templates::get,
            templates::publish,
            templates::retire
        ))
        .routes(routes!(templates::versions))
        .routes(routes!(template_preview::preview))
}

fn content_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(content::list, content_import::import))
        .routes(routes!(content::get, content::withdraw))
        .routes(routes!(content_ways::used_by))
        .routes(routes!(content_ways::related))
}

fn projection_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(projections::list))
        .routes(routes!(projections::get))
        .routes(routes!(projections::rebuild))
        .routes(routes!(projections::verify))
        .routes(routes!(projections::pause))
        .routes(routes!(projections::resume))
        .routes(routes!(records::counts))
        .routes(routes!(records::audit))
        .routes(routes!(records::channel_health))
}

fn bundle_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(bundles::bundle))
        .routes(routes!(bundles::ready))
        .routes(routes!(versions::list))
        .routes(routes!(versions::get))
        .routes(routes!(versions::prove))
}

fn slack_workspace_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(slack_workspaces::list, slack_workspaces::create))
        .routes(routes!(
            slack_workspaces::get,
            slack_workspaces::update,
            slack_workspaces::archive
        ))
}

fn journey_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(journeys::list, journeys::create))
        .routes(routes!(journeys::check))
        .routes(routes!(journey_nodes::list))
        .routes(routes!(journey_simulation::of_definition))
        .routes(routes!(journey_simulation::of_journey))
        .routes(routes!(journeys::get, journeys::save))
        .routes(routes!(journeys::publish))
        .routes(routes!(journey_turns::pause))
        .routes(routes!(journey_turns::resume))
        .routes(routes!(journey_turns::retire))
        .routes(routes!(journey_stats::versions))
        .routes(routes!(journey_stats::version))
        .routes(routes!(journey_stats::stats))
        .routes(routes!(instances::list))
        .routes(routes!(instances::trigger))
        .routes(routes!(instances::get, instances::cancel))
        .routes(routes!(instances::of_contact))
}

fn channel_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(channels::list))
        .routes(routes!(channels::get, channels::set, channels::remove))
        .routes(routes!(channels::test))
}

/// The OpenAPI description as JSON.
pub fn openapi() -> String {
    let (_, openapi) = routes().split_for_parts();
    format!("{:#}", openapi::complete(&openapi))
}

/// A segment as the API shows it, for the command line.
pub fn segment_json(segment: SegmentSummary, journeys: &[JourneySummary]) -> serde_json::Value {
    serde_json::json!(segment_view::SegmentView::of(segment, journeys))
}

/// What is wrong with a definition, as the API shows it.
pub fn fault_json(fault: &kurier_core::journey::Fault) -> serde_json::Value {
    serde_json::json!(FaultView::from(fault))
}

/// What is wrong with a template, as the API shows it.
pub fn template_fault_json(fault: &kurier_core::template::Fault) -> serde_json::Value {
    serde_json::json!(FaultView::from(fault))
}

/// A contact as the API shows it, for the command line.
pub fn contact_json(contact: kurier_core::contact::Contact) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&contact_view::ContactView::from(contact))
}

/// A message as the API shows it in a list, on one line.
pub fn message_json(message: &kurier_core::projection::MessageSummary) -> serde_json::Value {
    serde_json::json!(message_view::MessageView::from(message))
}

/// A message as the API shows it, with every attempt.
pub fn message_detail_json(
    message: kurier_core::projection::MessageSummary,
) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&message_view::MessageDetail::from(message))
}

/// What a message says, as the API shows it, with the message's id and state.
pub fn message_content_json(
    message: &kurier_core::projection::MessageSummary,
    rendered: kurier_core::message::Rendered,
) -> serde_json::Value {
    let mut answer = serde_json::json!(message_view::RenderedContent::from(rendered));
    answer["id"] = serde_json::json!(message.request.message);
    answer["state"] = serde_json::json!(message.state.as_str());
    answer
}

/// A count of messages as the API shows it.
pub fn count_json(count: kurier_store::MessageCount) -> serde_json::Value {
    serde_json::json!(message_view::CountView::from(count))
}
