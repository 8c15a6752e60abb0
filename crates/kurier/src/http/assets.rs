//! The web interface: files in this program or in a folder, and the page that stands for all
//! addresses of its own.

mod asset;
mod folder;

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

use self::asset::Asset;
use super::problem;
use crate::app::App;

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// A file that the build script took in.
struct EmbeddedFile {
    path: &'static str,
    etag: &'static str,
    bytes: &'static [u8],
    is_brotli: bool,
}

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data:; connect-src 'self'; font-src 'self'; frame-src 'self'; \
    base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const REFERRER: HeaderName = HeaderName::from_static("referrer-policy");
const INDEX: &str = "/index.html";
const REFERENCE: &str = "/docs.html";
/// What is never the interface's: who asks there wants a problem, not a page.
const OTHERS: &[&str] = &[
    "/api",
    "/v1",
    "/docs",
    "/openapi.json",
    "/metrics",
    "/healthz",
    "/readyz",
    "/unsubscribe",
    "/bundle",
    "/ready",
    "/beacon",
    "/sourceConfig",
];
const MISSING: &str = include_str!("assets/missing.html");

/// The files of the web interface, by path.
pub struct Assets(HashMap<Cow<'static, str>, Asset>);

impl Assets {
    /// Those of a folder, read now; without one those in this program.
    pub fn open(folder: Option<&Path>) -> anyhow::Result<Self> {
        let Some(folder) = folder else {
            return Ok(Self(EMBEDDED.iter().map(embedded).collect()));
        };
        let unreadable = || format!("the web interface in {} cannot be read", folder.display());
        let files = folder::read(folder).with_context(unreadable)?;
        let assets = files.into_iter().map(of_folder);
        Ok(Self(assets.collect::<anyhow::Result<_>>()?))
    }

    /// The page of the API reference, if there is a web interface.
    pub fn reference(&self, headers: &HeaderMap) -> Option<Response> {
        let asset = self.0.get(REFERENCE)?;
        Some(serve(asset, content_type(REFERENCE), false, headers))
    }

    /// The file at a path: itself, or the page that stands for all others.
    fn find(&self, path: &str) -> Option<(&Asset, bool)> {
        if path != INDEX
            && let Some(asset) = self.0.get(path)
        {
            return Some((asset, is_hashed(path)));
        }
        let is_file = path
            .rsplit('/')
            .next()
            .is_some_and(|name| name.contains('.'));
        let index = (!is_file || path == INDEX).then(|| self.0.get(INDEX));
        index.flatten().map(|asset| (asset, false))
    }
}

fn embedded(file: &EmbeddedFile) -> (Cow<'static, str>, Asset) {
    let etag = HeaderValue::from_static(file.etag);
    let asset = Asset::new(etag, Bytes::from_static(file.bytes), file.is_brotli);
    (file.path.into(), asset)
}

fn of_folder(file: folder::WebFile) -> anyhow::Result<(Cow<'static, str>, Asset)> {
    let etag = HeaderValue::from_str(&file.etag)?;
    let asset = Asset::new(etag, file.bytes.into(), false);
    Ok((file.path.into(), asset))
}

/// Whether the name says what is in the file, as `index-4f2a91bc.js` does: then it never changes.
fn is_hashed(path: &str) -> bool {
    let Some(name) = path.strip_prefix("/assets/") else {
        return false;
    };
    let stem = name.split('.').next().unwrap_or_default();
    let is_mark = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let mut marks = stem.match_indices('-').map(|(at, _)| &stem[at + 1..]);
    marks.any(|mark| mark.len() >= 8 && mark.chars().all(is_mark))
}

/// Also if it is mistyped: a page would seem a success to a program.
fn is_of_others(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next();
    let first = first.unwrap_or_default();
    let others = OTHERS.iter().map(|other| other.trim_start_matches('/'));
    others
        .into_iter()
        .any(|other| other.eq_ignore_ascii_case(first))
}

/// Answers what no route did.
pub async fn answer(
    State(app): State<Arc<App>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let path = uri.path();
    if is_of_others(path) {
        return problem::no_such_route(uri).await.into_response();
    }
    if ![Method::GET, Method::HEAD].contains(&method) {
        return problem::no_such_method(method, uri).await.into_response();
    }
    match app.assets.find(path) {
        Some((asset, is_immutable)) => serve(asset, content_type(path), is_immutable, &headers),
        None if app.assets.0.is_empty() && wants_page(path, &headers) => how_to_build(),
        None => problem::no_such_route(uri).await.into_response(),
    }
}

/// Whether a person asks for it, with a browser.
fn wants_page(path: &str, headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok());
    path == "/" || accepted.is_some_and(|accepted| accepted.contains("text/html"))
}

fn how_to_build() -> Response {
    let headers = guarded("text/html; charset=utf-8", "no-store");
    (StatusCode::OK, headers, MISSING).into_response()
}

/// Headers of anything that a browser shows.
pub fn guarded(kind: &'static str, caching: &'static str) -> [(HeaderName, HeaderValue); 5] {
    [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, caching),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER, "same-origin"),
    ]
    .map(|(name, value)| (name, HeaderValue::from_static(value)))
}

fn serve(asset: &Asset, kind: &'static str, is_immutable: bool, headers: &HeaderMap) -> Response {
    let caching = match is_immutable {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    let mut response = Response::new(Body::empty());
    let answer = response.headers_mut();
    answer.extend(guarded(kind, caching));
    answer.insert(header::ETAG, asset.etag.clone());
    answer.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if is_known(headers, &asset.etag) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    let (coding, bytes) = asset.coded(headers);
    if let Some(coding) = coding {
        answer.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    *response.body_mut() = Body::from(bytes);
    response
}

fn is_known(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    let known = headers
        .get(header::IF_NONE_MATCH)
        .and_then(|it| it.to_str().ok());
    let etag = etag.to_str().unwrap_or_default();
    let mut tags = known.into_iter().flat_map(|known| known.split(','));
    tags.any(|tag| tag.trim() == "*" || tag.trim().trim_start_matches("W/") == etag)
}

fn content_type(path: &str) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or_default();
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("json" | "map" | "webmanifest") => "application/json",
        Some("txt") => "text/plain; charset=utf-8",
        None | Some("html") => "text/html; charset=utf-8",
        Some(_) => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_say_what_is_in_them_never_change() {
        for name in ["/assets/index-BxH3f9_a.js", "/assets/a-b-0123abcd.css"] {
            assert!(is_hashed(name), "{name}");
        }
        for name in [
            "/index.html",
            "/favicon.svg",
            "/assets/logo.svg",
            "/assets/a-b.js",
        ] {
            assert!(!is_hashed(name), "{name}");
        }
    }
}
