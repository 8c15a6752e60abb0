//! The server rules that follow from what the real event clients send.

mod body;
mod connection;
mod duplicates;
mod meaning;
mod paths;
mod rejections;
mod unlogged;

pub use body::encoded;
