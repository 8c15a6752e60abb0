//! Templates from outside: checked, published, previewed; and what hostile ones do.

mod commands;
mod hostile;
mod publish;
