//! Snapshots: files in a folder, each whole or not there. Their content is the caller's.
//! Everything here blocks.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use kurier_core::event::Position;
use kurier_core::time::Timestamp;

const WHOLE: &str = "snapshot";
const PARTIAL: &str = "partial";
/// The newest, and the one before, should the newest turn out to be damaged.
const KEPT_MAX: usize = 2;
const BUFFER: usize = 1 << 20;

#[derive(Debug, Clone)]
pub struct Snapshots {
    folder: PathBuf,
}

/// A snapshot that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub position: Position,
    pub bytes: u64,
    pub written_at: Timestamp,
    path: PathBuf,
}

impl Kept {
    pub fn open(&self) -> io::Result<BufReader<File>> {
        Ok(BufReader::with_capacity(BUFFER, File::open(&self.path)?))
    }
}

impl Snapshots {
    /// The folder is made when the first snapshot is kept.
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps what `write` writes: durable and whole before it has its name. Older ones go.
    pub fn keep(
        &self,
        position: Position,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> io::Result<Kept> {
        fs::create_dir_all(&self.folder)?;
        let partial = self.path(position, PARTIAL);
        let path = self.path(position, WHOLE);
        let written = write_whole(&partial, write).and_then(|()| fs::rename(&partial, &path));
        if let Err(error) = written {
            // What is there is of no use, and its room is.
            let _ = fs::remove_file(&partial);
            return Err(error);
        }
        self.sync()?;
        for old in self.all()?.into_iter().skip(KEPT_MAX) {
            fs::remove_file(&old.path)?;
        }
        let kept = self.kept(path)?;
        kept.ok_or_else(|| io::Error::other("the snapshot was removed meanwhile"))
    }

    /// The newest.
    pub fn newest(&self) -> io::Result<Option<Kept>> {
        Ok(self.all()?.into_iter().next())
    }

    /// All, the newest first.
    pub fn all(&self) -> io::Result<Vec<Kept>> {
        let mut all = Vec::new();
        for path in self.files()? {
            all.extend(self.kept(path)?);
        }
        all.sort_unstable_by_key(|kept| std::cmp::Reverse(kept.position));
        Ok(all)
    }

    pub fn discard(&self, kept: &Kept) -> io::Result<()> {
        remove(&kept.path)?;
        self.sync()
    }

    /// Removes all that were taken before a position, and all that are not whole.
    pub fn discard_before(&self, position: Position) -> io::Result<()> {
        let mut has_removed = false;
        for path in self.files()? {
            let is_older = position_of(&path, WHOLE).is_none_or(|of| of < position);
            if is_older {
                remove(&path)?;
                has_removed = true;
            }
        }
        if has_removed { self.sync() } else { Ok(()) }
    }

    fn path(&self, position: Position, ending: &str) -> PathBuf {
        self.folder.join(format!("{:020}.{ending}", position.0))
    }

    /// Our files; a folder that is not there has none.
    fn files(&self) -> io::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if position_of(&path, WHOLE)
                .or(position_of(&path, PARTIAL))
                .is_some()
            {
                files.push(path);
            }
        }
        Ok(files)
    }

    /// Nothing if it is no snapshot, or was removed meanwhile.
    fn kept(&self, path: PathBuf) -> io::Result<Option<Kept>> {
        let Some(position) = position_of(&path, WHOLE) else {
            return Ok(None);
        };
        let metadata = match fs::metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let since = metadata.modified()?.duration_since(UNIX_EPOCH);
        let millis = since.map_or(0, |since| since.as_millis());
        Ok(Some(Kept {
            position,
            bytes: metadata.len(),
            written_at: Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX)),
            path,
        }))
    }

    /// Names are durable only when their folder is.
    fn sync(&self) -> io::Result<()> {
        File::open(&self.folder)?.sync_all()
    }
}

fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(BUFFER, File::create(path)?);
    write(&mut out)?;
    out.flush()?;
    out.get_ref().sync_all()
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn position_of(path: &Path, ending: &str) -> Option<Position> {
    let is_ours = path.extension()?.to_str()? == ending;
    let position = path.file_stem()?.to_str()?.parse().ok()?;
    is_ours.then_some(Position(position))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn folder() -> (tempfile::TempDir, Snapshots) {
        let home = tempfile::tempdir().expect("a folder");
        let snapshots = Snapshots::new(home.path().join("snapshots"));
        (home, snapshots)
    }

    fn keep(snapshots: &Snapshots, position: i64) -> io::Result<Kept> {
        let text = position.to_string();
        snapshots.keep(Position(position), |out| out.write_all(text.as_bytes()))
    }

    fn positions(snapshots: &Snapshots) -> Vec<i64> {
        let all = snapshots.all().expect("listed").into_iter();
        all.map(|kept| kept.position.0).collect()
    }

    #[test]
    fn the_newest_two_are_kept() {
        let (_home, snapshots) = folder();
        assert_eq!(snapshots.newest().expect("listed"), None);
        for position in [9, 10, 200] {
            keep(&snapshots, position).expect("kept");
        }
        assert_eq!(positions(&snapshots), [200, 10]);
        let newest = snapshots.newest().expect("listed").expect("there");
        let mut text = String::new();
        let mut file = newest.open().expect("opened");
        file.read_to_string(&mut text).expect("read");
        assert_eq!((text.as_str(), newest.bytes), ("200", 3));
    }

    #[test]
    fn one_that_is_not_whole_is_not_there_and_harms_no_other() {
        let (home, snapshots) = folder();
        keep(&snapshots, 1).expect("kept");
        let failed = snapshots.keep(Position(2), |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("the disk is full"))
        });
        assert!(failed.is_err());
        assert_eq!(positions(&snapshots), [1]);
        // As a crash leaves it.
        let partial = home.path().join("snapshots/00000000000000000003.partial");
        fs::write(&partial, "half").expect("written");
        assert_eq!(positions(&snapshots), [1]);
        snapshots.discard_before(Position(1)).expect("discarded");
        assert!(!partial.exists());
        assert_eq!(positions(&snapshots), [1]);
    }

    #[test]
    fn what_is_older_is_discarded_and_what_is_not_ours_stays() {
        let (home, snapshots) = folder();
        snapshots
            .discard_before(Position(5))
            .expect("nothing there");
        keep(&snapshots, 4).expect("kept");
        keep(&snapshots, 5).expect("kept");
        let other = home.path().join("snapshots/notes.txt");
        fs::write(&other, "mine").expect("written");
        snapshots.discard_before(Position(5)).expect("discarded");
        assert_eq!(positions(&snapshots), [5]);
        assert!(other.exists());
    }
}
