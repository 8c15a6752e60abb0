//! The Markdown that paths lead to.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, bail};
use kurier_core::content::{Encoding, decode};

use crate::flow::content::{Source, source_fault};

const ENDINGS: [&str; 4] = ["md", "markdown", "mdown", "mkd"];
/// What stands for what is piped in.
const PIPED: &str = "-";
/// A portion is imported as one event.
const PORTION_BYTES_MAX: u64 = 4 * 1024 * 1024;
const PORTION_FILES_MAX: usize = 500;

/// A file, and what its document is called.
pub struct File {
    pub id: String,
    /// Nothing for what is piped in.
    path: Option<PathBuf>,
    pub bytes: u64,
}

/// All files that paths lead to, each once, those of a folder by name.
pub fn all(paths: &[PathBuf], root: &Path, piped: Option<&str>) -> anyhow::Result<Vec<File>> {
    let mut files = Vec::new();
    for path in paths {
        if path.as_os_str() == PIPED {
            let id = piped.context("say --source, which names what is piped in")?;
            files.push(File {
                id: id.to_owned(),
                path: None,
                bytes: 0,
            });
        } else {
            let about = || format!("cannot read {}", path.display());
            let kind = std::fs::metadata(path).with_context(about)?;
            match kind.is_dir() {
                true => of_folder(path, root, &mut files)?,
                false => files.push(file(path, root, kind.len())?),
            }
        }
    }
    files.sort_by(|a, b| a.id.cmp(&b.id));
    files.dedup_by(|a, b| a.id == b.id);
    if let Some(fault) = files.iter().find_map(|file| source_fault(&file.id)) {
        bail!("{fault}");
    }
    Ok(files)
}

/// A folder that has no Markdown is a mistake.
fn of_folder(folder: &Path, root: &Path, files: &mut Vec<File>) -> anyhow::Result<()> {
    let before = files.len();
    within(folder, root, files)?;
    if files.len() == before {
        let endings = ENDINGS.join(", .");
        bail!("there is no Markdown (.{endings}) in {}", folder.display());
    }
    Ok(())
}

/// Links to folders are not followed: they may lead back.
fn within(folder: &Path, root: &Path, files: &mut Vec<File>) -> anyhow::Result<()> {
    let about = || format!("cannot read {}", folder.display());
    for entry in std::fs::read_dir(folder).with_context(about)? {
        let entry = entry.with_context(about)?;
        let (path, kind) = (entry.path(), entry.file_type().with_context(about)?);
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let ending = path.extension().and_then(|it| it.to_str()).unwrap_or("");
        let is_markdown = ENDINGS.iter().any(|it| ending.eq_ignore_ascii_case(it));
        if kind.is_dir() && !is_hidden {
            within(&path, root, files)?;
        } else if is_markdown && path.is_file() {
            let bytes = entry.metadata().with_context(about)?.len();
            files.push(file(&path, root, bytes)?);
        }
    }
    Ok(())
}

/// A document is called by its path from the root, with `/` between, wherever it is imported.
fn file(path: &Path, root: &Path, bytes: u64) -> anyhow::Result<File> {
    let full = std::path::absolute(path)?;
    let root = std::path::absolute(root)?;
    let named = full.strip_prefix(&root).unwrap_or(path);
    let parts = named.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    });
    let id = parts.collect::<Vec<_>>().join("/");
    Ok(File {
        id,
        path: Some(path.to_owned()),
        bytes,
    })
}

/// Files that are imported together.
pub fn portions(files: Vec<File>) -> Vec<Vec<File>> {
    let mut portions: Vec<Vec<File>> = Vec::new();
    let mut bytes = 0;
    for file in files {
        let is_full = bytes + file.bytes > PORTION_BYTES_MAX;
        match portions.last_mut() {
            Some(portion) if !is_full && portion.len() < PORTION_FILES_MAX => portion.push(file),
            _ => {
                bytes = 0;
                portions.push(vec![file]);
            }
        }
        bytes += portions
            .last()
            .and_then(|it| it.last())
            .map_or(0, |it| it.bytes);
    }
    portions
}

impl File {
    /// What it says, or why that cannot be taken.
    pub fn read(&self, encoding: Encoding) -> anyhow::Result<Result<Source, (String, String)>> {
        let mut bytes = Vec::new();
        let read = match &self.path {
            Some(path) => std::fs::read(path).map(|read| bytes = read),
            None => std::io::stdin().lock().read_to_end(&mut bytes).map(drop),
        };
        read.with_context(|| format!("cannot read {}", self.id))?;
        let id = self.id.clone();
        // Most are UTF-8, and then nothing has to be copied.
        let text = match String::from_utf8(bytes) {
            Ok(text) => Ok(text),
            Err(error) => decode(error.as_bytes(), encoding).map(|text| text.into_owned()),
        };
        Ok(match text {
            Ok(text) => Ok(Source { id, text }),
            Err(error) => Err((id, error.to_string())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_its_markdown_by_name_and_from_the_root() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for name in ["b.md", "a/c.MD", "a/x.txt", ".git/d.md", "a/e.markdown"] {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, "x").expect("written");
        }
        let both = [root.to_owned(), root.join("b.md")];
        let files = all(&both, root, None).expect("read");
        let ids: Vec<&str> = files.iter().map(|file| file.id.as_str()).collect();
        assert_eq!(ids, ["a/c.MD", "a/e.markdown", "b.md"]);
        assert!(all(&[PathBuf::from("-")], root, None).is_err());
        let piped = all(&[PathBuf::from("-")], root, Some("t.md")).expect("named");
        assert_eq!(piped[0].id, "t.md");
    }

    #[test]
    fn portions_are_bounded_and_lose_nothing() {
        let file = |number: usize, bytes| File {
            id: number.to_string(),
            path: None,
            bytes,
        };
        let sizes = [
            1,
            PORTION_BYTES_MAX,
            PORTION_BYTES_MAX / 2,
            9,
            9 * PORTION_BYTES_MAX,
        ];
        let files = sizes.into_iter().enumerate();
        let found = portions(files.map(|(number, bytes)| file(number, bytes)).collect());
        let counts: Vec<usize> = found.iter().map(Vec::len).collect();
        assert_eq!(counts, [1, 1, 2, 1]);
        let many = (0..2 * PORTION_FILES_MAX + 1).map(|number| file(number, 0));
        assert_eq!(portions(many.collect()).len(), 3);
    }
}
