//! Real repositories, made for each test.

use std::fs;

use super::*;

struct Repository {
    home: tempfile::TempDir,
}

impl Repository {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a folder");
        fs::create_dir(home.path().join("main")).expect("a folder");
        let repository = Self { home };
        repository.run(&["init", "--quiet", "--initial-branch=main"]);
        repository
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("main")
    }

    fn run(&self, arguments: &[&str]) {
        self.run_in("main", arguments);
    }

    fn run_in(&self, name: &str, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.arg("-C").arg(self.home.path().join(name));
        let author = [
            "-c",
            "user.name=Ann",
            "-c",
            "user.email=ann@example.com",
            "-c",
            "commit.gpgsign=false",
        ];
        let ended = git.args(author).args(arguments).output().expect("git runs");
        assert!(ended.status.success(), "{arguments:?}: {ended:?}");
    }

    fn commit_in(&self, name: &str) {
        self.run_in(name, &["commit", "--quiet", "--allow-empty", "-m", "empty"]);
    }

    fn commit(&self) {
        self.commit_in("main");
    }
}

/// Reads, commits, and reads again: one of the files watched before has changed or gone.
#[track_caller]
fn assert_noticed(folder: &Path, commit: impl FnOnce()) {
    let before = read(folder);
    let contents =
        |files: &[PathBuf]| -> Vec<_> { files.iter().map(|it| fs::read(it).ok()).collect() };
    let then = contents(&before.files);
    assert!(then.iter().all(Option::is_some), "{before:?}");
    commit();
    let after = read(folder);
    assert!(after.commit.is_some(), "{after:?}");
    assert_ne!(then, contents(&before.files), "{before:?}");
}

#[test]
fn a_commit_is_named_with_its_day() {
    let repository = Repository::new();
    repository.commit();
    let commit = read(&repository.folder()).commit.expect("a commit");
    let (hash, day) = commit.split_once(' ').expect("a hash and a day");
    assert!(
        hash.len() >= 8 && hash.chars().all(|c| c.is_ascii_hexdigit()),
        "{commit}"
    );
    let parts: Vec<usize> = day.split('-').map(str::len).collect();
    assert_eq!(parts, [4, 2, 2], "{commit}");
}

#[test]
fn a_new_commit_is_noticed() {
    let repository = Repository::new();
    // A repository without any commit has no file that the first one would change.
    repository.commit();
    assert_noticed(&repository.folder(), || repository.commit());
    assert_noticed(&repository.folder(), || repository.commit());
}

#[test]
fn a_new_commit_on_a_packed_branch_is_noticed() {
    let repository = Repository::new();
    repository.commit();
    repository.run(&["pack-refs", "--all"]);
    assert_noticed(&repository.folder(), || repository.commit());
}

#[test]
fn packing_the_branch_keeps_the_commit() {
    let repository = Repository::new();
    repository.commit();
    let before = read(&repository.folder()).commit;
    repository.run(&["pack-refs", "--all"]);
    assert_eq!(read(&repository.folder()).commit, before);
}

#[test]
fn another_branch_and_a_detached_head_are_noticed() {
    let repository = Repository::new();
    repository.commit();
    let folder = repository.folder();
    assert_noticed(&folder, || {
        repository.run(&["checkout", "--quiet", "-b", "other"]);
    });
    assert_noticed(&folder, || {
        repository.run(&["checkout", "--quiet", "--detach"])
    });
    assert_noticed(&folder, || repository.commit());
}

#[test]
fn a_worktree_has_a_commit_of_its_own() {
    let repository = Repository::new();
    repository.commit();
    repository.run(&["worktree", "add", "--quiet", "-b", "tree", "../tree"]);
    let tree = repository.home.path().join("tree");
    assert!(tree.join(".git").is_file());
    assert_noticed(&tree, || repository.commit_in("tree"));
    let before = read(&tree);
    let main = read(&repository.folder());
    assert!(before.commit.is_some() && main.commit.is_some());
    assert_ne!(before.files, main.files);
}

#[test]
fn a_folder_without_a_repository_has_no_commit() {
    let repository = Repository::new();
    repository.commit();
    let inside = repository.folder().join("unpacked");
    fs::create_dir(&inside).expect("a folder");
    for folder in [repository.home.path(), &inside] {
        let checkout = read(folder);
        assert!(
            checkout.commit.is_none() && checkout.files.is_empty(),
            "{checkout:?}"
        );
    }
}
