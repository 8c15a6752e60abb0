//! Every request is counted and timed, under its route rather than its address.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;

use crate::metrics as names;

pub async fn observe(request: Request, next: Next) -> Response {
    let began = Instant::now();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map(MatchedPath::as_str);
    let route = route.unwrap_or("unmatched").to_owned();
    let response = next.run(request).await;
    let status = response.status().as_u16().to_string();
    metrics::counter!(names::REQUESTS, "route" => route.clone(), "status" => status).increment(1);
    metrics::histogram!(names::REQUEST_SECONDS, "route" => route).record(began.elapsed());
    response
}
