//! The README, typed as it is written: on a server that is empty, on the demo, and twice.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::root;
use super::shell::{self, Example, Server, Shell, examples, matches};
use crate::harness::server::BINARY;

/// The address that the README names; the server under test has another.
const ADDRESS: &str = "http://127.0.0.1:8787";

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).expect("the page")
}

/// The commands of a page, at the address of a server.
fn commands(page: &str, server: &Server) -> Vec<Example> {
    let mut examples = examples(&read(page));
    let mut asked = 0;
    for example in &mut examples {
        asked += example.command.matches(ADDRESS).count();
        example.command = example.command.replace(ADDRESS, &server.url);
    }
    assert!(asked > 0, "{page} never asks {ADDRESS}");
    examples
}

/// A folder as `./dev run` leaves a checkout: with the program where it is built.
fn checkout(home: &Path) -> PathBuf {
    let folder = home.join("kurier");
    let built = folder.join("target/demo");
    fs::create_dir_all(&built).expect("a folder");
    symlink(BINARY, built.join("kurier")).expect("a link");
    symlink(root().join("examples"), folder.join("examples")).expect("a link");
    folder
}

/// A folder with the programs that are needed besides Kurier: the README has only the first.
const PROGRAMS: &str = "programs";
const NEEDED: &[&str] = &["curl", "cat"];

fn add_programs(home: &Path, needed: &[&str]) {
    let folder = home.join(PROGRAMS);
    fs::create_dir(&folder).expect("a folder");
    let path = std::env::var_os("PATH").expect("PATH");
    for name in needed {
        let mut places = std::env::split_paths(&path).map(|it| it.join(name));
        let found = places.find(|it| it.is_file());
        symlink(found.expect("it is there"), folder.join(name)).expect("a link");
    }
}

/// A terminal in a checkout, beside a server that was started there.
struct Terminal {
    home: tempfile::TempDir,
    folder: PathBuf,
    server: Server,
}

impl Terminal {
    fn open(options: &[&str], needed: &[&str]) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let folder = checkout(home.path());
        add_programs(home.path(), needed);
        let server = Server::start_plainly(&folder, options);
        Self {
            home,
            folder,
            server,
        }
    }

    fn shell(&self) -> Shell {
        Shell::bare(&self.folder, &self.home.path().join(PROGRAMS))
    }
}

fn follow_readme(options: &[&str]) {
    let terminal = Terminal::open(options, &NEEDED[..1]);
    let commands = commands("README.md", &terminal.server);
    shell::check("README.md", &commands, terminal.shell());
    let again = terminal.shell().run(&commands);
    for (example, printed) in commands.iter().zip(&again) {
        assert!(
            !printed.contains("kurier: ") && !printed.contains("not found"),
            "typed again: $ {}\n{printed}",
            example.command
        );
    }
    let (last, printed) = (commands.last(), again.last());
    let (last, printed) = (last.expect("commands"), printed.expect("an answer"));
    assert!(matches(&last.expected, printed), "typed again: {printed}");
}

#[test]
fn the_readme_leads_to_a_message_on_an_empty_server() {
    follow_readme(&[]);
}

#[test]
fn the_readme_leads_to_a_message_in_the_demo() {
    follow_readme(&["--demo"]);
}

#[test]
fn the_guide_to_the_first_journey_goes_on_from_the_readme() {
    let page = "docs/guides/first-journey.md";
    let terminal = Terminal::open(&["--demo"], NEEDED);
    shell::check(
        "README.md",
        &commands("README.md", &terminal.server),
        terminal.shell(),
    );
    shell::check(page, &commands(page, &terminal.server), terminal.shell());
}

/// Whatever is not run may be wrong: only the script that this suite is a part of is named without being run.
#[test]
fn nothing_else_in_the_readme_is_typed_into_a_shell() {
    let readme = read("README.md");
    let mut blocks = readme.split("```sh\n").skip(1);
    let is_dev = |line: &str| line.is_empty() || line.starts_with("./dev ");
    let other = blocks.find_map(|block| {
        let lines = block.split("```").next().unwrap_or_default();
        lines.lines().find(|line| !is_dev(line))
    });
    assert_eq!(other, None, "mark it `console`, so that it is run");
}
