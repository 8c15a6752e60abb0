//! Loops over slices: each reads one column and narrows a mask of one bit per row. They have no
//! branch inside, so that the compiler vectorises them.

pub mod codes;
pub mod lanes;
pub mod mask;
pub mod range;
pub mod tally;
