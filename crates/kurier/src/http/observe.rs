//! Every request is counted and timed, under its route rather than its address.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use metrics::{Counter, Histogram};

use crate::metrics as names;
use crate::operator;

pub async fn observe(request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("unmatched", MatchedPath::as_str);
    watch(route, operator::within(next.run(request))).await
}

pub async fn watch(route: &str, answer: impl Future<Output = Response>) -> Response {
    let began = Instant::now();
    let response = answer.await;
    record(route, response.status(), began.elapsed());
    response
}

/// The names of a route's metrics are made once: ingest passes here for every event.
fn record(route: &str, status: StatusCode, took: Duration) {
    thread_local! {
        static ROUTES: RefCell<HashMap<(String, StatusCode), (Counter, Histogram)>> = RefCell::default();
    }
    ROUTES.with_borrow_mut(|routes| {
        // A lookup by borrowed parts would need a key type of its own; routes are few.
        let known = routes
            .iter()
            .find(|((name, code), _)| *code == status && name == route);
        let (counter, histogram) = match known {
            Some((_, metrics)) => metrics.clone(),
            None => {
                let labels = [
                    ("route", route.to_owned()),
                    ("status", status.as_u16().to_string()),
                ];
                let counter = metrics::counter!(names::REQUESTS, &labels);
                let histogram =
                    metrics::histogram!(names::REQUEST_SECONDS, "route" => route.to_owned());
                let metrics = (counter, histogram);
                routes.insert((route.to_owned(), status), metrics.clone());
                metrics
            }
        };
        counter.increment(1);
        histogram.record(took);
    });
}
