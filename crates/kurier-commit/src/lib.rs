//! Names the commit that a program is built from. A macro, not a build script: after a build script has run,
//! Cargo compiles the whole package again, and each commit would cost minutes. The macro runs where it is used,
//! in the small `main.rs`, and what it read is a dependency of that file alone.

mod checkout;

use std::path::Path;

use proc_macro::TokenStream;

/// The commit and its day, such as `"a1b2c3d4 2026-11-19"`: the variable `KURIER_COMMIT` at build time, else the
/// commit that is checked out, else `"unknown"`.
#[proc_macro]
pub fn commit(input: TokenStream) -> TokenStream {
    assert!(input.is_empty(), "commit!() takes nothing");
    // Cargo names the package that is compiled; its repository is two folders above.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").expect("Cargo names the package's folder");
    let checkout = Path::new(&package)
        .ancestors()
        .nth(2)
        .map(checkout::read)
        .unwrap_or_default();
    let given = std::env::var("KURIER_COMMIT").ok();
    let given = given.filter(|text| !text.trim().is_empty());
    let commit = given.or(checkout.commit);
    expand(
        commit.as_deref().unwrap_or("unknown").trim(),
        &checkout.files,
    )
}

/// A text, with the files and the variable it was made from named in a way that the compiler takes down: when one of
/// them changes, Cargo compiles again what used the macro.
fn expand(commit: &str, files: &[std::path::PathBuf]) -> TokenStream {
    let files = files.iter().filter_map(|file| file.to_str());
    let watched: String = files
        .map(|file| format!("const _: &[u8] = ::core::include_bytes!({file:?});"))
        .collect();
    let variable = "const _: Option<&str> = ::core::option_env!(\"KURIER_COMMIT\");";
    let code = format!("{{ {watched} {variable} {commit:?} }}");
    code.parse().expect("Rust")
}
