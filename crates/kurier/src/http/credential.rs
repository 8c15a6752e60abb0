//! Who is asking. A key comes as the user of Basic, as Bearer, or (for ingest) in the query
//! or the body; who signed in comes with a cookie.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use kurier_core::time::Timestamp;

use super::cookie;
use super::problem::Problem;
use crate::app::App;
use crate::clock;
use crate::keyring::{Grant, Shown};
use crate::operator;

/// The key in the Authorization header, if there is one.
pub fn from_headers(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(header::AUTHORIZATION) else {
        return Ok(None);
    };
    from_authorization(value.to_str().unwrap_or_default()).map(Some)
}

/// The key in an Authorization header.
pub fn from_authorization(value: &str) -> Result<String, Problem> {
    let refused = || {
        Problem::unauthorized("Authorization must be `Bearer KEY`, or Basic with the key as user")
    };
    let (scheme, rest) = value.split_once(' ').ok_or_else(refused)?;
    let is = |other: &str| scheme.eq_ignore_ascii_case(other);
    match rest.trim() {
        key if is("bearer") => Ok(key.to_owned()),
        encoded if is("basic") => basic_user(encoded).ok_or_else(refused),
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

/// The grant behind what a connection shows with each request.
pub async fn shown(app: &App, shown: &mut Shown, value: &str) -> Result<Arc<Grant>, Problem> {
    let now = clock::now();
    if let Some(grant) = app.keyring.known(shown, value, now) {
        return Ok(grant);
    }
    let forgotten = app.keyring.forgotten();
    let grant = grant(app, Some(&from_authorization(value)?)).await?;
    shown.remember(value, grant.clone(), now, forgotten);
    Ok(grant)
}

/// The grant of a request: of its key if it has one, else of its cookie. A browser sends the
/// cookie whoever made it ask, hence what else is asked for with it.
async fn of_request(parts: &Parts, app: &App) -> Result<(Arc<Grant>, Pass), Problem> {
    if let Some(key) = from_headers(&parts.headers)? {
        return Ok((grant(app, Some(&key)).await?, Pass::Key(key)));
    }
    let Some(token) = cookie::token(&parts.headers) else {
        return Ok((grant(app, None).await?, Pass::Key(String::new())));
    };
    let session = app.sessions.find(token, clock::now()).await?;
    let session = session.ok_or_else(cookie::signed_out)?;
    if !parts.method.is_safe() {
        cookie::check_csrf(&parts.headers, &session)?;
    }
    Ok((session.grant.clone(), Pass::Token(token.to_owned())))
}

/// What a request came in with. One that lasts asks again and again whether it still holds.
pub enum Pass {
    Key(String),
    Token(String),
}

impl Pass {
    pub async fn holds(&self, app: &App, now: Timestamp) -> kurier_store::Result<bool> {
        match self {
            Self::Key(key) => Ok(app.keyring.find(key, now).await?.is_some()),
            Self::Token(token) => Ok(app.sessions.find(token, now).await?.is_some()),
        }
    }
}

/// A request that may read, for as long as its pass holds.
pub struct Listener {
    pub grant: Arc<Grant>,
    pub pass: Pass,
}

impl FromRequestParts<Arc<App>> for Listener {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let (grant, pass) = of_request(parts, app).await?;
        if grant.scopes.read || grant.scopes.admin {
            return Ok(Self { grant, pass });
        }
        Err(Problem::forbidden(
            "this API key may not read: it lacks the scope `read`",
        ))
    }
}

/// A request that may read.
pub struct Reader(pub Arc<Grant>);

/// A request that may change things.
pub struct Admin(pub Arc<Grant>);

/// A request that may change users, keys and settings, and erase contacts.
pub struct Owner(pub Arc<Grant>);

impl FromRequestParts<Arc<App>> for Reader {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let listener = Listener::from_request_parts(parts, app).await?;
        Ok(Self(listener.grant))
    }
}

impl FromRequestParts<Arc<App>> for Admin {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let (grant, _) = of_request(parts, app).await?;
        if grant.scopes.admin {
            operator::is(&grant.operator);
            return Ok(Self(grant));
        }
        Err(Problem::forbidden(
            "this may not change anything: a key lacks the scope `admin`, a user the role `editor`",
        ))
    }
}

impl FromRequestParts<Arc<App>> for Owner {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let Admin(grant) = Admin::from_request_parts(parts, app).await?;
        if grant.governs {
            return Ok(Self(grant));
        }
        Err(Problem::forbidden("only an owner may do this"))
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
