//! Migrations: numbered SQL files, applied once, in order, never changed afterwards.

use crate::{Error, Result};

pub struct Migration {
    pub version: i64,
    pub sql: &'static str,
}

macro_rules! migrations {
    ($($version:literal => $file:literal),* $(,)?) => {
        &[$(Migration { version: $version, sql: include_str!(concat!("../migrations/", $file)) }),*]
    };
}

pub const SQLITE: &[Migration] = migrations! {
    1 => "sqlite/0001_log.sql",
    2 => "sqlite/0002_contacts.sql",
    3 => "sqlite/0003_segments.sql",
    4 => "sqlite/0004_messages.sql",
    5 => "sqlite/0005_journeys.sql",
    6 => "sqlite/0006_ids.sql",
    7 => "sqlite/0007_delivery.sql",
    8 => "sqlite/0008_suppressions.sql",
    9 => "sqlite/0009_channels.sql",
    10 => "sqlite/0010_templates.sql",
    11 => "sqlite/0011_projections.sql",
    12 => "sqlite/0012_slack_workspaces.sql",
    13 => "sqlite/0013_content.sql",
    14 => "sqlite/0014_versions.sql",
    15 => "sqlite/0015_users.sql",
    16 => "sqlite/0016_last_failure.sql",
    17 => "sqlite/0017_told.sql",
};

pub const POSTGRES: &[Migration] = migrations! {
    1 => "postgres/0001_log.sql",
    2 => "postgres/0002_contacts.sql",
    3 => "postgres/0003_segments.sql",
    4 => "postgres/0004_messages.sql",
    5 => "postgres/0005_journeys.sql",
    6 => "postgres/0006_ids.sql",
    7 => "postgres/0007_delivery.sql",
    8 => "postgres/0008_suppressions.sql",
    9 => "postgres/0009_channels.sql",
    10 => "postgres/0010_templates.sql",
    11 => "postgres/0011_projections.sql",
    12 => "postgres/0012_slack_workspaces.sql",
    13 => "postgres/0013_content.sql",
    14 => "postgres/0014_versions.sql",
    15 => "postgres/0015_users.sql",
    16 => "postgres/0016_last_failure.sql",
    17 => "postgres/0017_told.sql",
    18 => "postgres/0018_ids_later.sql",
    19 => "postgres/0019_pens.sql",
};

/// The migrations still to run on a database that stands at `version`.
pub fn pending(all: &'static [Migration], version: i64) -> Result<&'static [Migration]> {
    let newest = all.last().map_or(0, |migration| migration.version);
    if version > newest {
        let reason =
            format!("its schema is version {version}, this Kurier knows {newest}; use a newer one");
        return Err(Error::Unusable(reason));
    }
    let done = all
        .iter()
        .filter(|migration| migration.version <= version)
        .count();
    Ok(&all[done..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_count_up_from_one() {
        for all in [SQLITE, POSTGRES] {
            let versions: Vec<i64> = all.iter().map(|migration| migration.version).collect();
            assert_eq!(versions, (1..=all.len() as i64).collect::<Vec<_>>());
        }
    }

    #[test]
    fn only_what_is_missing_runs_and_the_future_is_refused() {
        let newest = SQLITE.len() as i64;
        assert_eq!(pending(SQLITE, 0).expect("known").len(), SQLITE.len());
        assert!(pending(SQLITE, newest).expect("known").is_empty());
        assert!(matches!(
            pending(SQLITE, newest + 1),
            Err(Error::Unusable(_))
        ));
    }
}
