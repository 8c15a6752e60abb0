-- How channels are set up. A row is written with the event that says so; revision is that
-- event's position. Secrets are sealed before they come here.
CREATE TABLE channel (
  workspace  BLOB    NOT NULL REFERENCES workspace (id),
  name       TEXT    NOT NULL,
  settings   TEXT    NOT NULL,
  secrets    BLOB,
  revision   INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, name)
) STRICT, WITHOUT ROWID;
