//! Every name that a problem can have. The pages have words of their own for each, in every
//! language: the list is part of the API's description, and the walk through the pages compares.

use std::borrow::Cow;

use serde::Serialize;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Each with the statuses it comes with, and a typical detail.
const CODES: &[(&str, &[u16], &str)] = &[
    ("bad_body", &[400], "the body ended too early"),
    ("bad_channel", &[422], "the settings are not valid"),
    ("bad_choice", &[422], "the choice of messages is not valid"),
    ("bad_contact", &[422], "the contact cannot be accepted"),
    (
        "bad_content_type",
        &[415],
        "the content type must be application/json",
    ),
    ("bad_cursor", &[400], "this cursor belongs to another list"),
    (
        "bad_definition",
        &[400, 422],
        "the definition cannot be read",
    ),
    ("bad_document", &[400], "the document is not text"),
    (
        "bad_encoding",
        &[400],
        "the body is not what its Content-Encoding says",
    ),
    ("bad_event", &[400], "the event cannot be accepted"),
    ("bad_filter", &[400], "the filter has no such value"),
    ("bad_hex", &[400], "the field is not hexadecimal text"),
    (
        "bad_idempotency_key",
        &[400],
        "the header Idempotency-Key is not valid",
    ),
    ("bad_json", &[400], "expected value at line 1 column 1"),
    ("bad_key", &[422], "the name or the scopes are not valid"),
    ("bad_members", &[422], "a contact is not known"),
    ("bad_message", &[422], "the message cannot be requested"),
    ("bad_parameter", &[400], "limit must be between 1 and 500"),
    ("bad_proof", &[422], "the proof does not hold"),
    ("bad_segment", &[422], "the expression is not valid"),
    (
        "bad_slack_workspace",
        &[422],
        "the Slack workspace is not valid",
    ),
    ("bad_source", &[400], "the name of the document is missing"),
    ("bad_standing", &[409], "the journey is not active"),
    ("bad_suppression", &[422], "the entry is not valid"),
    ("bad_template", &[422], "the document cannot be read"),
    ("bad_trigger", &[422], "the contact is not known"),
    ("bad_user", &[422], "the user cannot be accepted"),
    ("bad_version_id", &[400], "this is not the id of a version"),
    ("bundles_off", &[404], "this server keeps no bundles"),
    ("cannot_render", &[422], "the message cannot be rendered"),
    ("changed", &[409], "another change came first"),
    ("conflict", &[409], "this exists already"),
    (
        "csrf",
        &[403],
        "the header X-CSRF-Token is missing or wrong",
    ),
    (
        "dynamic_segment",
        &[409],
        "an expression decides who is a member",
    ),
    ("ended", &[409], "the run has ended already"),
    ("forbidden", &[403], "the API key lacks the scope `admin`"),
    ("gone", &[410], "the content was withdrawn"),
    (
        "idempotency_key_reused",
        &[422],
        "another request had this Idempotency-Key",
    ),
    ("internal", &[500], "the server has a fault"),
    ("last_owner", &[409], "no owner would be left"),
    (
        "method_not_allowed",
        &[405],
        "this method is not possible here",
    ),
    ("name_taken", &[409], "another journey has this name"),
    ("no_draft", &[409], "there is nothing to publish"),
    (
        "no_secret_key",
        &[409],
        "secrets cannot be sealed without a secret key",
    ),
    (
        "not_a_document",
        &[422],
        "only whole documents are withdrawn",
    ),
    ("not_found", &[404], "there is nothing at this address"),
    ("overtaken", &[409], "another change came first"),
    ("segment_in_use", &[409], "a journey uses the segment"),
    ("setup_required", &[401], "no user exists yet"),
    ("signed_out", &[401], "nobody is signed in"),
    ("timeout", &[408], "the body did not arrive within 15 s"),
    ("too_large", &[413], "the body is too large"),
    ("too_many", &[409], "there are as many as there may be"),
    ("too_many_attempts", &[429], "too many wrong passwords"),
    ("too_many_rows", &[400], "the list is too long for one call"),
    ("twice", &[422], "two documents have one key"),
    ("unauthorized", &[401], "an API key is needed"),
    (
        "unavailable",
        &[503],
        "the database cannot be reached right now",
    ),
    (
        "unknown_encoding",
        &[415],
        "this Content-Encoding is not known",
    ),
    (
        "wrong_password",
        &[401],
        "the address or the password is wrong",
    ),
];

