//! The cookie of who signed in, and what has to come with it.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use super::problem::Problem;
use crate::app::App;
use crate::sessions::{LIFETIME_MICROS, Session};

const NAME: &str = "kurier_session";
const CSRF: HeaderName = HeaderName::from_static("x-csrf-token");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The token in the cookie, if there is one.
pub fn token(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter();
    let pairs = cookies.filter_map(|value| value.to_str().ok());
    let mut pairs = pairs.flat_map(|text| text.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(NAME)?.strip_prefix('='))
}

pub fn signed_out() -> Problem {
    let detail = "nobody is signed in, or not any more";
    Problem::new(StatusCode::UNAUTHORIZED, "signed_out", detail)
}

/// A page of somebody else can send the cookie, but cannot know this.
pub fn check_csrf(headers: &HeaderMap, session: &Session) -> Result<(), Problem> {
    let said = headers.get(CSRF).map(HeaderValue::as_bytes);
    if said.is_some_and(|said| is_same(said, session.csrf.as_bytes())) {
        return Ok(());
    }
    let detail = "X-CSRF-Token must hold what `csrf` of GET /api/v1/session says";
    Err(Problem::new(StatusCode::FORBIDDEN, "csrf", detail))
}

/// Takes as long wherever the first difference is.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    let differing = a.iter().zip(b).fold(0, |all, (a, b)| all | (a ^ b));
    a.len() == b.len() && differing == 0
}

/// Signing in comes from our own page or from a program, never from a page of somebody else.
pub fn check_origin(headers: &HeaderMap) -> Result<(), Problem> {
    let site = headers.get(FETCH_SITE).map(HeaderValue::as_bytes);
    let is_own = site.is_none_or(|site| [&b"same-origin"[..], b"none"].contains(&site));
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !is_own {
        let detail = "another site may not ask for this";
        return Err(Problem::new(StatusCode::FORBIDDEN, "csrf", detail));
    }
    if kind.split(';').next().map(str::trim) != Some("application/json") {
        let (status, detail) = (
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the content type must be application/json",
        );
        return Err(Problem::new(status, "bad_content_type", detail));
    }
    Ok(())
}

/// The header that sets the cookie, or with an empty token takes it away.
pub fn set(app: &App, headers: &HeaderMap, token: &str) -> HeaderValue {
    let seconds = match token {
        "" => 0,
        _ => LIFETIME_MICROS / 1_000_000,
    };
    let proto = headers.get(FORWARDED_PROTO).map(HeaderValue::as_bytes);
    let is_encrypted = proto == Some(b"https") || app.links.is_encrypted();
    let secure = if is_encrypted { "; Secure" } else { "" };
    let text = format!("{NAME}={token}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}");
    HeaderValue::from_str(&text).expect("a cookie of letters and digits is a header value")
}

/// Whether a request was addressed to this very machine: a name that was made to lead here is
/// somebody else's.
pub fn is_to_loopback(headers: &HeaderMap) -> bool {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let host = host.unwrap_or_default();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    ["localhost", "127.0.0.1", "[::1]"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name.clone(), HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn the_token_is_found_among_other_cookies() {
        let found = |value| token(&headers(&[(header::COOKIE, value)])).map(str::to_owned);
        assert_eq!(
            found("a=b; kurier_session=xyz; c=d").as_deref(),
            Some("xyz")
        );
        assert_eq!(found("kurier_session_old=xyz"), None);
        assert_eq!(found("xkurier_session=xyz"), None);
    }

    #[test]
    fn only_names_of_this_machine_are_loopback() {
        let is = |host| is_to_loopback(&headers(&[(header::HOST, host)]));
        for ours in [
            "localhost",
            "localhost:8787",
            "127.0.0.1:1",
            "[::1]:8787",
            "[::1]",
        ] {
            assert!(is(ours), "{ours}");
        }
        for other in ["example.com", "localhost.example.com:80", "10.0.0.1", ""] {
            assert!(!is(other), "{other}");
        }
    }

    #[test]
    fn equal_is_equal_in_full() {
        assert!(is_same(b"abc", b"abc"));
        for other in [&b"abd"[..], b"ab", b"abcd", b""] {
            assert!(!is_same(other, b"abc"));
        }
    }
}
