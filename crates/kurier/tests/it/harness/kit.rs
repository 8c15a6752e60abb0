//! Foreign programs that tests need, from their registries, kept beside the build.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Kit {
    pub name: &'static str,
    pub python: &'static [&'static str],
    pub node: &'static [&'static str],
}

pub struct Installed {
    pub python: PathBuf,
    /// Where `node_modules` is; a script must lie beside it to import from it.
    pub node: PathBuf,
}

impl Kit {
    /// Installs what is missing. Tests run side by side: the first does it, the others wait.
    pub fn install(&self) -> Installed {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(self.name);
        std::fs::create_dir_all(&folder).expect("a folder");
        let lock = File::create(folder.join("lock")).expect("a lock file");
        lock.lock().expect("locked");
        let (venv, node) = (folder.join("venv"), folder.join("node"));
        let done = folder.join("done");
        let wanted = [self.python, self.node].concat().join("\n");
        if std::fs::read_to_string(&done).ok().as_deref() != Some(&wanted) {
            self.install_python(&venv);
            self.install_node(&node);
            std::fs::write(&done, wanted).expect("written");
        }
        Installed {
            python: venv.join("bin/python"),
            node,
        }
    }

    fn install_python(&self, venv: &Path) {
        if self.python.is_empty() {
            return;
        }
        run(Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(venv));
        run(Command::new(venv.join("bin/pip"))
            .args(["install", "--quiet"])
            .args(self.python));
    }

    fn install_node(&self, folder: &Path) {
        if self.node.is_empty() {
            return;
        }
        std::fs::create_dir_all(folder).expect("a folder");
        std::fs::write(folder.join("package.json"), "{\"private\": true}\n").expect("written");
        let mut npm = Command::new("npm");
        run(npm
            .args(["install", "--no-audit", "--no-fund", "--save-exact"])
            .args(self.node)
            .current_dir(folder));
    }
}

/// Runs a command to its end; what it says is shown if it fails.
pub fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success(),
        "{command:?}: {}\n{out}\n{err}",
        output.status
    );
    out.into_owned()
}
