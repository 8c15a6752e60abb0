//! What must hold of any input whatever, as functions that panic where it does not. The
//! fuzzers in `bin/` look for such an input; the tests run what was found before.

mod bundle;
mod content;
mod ground;
mod parser;

pub use bundle::bundle;
pub use content::content;
pub use parser::parser;
