//! House rules that a compiler does not check, as tests. They run on the sources, so that
//! what they say is true of every commit.

mod links;
mod output;
mod packages;

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::Visit;

const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 400;
const FILE_BYTES_MAX: u64 = 512 * 1024;

fn root() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("crates/");
    crates.parent().expect("the repository").to_owned()
}

/// Every file that git knows or would take, by its path from the root.
fn listed() -> String {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git lists the files");
    String::from_utf8(listed.stdout).expect("paths are UTF-8")
}

/// The files of one ending.
fn sources(ending: &str) -> Vec<(String, String)> {
    let listed = listed();
    let paths = listed.lines().filter(|path| path.ends_with(ending));
    let read = |path: &str| {
        fs::read_to_string(root().join(path))
            .ok()
            .map(|text| (path.to_owned(), text))
    };
    let found: Vec<_> = paths.filter_map(read).collect();
    assert!(
        !found.is_empty(),
        "no {ending} files: is this a git checkout?"
    );
    found
}

#[track_caller]
fn assert_none(faults: Vec<String>, rule: &str) {
    assert!(faults.is_empty(), "{rule}:\n  {}", faults.join("\n  "));
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs") || path.contains("/benches/")
}

/// The lines that are not of items for tests alone, wherever those stand.
fn without_tests(text: &str) -> String {
    let tokens: TokenStream = text.parse().expect("Rust");
    let mut tests = Vec::new();
    find_tests(tokens, &mut tests);
    let is_code = |line: usize| !tests.iter().any(|test| test.contains(&line));
    let lines = text.lines().enumerate();
    let code = lines.filter_map(|(at, line)| is_code(at + 1).then_some(line));
    code.collect::<Vec<_>>().join("\n")
}

/// An item ends with its block or with a semicolon.
fn find_tests(tokens: TokenStream, found: &mut Vec<RangeInclusive<usize>>) {
    let mut begins = None;
    let mut before = None;
    for token in tokens {
        let span = token.span();
        let is_end = match &token {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            TokenTree::Punct(punct) => punct.as_char() == ';',
            _ => false,
        };
        match (&token, begins) {
            (TokenTree::Group(group), None) if is_cfg_test(group) => begins = before,
            (TokenTree::Group(group), None) => find_tests(group.stream(), found),
            (_, Some(first)) if is_end => {
                found.push(first..=span.end().line);
                begins = None;
            }
            _ => {}
        }
        before = Some(span.start().line);
    }
}

fn is_cfg_test(group: &Group) -> bool {
    group.delimiter() == Delimiter::Bracket
        && group.stream().to_string().replace(' ', "") == "cfg(test)"
}

#[test]
fn items_for_tests_are_left_out_and_nothing_else() {
    let text = "use a;\n#[cfg(test)]\nmod tests;\nfn b() {\n    c;\n}\n\
                #[cfg(test)]\n#[expect(d)]\nmod tests {\n    mod e { f; }\n}\n\
                impl G {\n    #[cfg(test)]\n    fn h() {\n        i;\n    }\n    fn j() {}\n}";
    let code = "use a;\nfn b() {\n    c;\n}\nimpl G {\n    fn j() {}\n}";
    assert_eq!(without_tests(text), code);
}

/// Functions and their lengths, test modules included: tests are read too.
struct Functions(Vec<(String, usize)>);

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.add(&item.sig, item.block.span());
        syn::visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add(&item.sig, item.block.span());
        syn::visit::visit_impl_item_fn(self, item);
    }
}

impl Functions {
    fn add(&mut self, signature: &syn::Signature, body: proc_macro2::Span) {
        let lines = body.end().line + 1 - signature.span().start().line;
        self.0.push((signature.ident.to_string(), lines));
    }
}

#[test]
fn functions_are_short() {
    let mut faults = Vec::new();
    for (path, text) in sources(".rs") {
        let file = syn::parse_file(&text).unwrap_or_else(|e| panic!("{path}: {e}"));
        let mut functions = Functions(Vec::new());
        functions.visit_file(&file);
        let long = functions
            .0
            .iter()
            .filter(|(_, lines)| *lines > FUNCTION_LINES_MAX);
        faults.extend(long.map(|(name, lines)| format!("{path}: {name} has {lines} lines")));
    }
    assert_none(faults, "a function has at most 70 lines");
}

#[test]
fn files_are_short() {
    let mut faults = Vec::new();
    for (path, text) in sources(".rs") {
        let lines = without_tests(&text).lines().count();
        if lines > FILE_LINES_MAX {
            faults.push(format!("{path} has {lines} lines"));
        }
    }
    assert_none(faults, "a file has at most 400 lines without its tests");
}

