//! What can be named in an expression, as it was seen.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use kurier_core::columns::{Named, NamedEvent, Names};
use serde::Serialize;
use utoipa::ToSchema;

use super::credential::Reader;
use super::problem::Problem;
use crate::app::App;

/// Attributes and events there are.
#[derive(Debug, Serialize, ToSchema)]
pub struct NamesView {
    attributes: Vec<NameView>,
    events: Vec<EventNameView>,
}

/// A path, and what stands there.
#[derive(Debug, Serialize, ToSchema)]
struct NameView {
    /// Names joined by dots.
    #[schema(example = "address.city")]
    name: String,
    /// Of `bool`, `number`, `text`, `time`, `list` and `object`.
    #[schema(example = json!(["text"]))]
    types: Vec<&'static str>,
}

#[derive(Debug, Serialize, ToSchema)]
struct EventNameView {
    #[schema(example = "Order Completed")]
    name: String,
    /// How many there were.
    count: usize,
    properties: Vec<NameView>,
}

impl From<Named> for NameView {
    fn from(named: Named) -> Self {
        Self {
            name: named.path,
            types: named.types.iter().map(|it| it.as_str()).collect(),
        }
    }
}

impl From<NamedEvent> for EventNameView {
    fn from(event: NamedEvent) -> Self {
        Self {
            name: event.name,
            count: event.count,
            properties: event.properties.into_iter().map(NameView::from).collect(),
        }
    }
}

/// All attributes, event names and their properties, with the types of their values.
#[utoipa::path(get, path = "/api/v1/names", tag = "portal", responses(
    (status = 200, body = NamesView)))]
pub async fn get(
    State(app): State<Arc<App>>,
    Reader(grant): Reader,
) -> Result<Json<NamesView>, Problem> {
    let look = move || {
        let engines = app.reactor.engines();
        let engine = engines.get(&grant.workspace.id);
        engine.map_or_else(Names::default, |engine| engine.realm().world().names())
    };
    let names = tokio::task::spawn_blocking(look).await;
    let names = names.map_err(|e| kurier_store::Error::Unavailable(e.to_string()))?;
    Ok(Json(NamesView {
        attributes: names.attributes.into_iter().map(NameView::from).collect(),
        events: names.events.into_iter().map(EventNameView::from).collect(),
    }))
}
