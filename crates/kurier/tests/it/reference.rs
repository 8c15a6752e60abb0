//! Every example in `docs/reference` and `docs/guides` is run. A block marked `console` holds commands after
//! `$ ` and below each what it prints; `…` stands for anything. The blocks of a page run in
//! one shell, in an empty folder, beside a server of their own.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const WRITE_KEY: &str = "write-key-of-the-docs";
const ADMIN_KEY: &str = "admin-key-of-the-docs";
/// As the guide to bundles has them; the file of headers is made there.
const BUNDLES: [(&str, &str); 2] = [
    ("POLICY_MIN_CONFS", "2"),
    ("CACHE_TTLS_JSON", "{\"headers\":1}"),
];

fn root() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("crates/");
    crates.parent().expect("the repository").to_owned()
}

struct Server {
    process: Child,
    url: String,
    data: PathBuf,
}

impl Server {
    fn start(folder: &Path) -> Self {
        let data = folder.join("data");
        let headers = format!("file://{}/chain.headers?chain=regtest", folder.display());
        let mut process = Command::new(env!("CARGO_BIN_EXE_kurier"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(&data)
            .env("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY)
            .env("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY)
            .env("HEADERS_SOURCE", headers)
            .envs(BUNDLES)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let output = process.stdout.take().expect("piped");
        let lines = BufReader::new(output)
            .lines()
            .map(|line| line.expect("UTF-8"));
        let url = lines
            .filter_map(|line| line.strip_prefix("listening on ").map(str::to_owned))
            .next();
        Self {
            process,
            url: url.expect("the server says where it listens"),
            data,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its data goes with the folder; there is nothing to finish.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A command and what the page says it prints.
struct Example {
    line: usize,
    command: String,
    expected: String,
}

fn examples(page: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut inside = false;
    for (number, line) in page.lines().enumerate() {
        match (inside, line) {
            (false, "```console") => inside = true,
            (true, "```") => inside = false,
            (true, line) => match line.strip_prefix("$ ") {
                Some(command) => examples.push(Example {
                    line: number + 1,
                    command: command.into(),
                    expected: String::new(),
                }),
                None => {
                    let last = examples.last_mut().expect("a block begins with a command");
                    last.expected += &format!("{line}\n");
                }
            },
            (false, _) => {}
        }
    }
    examples
}

/// Runs all commands in one shell, so that variables last, and splits what they printed.
fn run(examples: &[Example], folder: &Path, server: &Server) -> Vec<String> {
    const MARK: &str = "\u{1e}end of example";
    let script: String = examples
        .iter()
        .map(|example| format!("{}\necho '{MARK}'\n", example.command))
        .collect();
    let programs = Path::new(env!("CARGO_BIN_EXE_kurier"))
        .parent()
        .expect("a folder");
    let path = format!(
        "{}:{}",
        programs.display(),
        std::env::var("PATH").expect("PATH")
    );
    let output = Command::new("bash")
        .args(["-c", &format!("exec 2>&1\n{script}")])
        .current_dir(folder)
        .env("PATH", path)
        .env("KURIER", &server.url)
        .env("DATA", &server.data)
        .env("EXAMPLES", root().join("examples"))
        .env("WRITE_KEY", WRITE_KEY)
        .env("ADMIN_KEY", ADMIN_KEY)
        .env(
            "HEADERS_SOURCE",
            format!("file://{}/chain.headers?chain=regtest", folder.display()),
        )
        .envs(BUNDLES)
        .output()
        .expect("bash runs");
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    let mut parts: Vec<String> = printed
        .split(&format!("{MARK}\n"))
        .map(str::to_owned)
        .collect();
    parts.pop();
    parts
}

/// Whether text is the pattern, where `…` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.trim_end().split('…');
    let text = text.trim_end();
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let pieces: Vec<&str> = pieces.collect();
    for (index, piece) in pieces.iter().enumerate() {
        let is_last = index + 1 == pieces.len();
        let found = if is_last {
            rest.ends_with(piece).then(|| rest.len() - piece.len())
        } else {
            rest.find(piece)
        };
        let Some(at) = found else { return false };
        rest = &rest[at + piece.len()..];
    }
    pieces.last().map_or(rest.is_empty(), |_| true)
}

fn check_page(name: &str) {
    check("docs/reference", name);
}

fn check(place: &str, name: &str) {
    let page = fs::read_to_string(root().join(place).join(name)).expect("the page");
    let examples = examples(&page);
    assert!(!examples.is_empty(), "{name} has no examples");
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::start(folder.path());
    let printed = run(&examples, folder.path(), &server);
    assert_eq!(
        printed.len(),
        examples.len(),
        "the shell ended early after {printed:?}"
    );
    for (example, printed) in examples.iter().zip(printed) {
        let Example {
            line,
            command,
            expected,
        } = example;
        assert!(
            matches(expected, &printed),
            "{name}:{line}\n$ {command}\nexpected: {expected}\nprinted:  {printed}"
        );
    }
}

#[test]
fn ingest() {
    check_page("ingest.md");
}

#[test]
fn channels() {
    check_page("channels.md");
}

#[test]
fn bundles() {
    check_page("bundles.md");
}

#[test]
fn guide_bundles() {
    check("docs/guides", "bundles.md");
}

#[test]
fn contacts() {
    check_page("contacts.md");
}

#[test]
fn cli() {
    check_page("cli.md");
}

#[test]
fn expressions() {
    check_page("expressions.md");
}

#[test]
fn journeys() {
    check_page("journeys.md");
}

#[test]
fn keys_operations() {
    check_page("keys-operations.md");
}

#[test]
fn keys() {
    check_page("keys.md");
}

#[test]
fn content() {
    check_page("content.md");
}

#[test]
fn slack_workspaces() {
    check_page("slack-workspaces.md");
}

#[test]
fn messages() {
    check_page("messages.md");
}

#[test]
fn projections() {
    check_page("projections.md");
}

#[test]
fn segments() {
    check_page("segments.md");
}

#[test]
fn settings() {
    check_page("settings.md");
}

#[test]
fn suppressions() {
    check_page("suppressions.md");
}

#[test]
fn templates() {
    check_page("templates.md");
}

#[test]
fn users() {
    check_page("users.md");
}

#[test]
fn every_page_is_checked() {
    const CHECKED: &[&str] = &[
        "bundles.md",
        "channels.md",
        "cli.md",
        "contacts.md",
        "content.md",
        "expressions.md",
        "ingest.md",
        "journeys.md",
        "keys-operations.md",
        "keys.md",
        "messages.md",
        "projections.md",
        "segments.md",
        "settings.md",
        "slack-workspaces.md",
        "suppressions.md",
        "templates.md",
        "users.md",
    ];
    let pages = fs::read_dir(root().join("docs/reference")).expect("the folder");
    let mut names: Vec<String> = pages
        .map(|page| {
            page.expect("an entry")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .collect();
    names.sort();
    assert_eq!(names, CHECKED);
    let guides = fs::read_dir(root().join("docs/guides")).expect("the folder");
    let guides = guides.map(|guide| guide.expect("an entry").file_name());
    assert_eq!(guides.collect::<Vec<_>>(), ["bundles.md"]);
}

#[test]
fn patterns_match_what_they_should() {
    assert!(matches("a…c\n", "abc\n"));
    assert!(matches("a…", "abc"));
    assert!(matches("…", "anything"));
    assert!(matches("a…c…e", "abcde"));
    assert!(!matches("a…c", "abcd"));
    assert!(!matches("abc", "abcd"));
    assert!(!matches("a…c…e", "abde"));
}

#[test]
fn every_command_and_setting_is_in_the_reference() {
    let help = Command::new(env!("CARGO_BIN_EXE_kurier"))
        .arg("--help")
        .output()
        .expect("help");
    let help = String::from_utf8(help.stdout).expect("UTF-8");
    let commands = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty());
    let page = fs::read_to_string(root().join("docs/reference/cli.md")).expect("the page");
    let names: Vec<&str> = commands
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.len() > 4, "{help}");
    let missing: Vec<&&str> = names
        .iter()
        .filter(|name| !page.contains(&format!("## kurier {name}\n")))
        .collect();
    assert!(missing.is_empty(), "cli.md does not tell of {missing:?}");
}

#[test]
fn every_filter_and_limit_is_in_the_reference() {
    use kurier_core::template::{Filter, Limit};
    let page = fs::read_to_string(root().join("docs/reference/templates.md")).expect("the page");
    let is_told =
        |name: &str| page.contains(&format!("`{name}`")) || page.contains(&format!("`{name}: "));
    let filters = Filter::ALL.iter().map(|filter| filter.name());
    let limits = Limit::ALL.iter().map(|limit| limit.as_str());
    let missing: Vec<&str> = filters
        .chain(limits)
        .filter(|name| !is_told(name))
        .collect();
    assert!(
        missing.is_empty(),
        "templates.md does not tell of {missing:?}"
    );
}
