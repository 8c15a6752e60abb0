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
        let unlisted = said.0.iter().filter(|it| !CODES.contains(&it.as_str()));
        assert_eq!(unlisted.collect::<Vec<_>>(), Vec::<&String>::new());
        let is_dead = |code: &&&str| {
            let quoted = format!("\"{code}\"");
            !sources.iter().any(|text| text.contains(&quoted))
        };
        let dead: Vec<_> = CODES.iter().filter(is_dead).collect();
        assert_eq!(dead, Vec::<&&str>::new());
    }
}
