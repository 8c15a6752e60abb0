CREATE TABLE slack_workspace (
  workspace       BLOB    NOT NULL,
  id              BLOB    NOT NULL,
  name            TEXT    NOT NULL,
  category        TEXT,
  default_channel TEXT,
  secrets         TEXT    NOT NULL,
  sealed          TEXT,
  created_at      INTEGER NOT NULL,
  changed_at      INTEGER NOT NULL,
  archived_at     INTEGER,
  revision        INTEGER NOT NULL,
  PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;
