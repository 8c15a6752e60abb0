//! Standard output and standard error of commands. The macros of the standard library panic when the
//! reader has gone, as `head` does after its last line. Those of this module, which commands use under
//! the same names, do not: the command goes on without a reader, because it may be half way through a
//! change, and a server must not end for it.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write as _};
use std::sync::OnceLock;

/// The first error of standard output; nothing is written after it.
static FAILURE: OnceLock<io::Error> = OnceLock::new();

macro_rules! print {
    ($($text:tt)*) => { $crate::cli::output::write(format_args!($($text)*)) };
}

macro_rules! println {
    () => { $crate::cli::output::write_line(format_args!("")) };
    ($($text:tt)*) => { $crate::cli::output::write_line(format_args!($($text)*)) };
}

macro_rules! eprintln {
    ($($text:tt)*) => { $crate::cli::output::write_error_line(format_args!($($text)*)) };
}

pub(super) fn write(text: Arguments<'_>) {
    keep_failure(|| io::stdout().lock().write_fmt(text));
}

pub(super) fn write_line(text: Arguments<'_>) {
    keep_failure(|| {
        let mut stdout = io::stdout().lock();
        stdout.write_fmt(text)?;
        stdout.write_all(b"\n")
    });
}

fn keep_failure(write: impl FnOnce() -> io::Result<()>) {
    if FAILURE.get().is_some() {
        return;
    }
    if let Err(error) = write() {
        // Of two that fail at once, either says enough.
        let _ = FAILURE.set(error);
    }
}

/// Nothing is left to complain to when standard error is closed.
pub(super) fn write_error_line(text: Arguments<'_>) {
    let mut stderr = io::stderr().lock();
    let _ = stderr
        .write_fmt(text)
        .and_then(|()| stderr.write_all(b"\n"));
}

/// Whether nobody reads any more: a long list need not be continued.
pub(super) fn is_closed() -> bool {
    FAILURE.get().is_some()
}

/// Writes what is buffered. A reader that has gone has seen enough; a full disk is an error.
pub(super) fn finish() -> io::Result<()> {
    keep_failure(|| io::stdout().flush());
    match FAILURE.get() {
        Some(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(io::Error::new(error.kind(), error.to_string()))
        }
        _ => Ok(()),
    }
}
