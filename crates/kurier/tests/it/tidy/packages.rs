//! Which packages the crates are built from.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use super::{assert_none, root};

/// Packages of others in the program. Each is compiled by everybody who builds it, and looked at by whoever answers for it.
const PACKAGES_MAX: usize = 264;

#[test]
fn the_program_is_made_of_no_more_packages() {
    let packages = packages_of("kurier");
    let others: BTreeSet<&String> = packages
        .iter()
        .filter(|package| !package.starts_with("kurier"))
        .collect();
    let count = others.len();
    assert!(count > 100, "cargo shows {count} packages only");
    assert!(
        count <= PACKAGES_MAX,
        "the program has {count} packages of others instead of {PACKAGES_MAX}. `cargo tree -p kurier -e normal -i NAME` \
         shows what brings one. If it is worth its price, say so in docs/decisions/0002-dependencies.md and set PACKAGES_MAX \
         to {count}; the packages are {others:#?}"
    );
    assert!(
        count == PACKAGES_MAX,
        "the program has {count} packages of others and no longer {PACKAGES_MAX}: set PACKAGES_MAX to {count}"
    );
}

#[test]
fn crates_depend_in_one_direction() {
    check_absent(
        "kurier-core",
        &[
            "tokio",
            "kurier-sqlx",
            "sqlx-core",
            "rusqlite",
            "redis",
            "axum",
            "hyper",
            "getrandom",
            "rand",
            "kurier-store",
        ],
    );
    check_absent("kurier-store", &["axum", "hyper", "clap", "reqwest"]);
}

/// No dependency of a crate, however far down, is one of these.
#[track_caller]
fn check_absent(package: &str, banned: &[&str]) {
    let packages = packages_of(package);
    let names: Vec<&str> = packages
        .iter()
        .filter_map(|package| package.split(' ').next())
        .collect();
    let found: Vec<&&str> = banned.iter().filter(|name| names.contains(name)).collect();
    assert!(found.is_empty(), "{package} must not depend on {found:?}");
}

/// A crate and all that it is built from: names and versions.
fn packages_of(package: &str) -> BTreeSet<String> {
    let packages: BTreeSet<String> = tree(package, "normal", "{p}").into_iter().collect();
    let is_itself = |it: &String| it.starts_with(&format!("{package} "));
    assert!(
        packages.iter().any(is_itself),
        "the tree of {package} is empty"
    );
    packages
}

/// The lines of `cargo tree`, cut after the version and what follows a `|`. The same on every machine.
fn tree(package: &str, edges: &str, format: &str) -> Vec<String> {
    let look = ["--edges", edges, "--prefix", "none", "--format", format];
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--package", package])
        .args(["--target", "x86_64-unknown-linux-gnu"])
        .args(look)
        .current_dir(root())
        .output()
        .expect("cargo shows the tree");
    let said = String::from_utf8_lossy(&tree.stderr);
    assert!(tree.status.success(), "{said}");
    let tree = String::from_utf8(tree.stdout).expect("names are UTF-8");
    let short = |line: &str| {
        let (package, features) = line.split_once('|').unwrap_or((line, ""));
        let mut words = package.split(' ');
        let (name, version) = (words.next()?, words.next()?);
        Some(
            format!("{name} {version} {features}")
                .trim()
                .replace(" (*)", ""),
        )
    };
    tree.lines().filter_map(short).collect()
}

/// A feature that only tests turn on has all that depends on the package compiled twice: for the program and for its tests.
#[test]
fn tests_turn_on_no_feature_of_the_programs_packages() {
    let format = "{p}|{f}";
    let program = tree("kurier", "normal,build", format);
    let tests: BTreeSet<String> = tree("kurier", "normal,build,dev", format)
        .into_iter()
        .collect();
    let faults: BTreeSet<String> = program
        .into_iter()
        .filter(|package| !tests.contains(package))
        .collect();
    assert_none(
        faults.into_iter().collect(),
        "tests are built with more features of these than the program has; turn them on in crates/kurier/Cargo.toml",
    );
}

#[test]
fn every_dependency_has_its_reason() {
    let manifest: toml::Table = fs::read_to_string(root().join("Cargo.toml"))
        .expect("Cargo.toml")
        .parse()
        .expect("TOML");
    let decided = fs::read_to_string(root().join("docs/decisions/0002-dependencies.md"))
        .expect("the decision");
    let dependencies = manifest["workspace"]["dependencies"]
        .as_table()
        .expect("a table");
    let missing = dependencies
        .keys()
        .filter(|name| !name.starts_with("kurier") && !decided.contains(&format!("`{name}`")));
    assert_none(
        missing.cloned().collect(),
        "docs/decisions/0002-dependencies.md does not say why we use",
    );
}
