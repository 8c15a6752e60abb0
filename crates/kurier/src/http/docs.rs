//! The API's description at `/openapi.json`, and at `/docs` the page of the web interface that shows it.

mod list;

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::IntoResponse;
use axum::routing::get;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

use super::assets;
use crate::app::App;

#[derive(OpenApi)]
#[openapi(
    info(title = "Kurier", description = "Customer journeys from one durable log."),
    modifiers(&Keys),
    security(("bearer" = []), ("basic" = []), ("cookie" = [])),
    tags(
        (name = "ingest", description = "Events come in, as the Segment spec has it"),
        (name = "contacts", description = "Who the events are about"),
        (name = "segments", description = "Sets of contacts that follow by themselves"),
        (name = "journeys", description = "What contacts go through, and where each is"),
        (name = "channels", description = "What messages are sent with"),
        (name = "templates", description = "What messages say"),
        (name = "slack-workspaces", description = "Where messages to Slack may go"),
        (name = "expressions", description = "The language of segments and journeys"),
        (name = "suppressions", description = "Who is kept from what"),
        (name = "portal", description = "Who signs in, and what the web interface looks at"),
        (name = "operations", description = "Health and metrics"),
    )
)]
pub struct Description;

struct Keys;

impl Modify for Keys {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let components = openapi.components.get_or_insert_with(Default::default);
        let cookie = ApiKey::Cookie(ApiKeyValue::new("kurier_session"));
        components.add_security_scheme("cookie", SecurityScheme::ApiKey(cookie));
        for (name, scheme) in [
            ("bearer", HttpAuthScheme::Bearer),
            ("basic", HttpAuthScheme::Basic),
        ] {
            components.add_security_scheme(name, SecurityScheme::Http(Http::new(scheme)));
        }
    }
}

/// Who makes a client of the description needs a name of its own for every operation: what it is
/// about, and what it is called there.
pub fn name_operations(openapi: &mut utoipa::openapi::OpenApi) {
    for (path, item) in &mut openapi.paths.paths {
        let operations = [
            &mut item.get,
            &mut item.put,
            &mut item.post,
            &mut item.delete,
            &mut item.patch,
        ];
        for operation in operations.into_iter().flatten() {
            let called = operation.operation_id.take().unwrap_or_default();
            operation.operation_id = Some(operation_name(path, &called));
        }
    }
}

fn operation_name(path: &str, called: &str) -> String {
    let about = path.trim_start_matches("/api").trim_start_matches("/v1");
    let parts = about.split('/').filter(|part| !part.starts_with('{'));
    let mut parts: Vec<String> = parts
        .filter(|part| !part.is_empty())
        .map(|part| part.replace(['-', '.'], "_"))
        .collect();
    if parts.last().is_none_or(|last| last != called) {
        parts.push(called.to_owned());
    }
    parts.join("_")
}

pub fn routes(openapi: utoipa::openapi::OpenApi) -> Router<Arc<App>> {
    let json = openapi
        .to_pretty_json()
        .expect("the description serialises");
    let described = serde_json::from_str(&json).expect("what was just written can be read");
    let list: Bytes = list::page(&described).into();
    let json: Bytes = json.into();
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::super::openapi;

    /// All names that stand under a key anywhere.
    fn under(value: &Value, key: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get(key).and_then(Value::as_str).map(str::to_owned));
                fields.values().for_each(|inner| under(inner, key, found));
            }
            Value::Array(items) => items.iter().for_each(|inner| under(inner, key, found)),
            _ => {}
        }
    }

    fn described() -> Value {
        serde_json::from_str(&openapi()).expect("JSON")
    }

    #[test]
    fn every_operation_has_a_name_of_its_own() {
        let mut names = Vec::new();
        under(&described()["paths"], "operationId", &mut names);
        let each: BTreeSet<&String> = names.iter().collect();
        assert_eq!(each.len(), names.len(), "{names:?}");
        assert!(
            each.contains(&"segments_members_list".to_owned()),
            "{each:?}"
        );
    }

    #[test]
    fn every_shape_that_is_named_is_there() {
        let described = described();
        let mut named = Vec::new();
        under(&described, "$ref", &mut named);
        assert!(named.len() > 100);
        for name in named {
            let place = name.trim_start_matches('#');
            assert!(described.pointer(place).is_some(), "{name} is not there");
        }
    }
}
