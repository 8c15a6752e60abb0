//! What Kurier decides.
