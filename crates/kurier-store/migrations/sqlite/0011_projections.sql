-- A projection may be told to rest, and says what stopped it.
ALTER TABLE checkpoint ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;
ALTER TABLE checkpoint ADD COLUMN failure TEXT;
ALTER TABLE checkpoint ADD COLUMN failed_at INTEGER;

-- Which events a projection that counts has counted.
CREATE TABLE processed_events (
  projection TEXT NOT NULL,
  workspace  BLOB NOT NULL,
  event      BLOB NOT NULL,
  PRIMARY KEY (projection, workspace, event)
) STRICT, WITHOUT ROWID;

CREATE TABLE daily_count (
  workspace BLOB    NOT NULL,
  day       INTEGER NOT NULL,
  kind      TEXT    NOT NULL,
  channel   TEXT    NOT NULL,
  times     INTEGER NOT NULL,
  revision  INTEGER NOT NULL,
  PRIMARY KEY (workspace, day, kind, channel)
) STRICT, WITHOUT ROWID;

CREATE TABLE channel_health (
  workspace      BLOB    NOT NULL,
  channel        TEXT    NOT NULL,
  sent           INTEGER NOT NULL,
  retried        INTEGER NOT NULL,
  failed         INTEGER NOT NULL,
  skipped        INTEGER NOT NULL,
  unknown        INTEGER NOT NULL,
  failing        INTEGER NOT NULL,
  last_sent_at   INTEGER,
  last_failed_at INTEGER,
  PRIMARY KEY (workspace, channel)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
  workspace BLOB    NOT NULL,
  position  INTEGER NOT NULL,
  at        INTEGER NOT NULL,
  kind      TEXT    NOT NULL,
  subject   TEXT,
  operator  TEXT,
  PRIMARY KEY (workspace, position)
) STRICT, WITHOUT ROWID;
