-- The log. Positions are given by the one writer: gapless, in commit order.
CREATE TABLE log (
  position    INTEGER PRIMARY KEY,
  workspace   BLOB    NOT NULL,
  id          BLOB    NOT NULL,
  kind        TEXT    NOT NULL,
  contact     BLOB,
  lane        INTEGER NOT NULL,
  occurred_at INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  payload     TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX log_id ON log (workspace, id);

-- How far each reader of the log has come.
CREATE TABLE checkpoint (
  name     TEXT    PRIMARY KEY,
  position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Events a projection could not fold, set aside with the reason.
CREATE TABLE poison (
  projection TEXT    NOT NULL,
  position   INTEGER NOT NULL,
  reason     TEXT    NOT NULL,
  PRIMARY KEY (projection, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE workspace (
  id         BLOB    PRIMARY KEY,
  name       TEXT    NOT NULL UNIQUE,
  secret     BLOB    NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Keys are found by hash before their workspace is known, hence the one global unique index.
CREATE TABLE api_key (
  workspace  BLOB    NOT NULL REFERENCES workspace (id),
  id         BLOB    NOT NULL,
  name       TEXT    NOT NULL,
  hash       BLOB    NOT NULL UNIQUE,
  scopes     TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE queue (
  workspace   BLOB    NOT NULL,
  id          BLOB    NOT NULL,
  contact     BLOB,
  channel     TEXT    NOT NULL,
  priority    INTEGER NOT NULL,
  due_at      INTEGER NOT NULL,
  lease_until INTEGER,
  fence       INTEGER NOT NULL,
  attempts    INTEGER NOT NULL,
  payload     TEXT    NOT NULL,
  PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX queue_due ON queue (priority DESC, due_at);
CREATE INDEX queue_contact ON queue (workspace, contact);
