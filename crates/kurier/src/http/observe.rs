//! Every request is counted and timed, under its route rather than its address.

use std::cell::RefCell;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use metrics::{Counter, Histogram};

use super::problem::Problem;
use crate::metrics as names;
use crate::operator;

pub async fn observe(request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("unmatched", MatchedPath::as_str);
    watch(route, whole(operator::within(next.run(request)))).await
}

/// A handler that panics is answered as well, and logged.
async fn whole(answer: impl Future<Output = Response>) -> Response {
    let answered = AssertUnwindSafe(answer).catch_unwind().await;
    answered.unwrap_or_else(|panic| {
        let panic = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or(panic.downcast_ref::<&str>().copied());
        tracing::error!(
            panic = panic.unwrap_or("without a text"),
            "a request failed by a fault of this program"
        );
        Problem::internal().into_response()
    })
}

pub async fn watch(route: &str, answer: impl Future<Output = Response>) -> Response {
    let began = Instant::now();
    let response = answer.await;
    record(route, response.status(), began.elapsed());
    response
}

/// What a route's answers of one status are counted by.
struct Seen {
    route: String,
    status: StatusCode,
    counter: Counter,
    histogram: Histogram,
}

impl Seen {
    fn of(route: &str, status: StatusCode) -> Self {
        let labels = [
            ("route", route.to_owned()),
            ("status", status.as_u16().to_string()),
        ];
        Self {
            counter: metrics::counter!(names::REQUESTS, &labels),
            histogram: metrics::histogram!(names::REQUEST_SECONDS, "route" => route.to_owned()),
            route: route.to_owned(),
            status,
        }
    }
}

/// The names of a route's metrics are made once: ingest passes here for every event.
pub fn record(route: &str, status: StatusCode, took: Duration) {
    thread_local! {
        static SEEN: RefCell<Vec<Seen>> = const { RefCell::new(Vec::new()) };
    }
    SEEN.with_borrow_mut(|seen| {
        // Routes are few.
        let known = seen
            .iter()
            .position(|it| it.status == status && it.route == route);
        let at = known.unwrap_or_else(|| {
            seen.push(Seen::of(route, status));
            seen.len() - 1
        });
        seen[at].counter.increment(1);
        seen[at].histogram.record(took);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it the connection would end without an answer.
    #[tokio::test]
    async fn a_panic_is_answered_as_a_fault_of_the_server() {
        let answer = whole(async { panic!("the cause") }).await;
        assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(answer.headers()["content-type"], "application/problem+json");
    }
}
