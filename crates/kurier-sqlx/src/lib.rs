//! SQLx under the names that the crate `sqlx` gives it, without the migrations that `sqlx` always turns on
//! (docs/decisions/0036-fewer-packages.md). The crates that depend on this one call it `sqlx`.

pub use sqlx_core::connection::{ConnectOptions, Connection};
pub use sqlx_core::error::{Error, Result};
pub use sqlx_core::executor::Executor;
pub use sqlx_core::query::query;
pub use sqlx_core::query_as::query_as;
pub use sqlx_core::query_builder::QueryBuilder;
pub use sqlx_core::query_scalar::query_scalar;
pub use sqlx_core::raw_sql::raw_sql;
pub use sqlx_core::row::Row;
pub use sqlx_core::sql_str::AssertSqlSafe;
pub use sqlx_core::transaction::Transaction;
pub use sqlx_core::value::ValueRef;
pub use sqlx_core::{pool, types};
pub use sqlx_postgres::{self as postgres, PgConnection, PgPool, Postgres};

pub mod query {
    pub use sqlx_core::query::Query;
}
