//! Who is asking. A key comes as the user of Basic, as Bearer, or (for ingest) in the query
//! or the body.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::problem::Problem;
use crate::app::App;
use crate::clock;
use crate::keyring::Grant;
use crate::operator;

/// The key in the Authorization header, if there is one.
pub fn from_headers(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(header::AUTHORIZATION) else {
        return Ok(None);
    };
    let refused = || {
        Problem::unauthorized("Authorization must be `Bearer KEY`, or Basic with the key as user")
    };
    let (scheme, rest) = value
        .to_str()
        .ok()
        .and_then(|text| text.split_once(' '))
        .ok_or_else(refused)?;
    match scheme.to_ascii_lowercase().as_str() {
        "bearer" => Ok(Some(rest.trim().to_owned())),
        "basic" => basic_user(rest.trim()).map(Some).ok_or_else(refused),
        _ => Err(refused()),
    }
}

fn basic_user(encoded: &str) -> Option<String> {
    let decoded = String::from_utf8(STANDARD.decode(encoded).ok()?).ok()?;
    let user = decoded
        .split_once(':')
        .map_or(decoded.as_str(), |(user, _)| user);
    Some(user.to_owned())
}

/// The grant behind a key.
pub async fn grant(app: &App, key: Option<&str>) -> Result<Arc<Grant>, Problem> {
    let missing =
        || Problem::unauthorized("an API key is needed: send it as `Authorization: Bearer KEY`");
    let key = key.filter(|key| !key.is_empty()).ok_or_else(missing)?;
    let found = app.keyring.find(key, clock::now()).await?;
    found.ok_or_else(|| {
        Problem::unauthorized("this API key is not known, has expired or was revoked")
    })
}

/// A request that may read.
pub struct Reader(pub Arc<Grant>);

/// A request that may change things.
pub struct Admin(pub Arc<Grant>);

impl FromRequestParts<Arc<App>> for Reader {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let grant = grant(app, from_headers(&parts.headers)?.as_deref()).await?;
        let scopes = grant.key.scopes;
        if scopes.read || scopes.admin {
            return Ok(Self(grant));
        }
        Err(Problem::forbidden(
            "this API key may not read: it lacks the scope `read`",
        ))
    }
}

impl FromRequestParts<Arc<App>> for Admin {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let grant = grant(app, from_headers(&parts.headers)?.as_deref()).await?;
        if grant.key.scopes.admin {
            operator::is(&grant.key.name);
            return Ok(Self(grant));
        }
        Err(Problem::forbidden(
            "this API key may not change anything: it lacks the scope `admin`",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(value: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(
            header::AUTHORIZATION,
            value.parse().expect("a header value"),
        );
        from_headers(&headers).ok().flatten()
    }

    #[test]
    fn keys_come_in_the_forms_that_clients_use() {
        assert_eq!(key("Basic V0s6").as_deref(), Some("WK"));
        assert_eq!(key("Basic V0s=").as_deref(), Some("WK"));
        assert_eq!(key("bearer WK").as_deref(), Some("WK"));
        assert_eq!(key("Digest WK"), None);
        assert_eq!(key("Basic ???"), None);
    }
}