/// One of them.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(transparent)]
pub struct ProblemCode(&'static str);

impl ProblemCode {
    /// Tests find a code that is not listed, or not with this status.
    pub fn new(code: &'static str, status: u16) -> Self {
        debug_assert!(
            listed(code, status).is_some(),
            "`{code}` with {status} is not among the CODES"
        );
        Self(code)
    }

    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

/// The code of this name, if it comes with this status.
pub fn listed(name: &str, status: u16) -> Option<&'static str> {
    let mut codes = CODES.iter();
    let found = codes.find(|(code, statuses, _)| *code == name && statuses.contains(&status));
    found.map(|(code, ..)| *code)
}

/// A detail as it comes with a code.
pub fn meaning(name: &str) -> &'static str {
    let found = CODES.iter().find(|(code, ..)| *code == name);
    found.map_or("", |(.., detail)| detail)
}

impl PartialSchema for ProblemCode {
    fn schema() -> RefOr<Schema> {
        let named = ObjectBuilder::new().schema_type(Type::String);
        let listed = named.enum_values(Some(CODES.iter().map(|(code, ..)| *code)));
        listed.examples(["not_found"]).build().into()
    }
}

impl ToSchema for ProblemCode {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("ProblemCode")
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use syn::visit::Visit;

    use super::*;

    /// What is said to be the code where a problem is made and it is written out.
    #[derive(Default)]
    struct Said(Vec<String>);

    impl<'ast> Visit<'ast> for Said {
        fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
            let place = match names(&call.func).as_slice() {
                [.., of, by] if of == "Problem" && by == "bad_request" => Some(0),
                [.., of, by] if of == "Problem" && by == "new" => Some(1),
                _ => None,
            };
            if let Some(syn::Expr::Lit(code)) = place.and_then(|place| call.args.get(place))
                && let syn::Lit::Str(code) = &code.lit
            {
                self.0.push(code.value());
            }
            syn::visit::visit_expr_call(self, call);
        }
    }

    fn names(called: &syn::Expr) -> Vec<syn::Ident> {
        let syn::Expr::Path(path) = called else {
            return Vec::new();
        };
        let segments = path.path.segments.iter();
        segments.map(|it| it.ident.clone()).collect()
    }

    /// The text of every other file of `http`.
    fn sources() -> Vec<String> {
        let http = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/http");
        let files = std::fs::read_dir(http).expect("the folder").flatten();
        let paths = files.map(|file| file.path());
        let others = paths.filter(|path| path.is_file() && !path.ends_with("problem_code.rs"));
        let read = |path| std::fs::read_to_string(path).expect("it can be read");
        others.map(read).collect()
    }

    /// One that is not listed has no words on the pages, and one that nothing says needs none.
    #[test]
    fn the_list_has_all_that_are_said_and_no_other() {
        let sources = sources();
        let mut said = Said::default();
        for text in &sources {
            if let Ok(file) = syn::parse_file(text) {
                said.visit_file(&file);
            }
        }
        assert!(said.0.len() > 80, "{}", said.0.len());
        let unlisted = said.0.iter().filter(|it| meaning(it).is_empty());
        assert_eq!(unlisted.collect::<Vec<_>>(), Vec::<&String>::new());
        let is_dead = |(code, ..): &&(&str, &[u16], &str)| {
            let quoted = format!("\"{code}\"");
            !sources.iter().any(|text| text.contains(&quoted))
        };
        let dead: Vec<_> = CODES.iter().filter(is_dead).collect();
        assert_eq!(dead, Vec::<&(&str, &[u16], &str)>::new());
    }

    /// The list in the reference is the list of the program.
    #[test]
    fn the_reference_has_every_code() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/api.md");
        let text = std::fs::read_to_string(file).expect("the reference");
        let written: Vec<&str> = text.lines().filter(|it| it.starts_with("| `")).collect();
        let row = |(code, statuses, detail): &(&str, &[u16], &str)| {
            let statuses: Vec<String> = statuses.iter().map(u16::to_string).collect();
            format!("| `{code}` | {} | {detail} |", statuses.join(", "))
        };
        let known: Vec<String> = CODES.iter().map(row).collect();
        assert_eq!(written, known);
    }
}
