//! Parameters in the path of an address. One that cannot be read names nothing: the answer is a problem like any other.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::problem::Problem;

pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        let unreadable = |_| {
            Problem::not_found("the address cannot be read: it has to be percent-encoded UTF-8")
        };
        path.map(|axum::extract::Path(parameters)| Self(parameters))
            .map_err(unreadable)
    }
}
