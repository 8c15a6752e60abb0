//! The answers of the API when something is wrong: one shape, and for each status the codes it can have.

use std::collections::BTreeSet;

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::super::problem_code;

/// The media type of every problem.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// Answers that many operations have in common, by the name of their component.
struct SharedAnswer {
    name: &'static str,
    status: u16,
    codes: &'static [&'static str],
    description: &'static str,
}

const SHARED: &[SharedAnswer] = &[
    SharedAnswer {
        name: "InvalidParameter",
        status: 400,
        codes: &["bad_parameter"],
        description: "A parameter is not valid, or not known",
    },
    SharedAnswer {
        name: "InvalidJson",
        status: 400,
        codes: &["bad_body", "bad_encoding", "bad_json"],
        description: "The body is not whole, not in its Content-Encoding, or not the JSON that is asked for",
    },
    SharedAnswer {
        name: "Unauthorized",
        status: 401,
        codes: &["signed_out", "unauthorized"],
        description: "The request has no valid API key, and nobody is signed in",
    },
    SharedAnswer {
        name: "KeyUnknown",
        status: 401,
        codes: &["unauthorized"],
        description: "The request has no valid API key",
    },
    SharedAnswer {
        name: "Forbidden",
        status: 403,
        codes: &["forbidden"],
        description: "The API key lacks the scope, or the user the role",
    },
    SharedAnswer {
        name: "ForbiddenChange",
        status: 403,
        codes: &["csrf", "forbidden"],
        description: "The API key lacks the scope, the user lacks the role, or X-CSRF-Token is missing or wrong",
    },
    SharedAnswer {
        name: "NotFound",
        status: 404,
        codes: &["not_found"],
        description: "There is nothing at this address",
    },
    SharedAnswer {
        name: "BodyTimeout",
        status: 408,
        codes: &["timeout"],
        description: "The body did not arrive in time",
    },
    SharedAnswer {
        name: "BodyTooLarge",
        status: 413,
        codes: &["too_large"],
        description: "The body is too large",
    },
    SharedAnswer {
        name: "UnknownEncoding",
        status: 415,
        codes: &["unknown_encoding"],
        description: "The Content-Encoding is not known; gzip, deflate, br and zstd are",
    },
    SharedAnswer {
        name: "InternalError",
        status: 500,
        codes: &["internal"],
        description: "The server has a fault; its log has the cause",
    },
    SharedAnswer {
        name: "Unavailable",
        status: 503,
        codes: &["unavailable"],
        description: "The server is too busy, or its database cannot be reached; Retry-After has the seconds to wait",
    },
];

/// `components.responses`.
pub fn shared_answers() -> Value {
    let answers = SHARED.iter().map(|it| {
        let codes = it.codes.iter().copied().collect();
        (
            it.name.to_owned(),
            problem(it.status, &codes, it.description),
        )
    });
    Value::Object(answers.collect())
}

/// The answer of a status with these codes: a shared one if it exists and the operation has no description of its own.
pub fn answer(status: u16, codes: &BTreeSet<&'static str>, description: &str) -> Value {
    let is_same = |it: &&SharedAnswer| {
        it.status == status && it.codes.iter().copied().eq(codes.iter().copied())
    };
    match SHARED.iter().find(is_same) {
        Some(shared) if description.is_empty() => {
            json!({"$ref": format!("#/components/responses/{}", shared.name)})
        }
        _ => problem(status, codes, description),
    }
}

fn problem(status: u16, codes: &BTreeSet<&'static str>, description: &str) -> Value {
    let own = json!({"properties": {"status": {"const": status}, "code": {"enum": codes}}});
    let schema = json!({"allOf": [{"$ref": "#/components/schemas/ProblemBody"}, own]});
    let description = match description {
        "" => title(status),
        text => text,
    };
    let content = json!({MEDIA_TYPE: {"schema": schema, "example": example(status, codes)}});
    let mut answer = json!({"description": description, "content": content});
    if [429, 503].contains(&status) {
        let seconds =
            json!({"description": "Seconds to wait", "schema": {"type": "integer", "minimum": 1}});
        answer["headers"] = json!({"Retry-After": seconds});
    }
    answer
}

fn example(status: u16, codes: &BTreeSet<&'static str>) -> Value {
    let code = codes.first().copied().unwrap_or("not_found");
    let detail = problem_code::meaning(code);
    json!({
        "type": format!("urn:kurier:problem:{code}"), "title": title(status), "status": status, "code": code,
        "detail": detail, "message": detail, "meta": {"error": detail},
    })
}

fn title(status: u16) -> &'static str {
    let status = StatusCode::from_u16(status).ok();
    status
        .and_then(|it| it.canonical_reason())
        .unwrap_or("Problem")
}
