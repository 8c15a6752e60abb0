//! Whatever is printed goes through the one writer that does not panic when its reader has gone.

use super::{assert_none, is_test, mentions, sources, without_tests};

const MACROS: &[&str] = &["print!", "println!", "eprint!", "eprintln!"];
const WRITER: &str = "crates/kurier/src/cli/output.rs";
/// Commands, where the macros are those of the writer.
const COMMANDS: &str = "crates/kurier/src/cli/";

#[test]
fn what_is_printed_goes_through_one_writer() {
    let sources = sources(".rs").into_iter();
    let program = sources.filter(|(path, _)| {
        let is_source = path.starts_with("crates/") && path.contains("/src/");
        is_source && !is_test(path) && path != WRITER
    });
    let mut faults = Vec::new();
    for (path, text) in program {
        let code = without_tests(&text);
        let is_command = path.starts_with(COMMANDS);
        let banned = MACROS.iter().flat_map(|name| {
            let of_std = format!("std::{name}");
            [Some(of_std), (!is_command).then(|| (*name).to_owned())]
        });
        let others =
            ["stdout()", "io::stdout()", "std::io::stdout()"].map(|it| Some(it.to_owned()));
        let banned = banned.chain(others).flatten();
        let found = banned.filter(|word| mentions(&code, word));
        faults.extend(found.map(|word| format!("{path}: {word}")));
    }
    assert_none(
        faults,
        "cli/output.rs writes to standard output, and its macros do",
    );
}
