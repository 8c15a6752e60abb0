CREATE TABLE template (
  workspace  BLOB    NOT NULL,
  id         BLOB    NOT NULL,
  name       TEXT    NOT NULL,
  version    INTEGER NOT NULL,
  topic      TEXT,
  hash       TEXT    NOT NULL,
  reads      TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  retired_at INTEGER,
  PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE template_version (
  workspace    BLOB    NOT NULL,
  template     BLOB    NOT NULL,
  version      INTEGER NOT NULL,
  document     TEXT    NOT NULL,
  hash         TEXT    NOT NULL,
  published_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, template, version)
) STRICT, WITHOUT ROWID;
