//! What Kurier keeps.
