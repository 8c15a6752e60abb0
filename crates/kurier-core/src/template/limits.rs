//! How much one rendering may do. Every limit has a name that the error says.

use std::fmt;

/// A body may be this long.
pub const BODY_BYTES_MAX: usize = 256 * 1024;
/// A subject or a preheader may be this long.
pub const LINE_BYTES_MAX: usize = 4 * 1024;
/// Blocks may nest this deep.
pub const DEPTH_MAX: usize = 32;
/// So many tags and outputs may a part have.
pub const NODES_MAX: usize = 10_000;
/// So many variables may a part assign.
pub const VARIABLES_MAX: usize = 64;
/// So many filters may stand in one row.
pub const FILTERS_MAX: usize = 32;
/// So many faults are told; who has more has enough to do.
pub const FAULTS_MAX: usize = 100;

/// Every node that is rendered and every filter that is applied is a step.
pub const STEPS_MAX: u64 = 100_000;
/// All loops of a message together run so often.
pub const ITERATIONS_MAX: u64 = 10_000;
/// A text made on the way may be this long.
pub const TEXT_BYTES_MAX: usize = 256 * 1024;
/// A list made on the way may be this long.
pub const ITEMS_MAX: usize = 10_000;
/// All texts and lists made on the way, and all texts that conditions look into, may be this
/// long together: so neither the time nor the memory of a rendering can grow beyond it.
pub const WORK_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// A rendered part may be this long.
pub const OUTPUT_BYTES_MAX: usize = 1024 * 1024;
/// Markdown, also once its values are in it, may be this long: reading it takes a few hundred
/// times its memory.
pub const MARKDOWN_BYTES_MAX: usize = 64 * 1024;
/// Tables in Markdown may have so many cells: a short row is filled up to the longest.
pub const CELLS_MAX: usize = 20_000;

/// What a list's item weighs beside its text.
pub const ITEM_BYTES: usize = 64;
/// A pattern goes over its text this much slower than other tests do.
pub const PATTERN_WEIGHT: u64 = 16;

/// A limit that was passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limit {
    Steps,
    Iterations,
    Text,
    Items,
    Work,
    Output,
    Markdown,
    Cells,
}

impl Limit {
    pub const ALL: &[Self] = &[
        Self::Steps,
        Self::Iterations,
        Self::Text,
        Self::Items,
        Self::Work,
        Self::Output,
        Self::Markdown,
        Self::Cells,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Steps => "it takes more than 100,000 steps",
            Self::Iterations => "its loops run more than 10,000 times",
            Self::Text => "a text made on the way is larger than 256 KiB",
            Self::Items => "a list made on the way has more than 10,000 items",
            Self::Work => "the texts made on the way are larger than 4 MiB together",
            Self::Output => "output is larger than 1 MiB",
            Self::Markdown => "the Markdown is larger than 64 KiB",
            Self::Cells => "its tables could have more than 20,000 cells",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "limit: {}", self.as_str())
    }
}

/// What is left of it all for one message.
#[derive(Debug)]
pub struct Budget {
    steps: u64,
    iterations: u64,
    work: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            steps: STEPS_MAX,
            iterations: ITERATIONS_MAX,
            work: WORK_BYTES_MAX,
        }
    }
}

impl Budget {
    pub fn step(&mut self) -> Result<(), Limit> {
        self.steps = self.steps.checked_sub(1).ok_or(Limit::Steps)?;
        Ok(())
    }

    pub fn iterate(&mut self) -> Result<(), Limit> {
        self.iterations = self.iterations.checked_sub(1).ok_or(Limit::Iterations)?;
        Ok(())
    }

    pub fn work(&mut self, bytes: u64) -> Result<(), Limit> {
        self.work = self.work.checked_sub(bytes).ok_or(Limit::Work)?;
        Ok(())
    }

    pub const fn work_left(&self) -> u64 {
        self.work
    }

    /// A text of this length is about to be made.
    pub fn text(&mut self, bytes: usize) -> Result<(), Limit> {
        if bytes > TEXT_BYTES_MAX {
            return Err(Limit::Text);
        }
        self.work(bytes as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_say_the_numbers() {
        let said = Limit::ALL.map_words();
        for (limit, number) in [
            (Limit::Steps, "100,000"),
            (Limit::Iterations, "10,000"),
            (Limit::Items, "10,000"),
        ] {
            assert!(limit.as_str().contains(number), "{said:?}");
        }
        assert_eq!(
            (STEPS_MAX, ITERATIONS_MAX, ITEMS_MAX),
            (100_000, 10_000, 10_000)
        );
        assert_eq!(TEXT_BYTES_MAX, 256 << 10);
        assert_eq!((MARKDOWN_BYTES_MAX, CELLS_MAX), (64 << 10, 20_000));
        assert_eq!((WORK_BYTES_MAX, OUTPUT_BYTES_MAX), (4 << 20, 1 << 20));
    }

    trait Words {
        fn map_words(&self) -> Vec<String>;
    }

    impl Words for &[Limit] {
        fn map_words(&self) -> Vec<String> {
            self.iter().map(ToString::to_string).collect()
        }
    }
}
