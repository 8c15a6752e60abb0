//! The API's description at `/openapi.json`, and a page at `/docs` that shows it.

use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

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

pub fn routes(openapi: utoipa::openapi::OpenApi) -> Router<Arc<App>> {
    let json = openapi
        .to_pretty_json()
        .expect("the description serialises");
    let json: Arc<str> = json.into();
    let description = move || {
        let json = json.clone();
        async move {
            (
                [(header::CONTENT_TYPE, "application/json")],
                json.to_string(),
            )
        }
    };
    Router::new()
        .route("/openapi.json", get(description))
        .route("/docs", get(page))
        .route("/docs/page.js", get(script))
        .route("/docs/page.css", get(style))
}

async fn page() -> impl IntoResponse {
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'";
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, policy),
    ];
    (headers, include_str!("docs/page.html"))
}

async fn script() -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, "text/javascript; charset=utf-8")],
        include_str!("docs/page.js"),
    )
}

async fn style() -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, "text/css; charset=utf-8")],
        include_str!("docs/page.css"),
    )
}