/// A dump or a database that was committed by mistake stays in every clone for ever.
#[test]
fn files_are_small() {
    let listed = listed();
    let size = |path: &str| fs::metadata(root().join(path)).map_or(0, |file| file.len());
    let large = listed.lines().filter(|path| size(path) > FILE_BYTES_MAX);
    let faults = large.map(|path| format!("{path} has {} bytes", size(path)));
    assert_none(faults.collect(), "a file has at most 512 KB");
}

/// What may be written only in its room: the words, where they are banned, where they are
/// at home, and why.
struct Room {
    words: &'static [&'static str],
    banned_in: &'static str,
    home: &'static [&'static str],
    why: &'static str,
}

const ROOMS: &[Room] = &[
    Room {
        words: &[
            "SystemTime::now",
            "Utc::now",
            "Timestamp::now",
            "Zoned::now",
            "getrandom::",
            "rand::",
            "Uuid::new_v4",
        ],
        banned_in: "crates/",
        home: &["crates/kurier/src/clock.rs"],
        why: "time and randomness come from clock.rs and are passed inward",
    },
    Room {
        words: &[
            "Instant::now",
            "std::env::",
            "std::fs",
            "std::net",
            "std::process",
        ],
        banned_in: "crates/kurier-core/",
        home: &[],
        why: "core is pure",
    },
    Room {
        words: &["Instant::now", "std::env::"],
        banned_in: "crates/kurier-store/src/",
        // A stopwatch: how long a connection was idle.
        home: &["crates/kurier-store/src/postgres/line.rs"],
        why: "the store is told the time and its settings",
    },
    Room {
        words: &["rusqlite::", "sqlx::", "redis::"],
        banned_in: "crates/",
        home: &[
            "crates/kurier-store/src/sqlite/",
            "crates/kurier-store/src/postgres/",
            "crates/kurier-store/src/kv/",
            "crates/kurier-store/src/error.rs",
        ],
        why: "SQL and Redis are spoken in their backends only",
    },
    Room {
        words: &["StatusCode::", "HeaderMap"],
        banned_in: "crates/",
        home: &["crates/kurier/src/http/", "crates/kurier/src/channel/"],
        why: "status codes and headers are spoken in http/ and channel/",
    },
    Room {
        words: &["dbg!(", "todo!(", "unimplemented!(", "#[allow("],
        banned_in: "crates/",
        home: &[],
        why: "unfinished or silenced code",
    },
];

#[test]
fn words_stay_in_their_rooms() {
    let mut faults = Vec::new();
    let sources: Vec<_> = sources(".rs")
        .into_iter()
        .filter(|(path, _)| !is_test(path))
        .collect();
    for room in ROOMS {
        let inside = sources
            .iter()
            .filter(|(path, _)| path.starts_with(room.banned_in));
        let visitors =
            inside.filter(|(path, _)| !room.home.iter().any(|home| path.starts_with(home)));
        for (path, text) in visitors {
            let code = without_tests(text);
            let found = room.words.iter().filter(|word| mentions(&code, word));
            faults.extend(found.map(|word| format!("{path}: {word} ({})", room.why)));
        }
    }
    assert_none(faults, "these words are written outside their room");
}

/// Whether code (not a comment) uses a word that does not merely end a longer one.
fn mentions(code: &str, word: &str) -> bool {
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines
        .flat_map(|line| line.match_indices(word).map(move |(at, _)| &line[..at]))
        .any(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'))
}

#[test]
fn tests_neither_sleep_nor_hide() {
    let mut faults = Vec::new();
    for (path, text) in sources(".rs") {
        if path.ends_with("tidy.rs") {
            continue;
        }
        // The writers of log_no_skip pause at random: that is the load, not the check.
        let sleeps =
            is_test(&path) && text.contains("sleep(") && !path.ends_with("log_no_skip/mod.rs");
        if sleeps {
            faults.push(format!(
                "{path} sleeps: drain a queue or wait for what is to happen"
            ));
        }
        if text.contains("#[ignore") {
            faults.push(format!("{path} hides a test"));
        }
    }
    assert_none(faults, "tests neither sleep nor hide");
}

#[test]
fn no_file_is_called_by_a_name_that_says_nothing() {
    const EMPTY: &[&str] = &[
        "utils", "util", "common", "helpers", "helper", "misc", "manager", "types",
    ];
    let named = |path: &String| {
        let stem = Path::new(path)
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default();
        EMPTY.contains(&stem)
    };
    let faults = sources(".rs")
        .into_iter()
        .map(|(path, _)| path)
        .filter(named);
    assert_none(faults.collect(), "a file is named after what it holds");
}
