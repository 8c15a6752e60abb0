//! Every name that a problem can have. The pages have words of their own for each, in every
//! language: the list is part of the API's description, and the walk through the pages compares.

use std::borrow::Cow;

use serde::Serialize;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

const CODES: &[&str] = &[
    "bad_body",
    "bad_channel",
    "bad_choice",
    "bad_contact",
    "bad_content_type",
    "bad_cursor",
    "bad_definition",
    "bad_document",
    "bad_encoding",
    "bad_event",
    "bad_filter",
    "bad_hex",
    "bad_idempotency_key",
    "bad_json",
    "bad_key",
    "bad_members",
    "bad_message",
    "bad_parameter",
    "bad_proof",
    "bad_segment",
    "bad_slack_workspace",
    "bad_source",
    "bad_standing",
    "bad_suppression",
    "bad_template",
    "bad_trigger",
    "bad_user",
    "bad_version_id",
    "bundles_off",
    "cannot_render",
    "changed",
    "conflict",
    "csrf",
    "dynamic_segment",
    "ended",
    "forbidden",
    "gone",
    "idempotency_key_reused",
    "last_owner",
    "method_not_allowed",
    "name_taken",
    "no_draft",
    "no_secret_key",
    "not_a_document",
    "not_found",
    "overtaken",
    "segment_in_use",
    "setup_required",
    "signed_out",
    "timeout",
    "too_large",
    "too_many",
    "too_many_attempts",
    "too_many_rows",
    "twice",
    "unauthorized",
    "unavailable",
    "unknown_encoding",
    "wrong_password",
];

/// One of them.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(transparent)]
pub struct ProblemCode(&'static str);

impl ProblemCode {
    /// The tests run where a code that is not listed is found out.
    pub fn new(code: &'static str) -> Self {
        debug_assert!(CODES.contains(&code), "`{code}` is not among the CODES");
        Self(code)
    }

    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl PartialSchema for ProblemCode {
    fn schema() -> RefOr<Schema> {
        let named = ObjectBuilder::new().schema_type(Type::String);
        let listed = named.enum_values(Some(CODES.iter().copied()));
        listed.examples(["not_found"]).build().into()
    }
}

impl ToSchema for ProblemCode {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("ProblemCode")
    }
}
