//! The examples of a page, typed into one shell beside a server.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::root;
use crate::harness::server::{BINARY, command};

const WRITE_KEY: &str = "write-key-of-the-docs";
const ADMIN_KEY: &str = "admin-key-of-the-docs";
/// As the guide to bundles has them; the file of headers is made there.
const BUNDLES: [(&str, &str); 2] = [
    ("POLICY_MIN_CONFS", "2"),
    ("CACHE_TTLS_JSON", "{\"headers\":1}"),
];

pub struct Server {
    process: Child,
    pub url: String,
    data: PathBuf,
}

impl Server {
    /// A server with the keys and the settings that the pages of the reference name.
    pub fn start(folder: &Path) -> Self {
        let headers = format!("file://{}/chain.headers?chain=regtest", folder.display());
        let mut serve = command();
        serve
            .env("KURIER_BOOTSTRAP_WRITE_KEY", WRITE_KEY)
            .env("KURIER_BOOTSTRAP_ADMIN_KEY", ADMIN_KEY)
            .env("HEADERS_SOURCE", headers)
            .envs(BUNDLES);
        Self::launch(serve, folder, &[])
    }

    /// A server as somebody starts it who has read nothing yet.
    pub fn start_plainly(folder: &Path, options: &[&str]) -> Self {
        Self::launch(command(), folder, options)
    }

    /// Its data is where the program puts it by itself.
    fn launch(mut serve: Command, folder: &Path, options: &[&str]) -> Self {
        let mut process = serve
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(options)
            .current_dir(folder)
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
            data: folder.join("data"),
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
pub struct Example {
    line: usize,
    pub command: String,
    pub expected: String,
}

/// The commands of the blocks marked `console`; a block marked `file=NAME` is written to that file.
pub fn examples(page: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(mark) = line.strip_prefix("```").filter(|mark| !mark.is_empty()) else {
            continue;
        };
        let block: Vec<(usize, &str)> = lines
            .by_ref()
            .take_while(|(_, line)| *line != "```")
            .collect();
        if mark == "console" {
            read_commands(&block, &mut examples);
        } else if let Some((_, name)) = mark.split_once("file=") {
            let text: Vec<&str> = block.iter().map(|(_, line)| *line).collect();
            examples.push(Example {
                line: number + 1,
                command: format!(
                    "cat > {name} <<'END OF FILE'\n{}\nEND OF FILE",
                    text.join("\n")
                ),
                expected: String::new(),
            });
        }
    }
    examples
}

fn read_commands(block: &[(usize, &str)], examples: &mut Vec<Example>) {
    let begins = block.first().is_none_or(|(_, line)| line.starts_with("$ "));
    assert!(begins, "a block begins with a command: {block:?}");
    for (number, line) in block {
        match line.strip_prefix("$ ") {
            Some(command) => examples.push(Example {
                line: number + 1,
                command: command.into(),
                expected: String::new(),
            }),
            None => {
                let last = examples.last_mut().expect("a block begins with a command");
                last.expected += &format!("{line}\n");
            }
        }
    }
}

/// A shell in which all commands of a page run, so that variables last.
pub struct Shell(Command);

impl Shell {
    /// With the variables that the pages of the reference use.
    pub fn beside(server: &Server, folder: &Path) -> Self {
        let programs = Path::new(BINARY).parent().expect("a folder");
        let path = std::env::var("PATH").expect("PATH");
        let headers = format!("file://{}/chain.headers?chain=regtest", folder.display());
        let mut bash = Command::new("bash");
        bash.current_dir(folder)
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("KURIER", &server.url)
            .env("DATA", &server.data)
            .env("EXAMPLES", root().join("examples"))
            .env("WRITE_KEY", WRITE_KEY)
            .env("ADMIN_KEY", ADMIN_KEY)
            .env("HEADERS_SOURCE", headers)
            .envs(BUNDLES);
        Self(bash)
    }

    /// With nothing set, and no program but those in a folder.
    pub fn bare(folder: &Path, programs: &Path) -> Self {
        let mut bash = Command::new("/bin/bash");
        bash.current_dir(folder).env_clear().env("PATH", programs);
        Self(bash)
    }

    /// What each of the commands printed, to either output.
    pub fn run(mut self, examples: &[Example]) -> Vec<String> {
        const MARK: &str = "\u{1e}end of example";
        let script: String = examples
            .iter()
            .map(|example| format!("{}\necho '{MARK}'\n", example.command))
            .collect();
        self.0.args(["-c", &format!("exec 2>&1\n{script}")]);
        let output = self.0.output().expect("bash runs");
        let printed = String::from_utf8(output.stdout).expect("UTF-8");
        let mark = format!("{MARK}\n");
        let mut parts: Vec<String> = printed.split(&mark).map(str::to_owned).collect();
        parts.pop();
        let count = parts.len();
        assert_eq!(
            count,
            examples.len(),
            "the shell ended early after {parts:?}"
        );
        parts
    }
}

/// Runs the examples of a page, and compares.
pub fn check(name: &str, examples: &[Example], shell: Shell) {
    for (example, printed) in examples.iter().zip(shell.run(examples)) {
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

/// Whether text is the pattern, where `…` stands for anything.
pub fn matches(pattern: &str, text: &str) -> bool {
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
