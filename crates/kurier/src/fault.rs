//! Places at which a test ends the process, as a power cut would: between any two steps.
//! `TEST_DIE_AT=contacts.folded:2` does so when that place is passed for the second time;
//! `TEST_PANIC_AT` has the task panic there instead.
//! `TEST_WAIT_AT=bundle.built:FILE` makes who comes to a place write the file, and go on when it
//! is gone: meanwhile a test does what another process might. What is released has no such places.

#[cfg(debug_assertions)]
mod armed {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Death {
        place: String,
        passes_left: AtomicUsize,
        panics: bool,
    }

    static DEATH: OnceLock<Option<Death>> = OnceLock::new();

    fn death() -> Option<Death> {
        let panics = std::env::var("TEST_PANIC_AT").ok();
        let text = std::env::var("TEST_DIE_AT").ok().or(panics.clone())?;
        let (place, passes) = text.split_once(':').unwrap_or((&text, "1"));
        Some(Death {
            place: place.to_owned(),
            passes_left: AtomicUsize::new(passes.parse().ok()?),
            panics: panics.is_some(),
        })
    }

    const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(5);

    static WAIT: OnceLock<Option<(String, std::path::PathBuf)>> = OnceLock::new();

    fn wait() -> Option<(String, std::path::PathBuf)> {
        let text = std::env::var("TEST_WAIT_AT").ok()?;
        let (place, file) = text.split_once(':')?;
        Some((place.to_owned(), file.into()))
    }

    fn wait_at(of: &str, step: &str) {
        let Some((place, file)) = WAIT.get_or_init(wait) else {
            return;
        };
        if place.split_once('.') != Some((of, step)) || std::fs::write(file, "").is_err() {
            return;
        }
        while file.exists() {
            std::thread::sleep(LOOK_EVERY);
        }
    }

    pub fn point(of: &str, step: &str) {
        wait_at(of, step);
        let Some(death) = DEATH.get_or_init(death) else {
            return;
        };
        let is_here = death.place.rsplit_once('.') == Some((of, step));
        if is_here && death.passes_left.fetch_sub(1, Ordering::SeqCst) == 1 {
            assert!(!death.panics, "asked to panic at {of}.{step}");
            std::process::abort();
        }
    }
}

#[cfg(debug_assertions)]
pub use armed::point;

#[cfg(not(debug_assertions))]
pub const fn point(_of: &str, _step: &str) {}
