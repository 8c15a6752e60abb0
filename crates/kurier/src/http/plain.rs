//! Plain requests: events that have come whole, in the way that SDKs send them. They are read
//! without what a request may be besides: no map of headers, no stream of a body, no deadline
//! of its own. Whatever is unusual about a request is not for here but for hyper, which knows
//! all of HTTP; when in doubt a request is unusual.

use super::ingest::Straight;

/// More headers than any SDK sends.
const HEADERS_MAX: usize = 32;

/// A request in a buffer.
#[derive(Debug)]
pub struct Plain<'a> {
    pub straight: Straight,
    pub authorization: Option<&'a str>,
    pub body: &'a [u8],
    /// What follows is the next request.
    pub bytes: usize,
}

/// What of a head there is to know.
#[derive(Default)]
struct Head<'a> {
    authorization: Option<&'a str>,
    content_length: Option<usize>,
}

impl<'a> Plain<'a> {
    /// The request that the buffer begins with, if all of it is there and it is a plain one.
    pub fn of(buffer: &'a [u8]) -> Option<Self> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut request = httparse::Request::new(&mut headers);
        let httparse::Status::Complete(from) = request.parse(buffer).ok()? else {
            return None;
        };
        let straight = straight(&request)?;
        let head = Head::of(request.headers)?;
        let to = from.checked_add(head.content_length?)?;
        Some(Self {
            straight,
            authorization: head.authorization,
            body: buffer.get(from..to)?,
            bytes: to,
        })
    }
}

fn straight(request: &httparse::Request<'_, '_>) -> Option<Straight> {
    let is_plain = request.method == Some("POST") && request.version == Some(1);
    Straight::of(request.path.filter(|_| is_plain)?)
}

impl<'a> Head<'a> {
    fn of(headers: &[httparse::Header<'a>]) -> Option<Self> {
        let mut head = Self::default();
        for header in headers {
            head.read(header.name, header.value)?;
        }
        Some(head)
    }

    /// Nothing if the header asks for something unusual, or has come twice.
    fn read(&mut self, name: &str, value: &'a [u8]) -> Option<()> {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        match name.len() {
            13 if is("authorization") => once(&mut self.authorization, text(value)?),
            14 if is("content-length") => once(&mut self.content_length, length(value)?),
            10 if is("connection") => value.eq_ignore_ascii_case(b"keep-alive").then_some(()),
            6 if is("expect") => None,
            7 if is("upgrade") => None,
            16 if is("content-encoding") => None,
            17 if is("transfer-encoding") => None,
            _ => Some(()),
        }
    }
}

fn once<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.replace(value).is_none().then_some(())
}

fn text(value: &[u8]) -> Option<&str> {
    std::str::from_utf8(value).ok()
}

/// Digits alone: what others take for a number is not looked at here.
fn length(value: &[u8]) -> Option<usize> {
    let is_digits = value.iter().all(u8::is_ascii_digit);
    text(value).filter(|_| is_digits)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(line: &str, headers: &[&str], body: &str) -> Vec<u8> {
        let headers = headers.iter().map(|header| format!("{header}\r\n"));
        let headers: String = headers.collect();
        format!("{line}\r\n{headers}\r\n{body}").into_bytes()
    }

    const TRACK: &str = "POST /v1/track HTTP/1.1";

    #[test]
    fn what_sdks_send_is_plain_once_it_is_whole() {
        let head = [
            "Host: kurier",
            "AUTHORIZATION: Basic V0s6",
            "Content-Length: 2",
            "Connection: keep-alive",
        ];
        let bytes = request(TRACK, &head, "{}POST");
        let plain = Plain::of(&bytes).expect("plain");
        assert_eq!(plain.authorization, Some("Basic V0s6"));
        assert_eq!(plain.body, b"{}");
        assert_eq!(&bytes[plain.bytes..], b"POST");
        for whole in 0..plain.bytes {
            assert!(Plain::of(&bytes[..whole]).is_none(), "{whole}");
        }
    }

    #[test]
    fn what_is_unusual_is_for_hyper() {
        let cases: [(&str, &[&str]); 15] = [
            (TRACK, &[]),
            (TRACK, &["content-length: +2"]),
            (TRACK, &["content-length: 2, 2"]),
            (TRACK, &["content-length: "]),
            (TRACK, &["content-length: 2", "content-length: 2"]),
            (TRACK, &["content-length: 99999999999999999999"]),
            (TRACK, &["content-length: 18446744073709551615"]),
            (TRACK, &["content-length: 2", "Transfer-Encoding: chunked"]),
            (TRACK, &["content-length: 2", "content-encoding: gzip"]),
            (TRACK, &["content-length: 2", "expect: 100-continue"]),
            (TRACK, &["content-length: 2", "connection: close"]),
            (TRACK, &["content-length: 2", "upgrade: h2c"]),
            ("POST /v1/track HTTP/1.0", &["content-length: 2"]),
            ("GET /v1/track HTTP/1.1", &["content-length: 2"]),
            (
                "POST /v1/track?writeKey=WK HTTP/1.1",
                &["content-length: 2"],
            ),
        ];
        assert!(Plain::of(&request(TRACK, &["content-length: 2"], "{}")).is_some());
        for (line, headers) in cases {
            let bytes = request(line, headers, "{}");
            assert!(Plain::of(&bytes).is_none(), "{line} {headers:?}");
        }
    }

    #[test]
    fn more_headers_than_usual_are_for_hyper() {
        let mut headers = vec!["x: y"; HEADERS_MAX];
        headers[0] = "content-length: 2";
        assert!(Plain::of(&request(TRACK, &headers, "{}")).is_some());
        headers.push("x: y");
        assert!(Plain::of(&request(TRACK, &headers, "{}")).is_none());
    }
}
