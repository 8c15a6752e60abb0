//! What journeys promise: the rows of the specification, the faults of definitions, crashes
//! at any point.

mod carts;
mod faults;
mod model;
mod parts;
mod reentry;
mod ring;
mod rows;
mod supply;
mod versions;
