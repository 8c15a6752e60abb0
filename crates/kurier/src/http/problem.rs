//! What is answered when something is wrong: RFC 9457, with the fields that the event SDKs
//! look for beside it. A 5xx never carries its cause; that is in the server's log.

use axum::Json;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::expressions::ExpressionFault;
use super::journey_view::FaultView;
use super::problem_code::ProblemCode;

#[derive(Debug)]
pub struct Problem {
    status: StatusCode,
    code: ProblemCode,
    detail: String,
    details: Box<Details>,
    retry_after_s: Option<u32>,
}

/// Everything that is wrong, and where. Most problems have no such list.
#[derive(Debug, Default, Serialize, ToSchema)]
struct Details {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Fault>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    expression_errors: Vec<ExpressionFault>,
    /// What is wrong with a journey's definition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    faults: Vec<FaultView>,
    /// Of one who is not signed in: whether this is a demo.
    #[serde(skip_serializing_if = "Option::is_none")]
    demo: Option<bool>,
}

/// One thing that is wrong, and where.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Fault {
    /// A JSON pointer into the body.
    #[schema(example = "/batch/0/userId")]
    pub pointer: String,
    #[schema(example = "a contact needs a userId or an anonymousId")]
    pub detail: String,
}

impl From<kurier_core::accept::Problem> for Fault {
    fn from(problem: kurier_core::accept::Problem) -> Self {
        Self {
            pointer: problem.pointer,
            detail: problem.detail,
        }
    }
}

/// A problem as RFC 9457 describes it. `code`, `message` and `meta.error` say the same for
/// clients that read other fields.
#[derive(Serialize, ToSchema)]
pub struct ProblemBody {
    #[schema(example = "urn:kurier:problem:not_found")]
    r#type: String,
    #[schema(example = "Not Found")]
    title: &'static str,
    status: u16,
    #[schema(example = "there is no such contact")]
    detail: String,
    code: ProblemCode,
    #[schema(example = "there is no such contact")]
    message: String,
    meta: Meta,
    #[serde(flatten)]
    details: Box<Details>,
}

#[derive(Serialize, ToSchema)]
struct Meta {
    #[schema(example = "the contact cannot be accepted")]
    error: String,
}

impl Problem {
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self {
            status,
            code: ProblemCode::new(code, status.as_u16()),
            detail: detail.into(),
            details: Box::default(),
            retry_after_s: None,
        }
    }

    pub fn bad_request(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, detail)
    }

    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", detail)
    }

    pub fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", detail)
    }

    pub fn too_large(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
    }

    pub fn unauthorized(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
    }

    pub fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", detail)
    }

    /// Too much is going on; the same request is welcome a moment later.
    pub fn busy(detail: impl Into<String>) -> Self {
        let problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail);
        Self {
            retry_after_s: Some(1),
            ..problem
        }
    }

    /// A fault of this program; its cause is in the log.
    pub fn internal() -> Self {
        let detail = "the server has a fault; its log has the cause";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
    }

    /// Somebody guesses; so many seconds later they may try again.
    pub fn too_often(seconds: u32) -> Self {
        let detail = format!("too many wrong passwords; try again in {seconds} s");
        let status = StatusCode::TOO_MANY_REQUESTS;
        Self {
            retry_after_s: Some(seconds),
            ..Self::new(status, "too_many_attempts", detail)
        }
    }

    #[must_use]
    pub fn of_demo(mut self, demo: bool) -> Self {
        self.details.demo = Some(demo);
        self
    }

    /// The faults of an expression, with their places in its text.
    #[must_use]
    pub fn with_expression(mut self, expression_errors: Vec<ExpressionFault>) -> Self {
        self.details.expression_errors = expression_errors;
        self
    }

    /// The faults of a journey's definition, with their places in it.
    #[must_use]
    pub fn with_faults(mut self, faults: Vec<FaultView>) -> Self {
        self.details.faults = faults;
        self
    }

    #[must_use]
    pub fn with(mut self, errors: Vec<Fault>) -> Self {
        self.details.errors = errors;
        self
    }
}

impl From<kurier_store::Error> for Problem {
    fn from(error: kurier_store::Error) -> Self {
        tracing::error!(%error, "the store failed");
        let problem = Self::busy("the store cannot be reached right now; nothing was changed");
        Self {
            retry_after_s: Some(5),
            ..problem
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = ProblemBody {
            r#type: format!("urn:kurier:problem:{}", self.code.as_str()),
            title: self.status.canonical_reason().unwrap_or("Problem"),
            status: self.status.as_u16(),
            message: self.detail.clone(),
            meta: Meta {
                error: self.detail.clone(),
            },
            detail: self.detail,
            code: self.code,
            details: self.details,
        };
        let mut response = (self.status, Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        if let Some(seconds) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

pub async fn no_such_route(uri: Uri) -> Problem {
    Problem::not_found(format!(
        "there is nothing at {}; /docs lists what there is",
        uri.path()
    ))
}

pub async fn no_such_method(method: Method, uri: Uri) -> Problem {
    let detail = format!(
        "{method} is not possible at {}; /docs says what is",
        uri.path()
    );
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail)
}
