//! Answers to plain requests, as bytes. Nearly all are the same but for the date.

use std::cell::Cell;
use std::io::Write as _;

use axum::body::to_bytes;
use axum::http::StatusCode;
use axum::response::Response;

use super::ingest::{Accepted, shown_to_all};
use super::problem::Problem;
use crate::clock;

const DATE: &str = "%a, %d %b %Y %H:%M:%S GMT";
const DATE_BYTES: usize = "Sun, 06 Nov 1994 08:49:37 GMT".len();

/// Room for an answer, used again and again.
#[derive(Default)]
pub struct Answer(Vec<u8>);

impl Answer {
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Writes what became of a request, and its status.
    pub async fn write(
        &mut self,
        accepted: Result<Accepted, Problem>,
        is_last: bool,
    ) -> StatusCode {
        self.0.clear();
        match accepted {
            Ok(accepted) if accepted.is_all() => self.write_accepted(is_last),
            other => self.write_response(shown_to_all(other), is_last).await,
        }
    }

    fn write_accepted(&mut self, is_last: bool) -> StatusCode {
        self.0.extend_from_slice(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
              access-control-allow-origin: *\r\ncontent-length: 16\r\n",
        );
        self.end_head(is_last);
        self.0.extend_from_slice(Accepted::ALL.as_bytes());
        StatusCode::OK
    }

    async fn write_response(&mut self, response: Response, is_last: bool) -> StatusCode {
        let (head, body) = response.into_parts();
        // It was made in memory: reading it cannot fail.
        let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
        let reason = head.status.canonical_reason().unwrap_or_default();
        self.put(format_args!(
            "HTTP/1.1 {} {reason}\r\n",
            head.status.as_u16()
        ));
        for (name, value) in &head.headers {
            self.put(format_args!("{name}: "));
            self.0.extend_from_slice(value.as_bytes());
            self.0.extend_from_slice(b"\r\n");
        }
        self.put(format_args!("content-length: {}\r\n", body.len()));
        self.end_head(is_last);
        self.0.extend_from_slice(&body);
        head.status
    }

    fn end_head(&mut self, is_last: bool) {
        if is_last {
            self.0.extend_from_slice(b"connection: close\r\n");
        }
        self.0.extend_from_slice(b"date: ");
        self.0.extend_from_slice(&date());
        self.0.extend_from_slice(b"\r\n\r\n");
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        self.0
            .write_fmt(text)
            .expect("writing to a Vec cannot fail");
    }
}

/// Written anew when the second is another.
fn date() -> [u8; DATE_BYTES] {
    thread_local! {
        static LAST: Cell<(i64, [u8; DATE_BYTES])> = const { Cell::new((i64::MIN, [b' '; DATE_BYTES])) };
    }
    let now = clock::now();
    let second = now.as_millis().div_euclid(1_000);
    let (last, mut text) = LAST.get();
    if last != second {
        let formatted = now.formatted(DATE, 0).unwrap_or_default();
        text = formatted.into_bytes().try_into().unwrap_or(text);
        LAST.set((second, text));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn written(accepted: Result<Accepted, Problem>, is_last: bool) -> (StatusCode, String) {
        let mut answer = Answer(b"an older one".to_vec());
        let status = answer.write(accepted, is_last).await;
        (status, String::from_utf8(answer.0).expect("text"))
    }

    #[tokio::test]
    async fn the_usual_answer_is_the_one_that_would_have_been_made() {
        let (status, usual) = written(Ok(Accepted::default()), false).await;
        let mut made = Answer::default();
        let response = shown_to_all(Ok(Accepted::default()));
        assert_eq!(made.write_response(response, false).await, status);
        let without_date = |text: &str| {
            let lines = text.lines().filter(|line| !line.starts_with("date: "));
            let mut lines: Vec<String> = lines.map(str::to_owned).collect();
            lines.sort_unstable();
            lines
        };
        let made = std::str::from_utf8(made.bytes()).expect("text");
        assert_eq!(without_date(&usual), without_date(made));
        assert!(!usual.contains("connection: close"));
    }

    #[tokio::test]
    async fn a_problem_says_all_it_has_to_and_the_last_answer_that_it_is_the_last() {
        let (status, text) = written(Err(Problem::busy("later")), true).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
        assert!(
            head.starts_with("HTTP/1.1 503 Service Unavailable\r\n"),
            "{head}"
        );
        for line in [
            "content-type: application/problem+json",
            "retry-after: 1",
            "access-control-allow-origin: *",
            "connection: close",
            &format!("content-length: {}", body.len()),
        ] {
            assert!(head.lines().any(|it| it == line), "{line} in {head}");
        }
    }

    #[test]
    fn the_date_is_now() {
        let text = String::from_utf8(date().to_vec()).expect("text");
        let now = clock::now();
        let (before, after) = (now.shifted(-1_000_000), now);
        let near = [before, after].map(|at| at.formatted(DATE, 0).expect("a date"));
        assert!(near.contains(&text), "{text}");
    }
}
