CREATE TABLE contact (
  workspace    BLOB    NOT NULL,
  id           BLOB    NOT NULL,
  standing     TEXT    NOT NULL,
  merged_into  BLOB,
  user_id      TEXT,
  email        TEXT,
  phone        TEXT,
  attributes   TEXT,
  identifiers  TEXT,
  created_at   INTEGER,
  updated_at   INTEGER,
  last_seen_at INTEGER,
  event_count  INTEGER,
  erased_at    INTEGER,
  revision     INTEGER,
  PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX contact_created ON contact (workspace, created_at, id) WHERE standing = 'live';
CREATE INDEX contact_email ON contact (workspace, email) WHERE email IS NOT NULL;
CREATE INDEX contact_user ON contact (workspace, user_id) WHERE user_id IS NOT NULL;

CREATE TABLE timeline (
  workspace   BLOB    NOT NULL,
  contact     BLOB    NOT NULL,
  occurred_at INTEGER NOT NULL,
  position    INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  kind        TEXT    NOT NULL,
  title       TEXT,
  PRIMARY KEY (workspace, contact, occurred_at, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE erasure (
  workspace BLOB    NOT NULL,
  address   BLOB    NOT NULL,
  erased_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, address)
) STRICT, WITHOUT ROWID;
