//! The description of the API. The annotations say what is particular to an operation; what follows from rules is added
//! here: names of operations, the problems that each can answer, descriptions and examples.

mod answers;
mod examples;
mod names;
mod problems;

use serde_json::{Map, Value, json};
use utoipa::OpenApi;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};

use super::problem::ProblemBody;

#[derive(OpenApi)]
#[openapi(
    info(title = "Kurier", description = "Customer journeys from one durable log."),
    servers((url = "/", description = "This server")),
    components(schemas(ProblemBody)),
    modifiers(&Keys),
    security(("bearer" = []), ("basic" = []), ("cookie" = [])),
    tags(
        (name = "ingest", description = "Events from SDKs, as the Segment specification defines them"),
        (name = "contacts", description = "The people that events are about"),
        (name = "segments", description = "Sets of contacts that update themselves"),
        (name = "journeys", description = "Steps that contacts go through, and the place of each contact"),
        (name = "messages", description = "Messages with all attempts to send them"),
        (name = "channels", description = "Settings for e-mail, webhooks, Slack and SMS"),
        (name = "templates", description = "Texts of messages"),
        (name = "content", description = "Markdown documents that templates use"),
        (name = "slack-workspaces", description = "Slack workspaces that receive messages"),
        (name = "expressions", description = "The language of segments and journeys"),
        (name = "suppressions", description = "Addresses that receive nothing"),
        (name = "bundles", description = "Versions of definitions with their proofs"),
        (name = "projections", description = "Read models: progress, rebuild, verification"),
        (name = "records", description = "Counts, audit and the health of channels"),
        (name = "portal", description = "Users, sessions, API keys and the overview"),
        (name = "operations", description = "Health and metrics"),
    )
)]
pub struct Description;

struct Keys;

impl utoipa::Modify for Keys {
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

/// The whole description, from what the annotations say.
pub fn complete(openapi: &utoipa::openapi::OpenApi) -> Value {
    let mut document = json!(openapi);
    let shared = document["security"].clone();
    for_each_operation(&mut document, |path, method, operation| {
        names::add(path, operation);
        answers::add(method, &shared, operation);
    });
    document["components"]["responses"] = problems::shared_answers();
    answers::describe(&mut document);
    examples::add(&mut document);
    document
}

const METHODS: [&str; 5] = ["get", "put", "post", "delete", "patch"];

/// Calls `change` with path, method and fields of every operation.
fn for_each_operation(
    document: &mut Value,
    mut change: impl FnMut(&str, &str, &mut Map<String, Value>),
) {
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    for (path, item) in paths {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            if let Some(operation) = operation.as_object_mut()
                && METHODS.contains(&method.as_str())
            {
                change(path, method, operation);
            }
        }
    }
}

#[cfg(test)]
mod tests;
