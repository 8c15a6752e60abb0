//! Databases of the PostgreSQL server under test.

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

/// A new database of this name, in place of the one before; answers its URL.
pub async fn fresh(server: &str, name: &str) -> anyhow::Result<String> {
    let mut connection = PgConnection::connect(server).await?;
    for sql in [
        format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
        format!("CREATE DATABASE {name}"),
        // What earlier parts left to be written must not be written during this one.
        "CHECKPOINT".to_owned(),
    ] {
        let statement = sqlx::raw_sql(AssertSqlSafe(sql));
        statement.execute(&mut connection).await?;
    }
    connection.close().await?;
    let base = server.rsplit_once('/').map(|(base, _)| base);
    Ok(format!("{}/{name}", base.unwrap_or(server)))
}
