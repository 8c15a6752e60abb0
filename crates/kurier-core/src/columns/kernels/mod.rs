//! Loops over slices: each reads one column and narrows a mask of one byte per row, 1 for the
//! rows that still pass. They have no branch inside, so that the compiler vectorises them.

pub mod codes;
pub mod mask;
pub mod range;
pub mod tally;
