//! Unsubscribing, as RFC 8058 has it: a POST does it, without key, cookie or redirect. A GET
//! shows a page with a button and changes nothing, whoever looks at links in mails.

mod page;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use kurier_core::message::{Reach, Sealed, SuppressionSource, Unsubscribe};

use super::body;
use super::problem::{Problem, ProblemBody};
use crate::app::App;
use crate::flow::suppress;
use page::{Language, Scene};

/// `List-Unsubscribe=One-Click` in any coat, or one field of our page.
const BODY_BYTES_MAX: usize = 4 * 1024;

/// The token in the address; what is no text is no token.
pub struct Token(String);

impl<S: Send + Sync> FromRequestParts<S> for Token {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        Ok(Self(
            path.map_or_else(|_| String::new(), |Path(token)| token),
        ))
    }
}

/// A page with a button. Nothing changes.
#[utoipa::path(get, path = "/unsubscribe/{token}", tag = "suppressions", security(()), params(("token" = String,
        Path)), responses(
    (status = 200, description = "The page", content_type = "text/html", body = String),
    (status = 404, description = "`not_found`: this is not a token of this server",
        content((ProblemBody = "application/problem+json"), (String = "text/html")))))]
pub async fn show(
    State(app): State<Arc<App>>,
    Token(token): Token,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let Some(asked) = opened(&app, &token).await? else {
        return unknown(&headers);
    };
    let scene = Scene::Ask(asked.topic.as_str());
    Ok(shown(StatusCode::OK, &headers, &scene))
}

/// Unsubscribes the recipient of a message from its topic, or from every topic. It holds when
/// this is answered; asking again changes nothing.
#[utoipa::path(post, path = "/unsubscribe/{token}", tag = "suppressions", security(()), params(("token" = String,
        Path)), request_body(content = String, content_type = "application/x-www-form-urlencoded",
        description = "`List-Unsubscribe=One-Click`", example = "List-Unsubscribe=One-Click"), responses(
    (status = 200, description = "Unsubscribed", content_type = "text/html", body = String),
    (status = 404, description = "`not_found`: this is not a token of this server",
        content((ProblemBody = "application/problem+json"), (String = "text/html")))))]
pub async fn carry_out(
    State(app): State<Arc<App>>,
    Token(token): Token,
    headers: HeaderMap,
    request: Body,
) -> Result<Response, Problem> {
    let (bytes, _room) =
        body::read_within(BODY_BYTES_MAX, &headers, request, &app.pressure).await?;
    let Some(asked) = opened(&app, &token).await? else {
        return unknown(&headers);
    };
    let is_every_topic = bytes
        .split(|byte| *byte == b'&')
        .any(|it| it == b"topics=all");
    let reach = match is_every_topic {
        true => Reach::EveryTopic,
        false => Reach::Topic(asked.topic.clone()),
    };
    suppress::unsubscribe(&app.store, &asked, reach, source(&bytes)).await?;
    let scene = match is_every_topic {
        true => Scene::DoneAll,
        false => Scene::Done(asked.topic.as_str()),
    };
    Ok(shown(StatusCode::OK, &headers, &scene))
}

/// Whatever a POST carries, it unsubscribes: the token says who and what. The words that mail
/// programs send, as a form or in parts, only tell them from the page.
fn source(body: &[u8]) -> SuppressionSource {
    let has = |words: &[u8]| body.windows(words.len()).any(|part| part == words);
    if has(b"List-Unsubscribe") && has(b"One-Click") {
        SuppressionSource::OneClick
    } else {
        SuppressionSource::Page
    }
}

async fn opened(app: &App, token: &str) -> Result<Option<Unsubscribe>, Problem> {
    let Some(sealed) = Sealed::read(token) else {
        return Ok(None);
    };
    let workspace = app.store.access.workspace(sealed.workspace()).await?;
    Ok(workspace.and_then(|workspace| sealed.open(&workspace.key)))
}

/// People get a page, programs a problem.
fn unknown(headers: &HeaderMap) -> Result<Response, Problem> {
    let accept = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok());
    if accept.is_some_and(|accept| accept.contains("text/html")) {
        return Ok(shown(StatusCode::NOT_FOUND, headers, &Scene::Unknown));
    }
    Err(Problem::not_found(
        "this unsubscribe link is not one of ours, or not whole",
    ))
}

fn shown(status: StatusCode, headers: &HeaderMap, scene: &Scene<'_>) -> Response {
    let accepted = headers.get(header::ACCEPT_LANGUAGE);
    let accepted = accepted.and_then(|it| it.to_str().ok()).unwrap_or_default();
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (header::CONTENT_SECURITY_POLICY, page::policy()),
        (header::CACHE_CONTROL, "no-store".to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::VARY, "accept-language".to_owned()),
    ];
    let page = page::document(Language::accepted(accepted), scene);
    (status, headers, page).into_response()
}
