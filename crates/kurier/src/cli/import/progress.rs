//! The progress bar of an import: on a terminal, with rate and time left.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

pub struct Progress(ProgressBar);

impl Progress {
    pub fn new(bytes: u64, quiet: bool) -> Self {
        if quiet {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::new(bytes);
        let style = "{wide_bar} {bytes}/{total_bytes} {msg} {eta} left";
        bar.set_style(ProgressStyle::with_template(style).expect("the template is valid"));
        bar.enable_steady_tick(Duration::from_millis(250));
        Self(bar)
    }

    pub fn at(&self, bytes: u64, lines: u64) {
        self.0.set_position(bytes);
        if lines.is_multiple_of(1_000) {
            let rate = lines as f64 / self.0.elapsed().as_secs_f64().max(1e-3);
            self.0.set_message(format!("{lines} lines, {rate:.0}/s,"));
        }
    }

    /// Shows a line above the bar, or plainly where there is no bar.
    pub fn say(&self, line: &str) {
        self.0.suspend(|| eprintln!("{line}"));
    }

    pub fn say_phase(&self, phase: &str) {
        self.0.set_message(format!("{phase},"));
    }

    pub fn end(&self) {
        self.0.finish_and_clear();
    }
}
