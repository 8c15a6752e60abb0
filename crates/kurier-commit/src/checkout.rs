//! A folder's checked out commit, as git names it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A commit, and the files that change when another one is checked out or made.
#[derive(Debug, Default)]
pub(super) struct Checkout {
    pub commit: Option<String>,
    pub files: Vec<PathBuf>,
}

/// Nothing where the folder is not the top of a checkout: a repository around it is of something else. In a worktree
/// `.git` is a file.
pub(super) fn read(folder: &Path) -> Checkout {
    if !folder.join(".git").exists() {
        return Checkout::default();
    }
    Checkout {
        commit: git(
            folder,
            &["log", "-1", "--abbrev=8", "--format=%h %cs", "HEAD"],
        ),
        files: changing(folder),
    }
}

/// `HEAD` names a branch; the branch's file names the commit. A branch that git has packed has no file until the next
/// commit: then the log of `HEAD` tells of that one.
fn changing(folder: &Path) -> Vec<PathBuf> {
    let path = |name: &str| {
        let path = git(folder, &["rev-parse", "--git-path", name])?;
        let path = std::path::absolute(folder.join(path)).ok()?;
        path.is_file().then_some(path)
    };
    let branch = git(folder, &["symbolic-ref", "--quiet", "HEAD"]);
    let branch = branch.as_deref();
    let commit = match branch.and_then(path) {
        Some(file) => vec![file],
        None => ["packed-refs", "logs/HEAD"]
            .into_iter()
            .filter_map(path)
            .collect(),
    };
    path("HEAD").into_iter().chain(commit).collect()
}

/// The first line that git prints; nothing if there is no git, or no commit yet.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(arguments);
    // A hook of another repository, which builds this one, has these set.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        git.env_remove(variable);
    }
    let output = git.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

#[cfg(test)]
mod tests;
