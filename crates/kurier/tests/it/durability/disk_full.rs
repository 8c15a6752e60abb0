//! A disk that fills up: ingest says so, reads go on, and nothing acknowledged is lost.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;

use super::{Ledger, load};
use crate::harness::{Answer, Database, Server, eventually};

const SIZE: &str = "size=48m,mode=0777";
/// More than was free before: the first room is wanted twice by what waited for it, the
/// write-ahead log to be moved and the flows behind it, and ingest is to have some too.
const BALLAST_BYTES: usize = 30 * 1024 * 1024;

/// A file system of a few megabytes, gone with the test.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn mount() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", SIZE, "tmpfs"])
            .arg(folder.path());
        let mounted = mount.output().expect("mount runs");
        let reason = String::from_utf8_lossy(&mounted.stderr).into_owned();
        assert!(
            mounted.status.success(),
            "this test needs a small tmpfs (run it as root): {reason}"
        );
        let disk = Self(folder);
        std::fs::write(disk.ballast(), vec![1; BALLAST_BYTES]).expect("ballast");
        disk
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn ballast(&self) -> std::path::PathBuf {
        self.path().join("ballast")
    }

    fn make_room(&self) {
        std::fs::remove_file(self.ballast()).expect("removed");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a database may not have closed its files yet.
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

/// Ingest said that there is no room, and when to try again.
#[track_caller]
fn assert_full(ended: Option<Answer>) {
    let answer = ended.expect("an answer").expect_problem(503, "unavailable");
    let seconds = answer.header("retry-after").expect("Retry-After");
    assert!(
        seconds.parse::<u32>().is_ok_and(|seconds| seconds > 0),
        "{seconds}"
    );
}

/// Fills the disk, lives with it, gets room, and loses nothing.
async fn survive(disk: &SmallDisk, database: Database) {
    let server = Server::start(database).await;
    let ledger = Arc::new(Ledger::default());
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..4 {
        clients.spawn(load(server.api.clone(), ledger.clone(), 4_000));
    }
    for ended in clients.join_all().await {
        assert_full(ended);
    }
    // Reads go on.
    server.api.assert_alive().await;
    server.api.get("/readyz").await.expect(200);
    server.api.get("/api/v1/contacts?limit=5").await.expect(200);
    // Even a crash with a full disk loses nothing once there is room again.
    let stopped = server.kill9().await;
    disk.make_room();
    let server = stopped.restart().await;
    eventually("ingest works again", Duration::from_secs(30), async || {
        let item = json!({"userId": "u1", "event": "e", "messageId": "after"});
        let answer = server.api.post("/v1/track", item.to_string()).await;
        (answer.status == 200).then_some(())
    })
    .await;
    server.api.settle().await;
    ledger.acknowledge(vec!["after".into()]);
    ledger
        .check(&server.database)
        .await
        .expect("nothing is lost, nothing doubled");
    assert!(ledger.len() > 100, "there was load");
    server.terminate().await;
}

mod sqlite {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_full_disk_loses_nothing() {
        let disk = SmallDisk::mount();
        survive(&disk, Database::sqlite_in(&disk.path().join("data"))).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn room_that_is_made_is_used_without_a_restart() {
        let disk = SmallDisk::mount();
        let server = Server::start(Database::sqlite_in(&disk.path().join("data"))).await;
        let ledger = Arc::new(Ledger::default());
        assert_full(load(server.api.clone(), ledger.clone(), 4_000).await);
        disk.make_room();
        let before = ledger.len();
        assert_full(load(server.api.clone(), ledger.clone(), 4_000).await);
        assert!(
            ledger.len() > before + 100,
            "{} were accepted in new room",
            ledger.len() - before
        );
        let stopped = server.terminate().await;
        // A copy on a larger disk holds everything.
        let larger = TempDir::new().expect("a temporary folder");
        for (path, bytes) in stopped.database.bytes() {
            let name = Path::new(&path).file_name().expect("a name");
            std::fs::write(larger.path().join(name), bytes).expect("copied");
        }
        let server = Server::start(Database::sqlite_in(larger.path())).await;
        server.api.settle().await;
        ledger
            .check(&server.database)
            .await
            .expect("nothing is lost, nothing doubled");
    }
}

mod postgres {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_full_disk_loses_nothing() {
        let disk = SmallDisk::mount();
        let tablespace = disk.path().join("tablespace");
        let database = Database::postgres_in(&tablespace).await;
        survive(&disk, database).await;
    }
}
