CREATE TABLE journey (
  workspace  BLOB    NOT NULL,
  id         BLOB    NOT NULL,
  name       TEXT    NOT NULL,
  draft      TEXT,
  version    INTEGER,
  standing   TEXT    NOT NULL,
  segments   TEXT,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE journey_version (
  workspace    BLOB    NOT NULL,
  journey      BLOB    NOT NULL,
  version      INTEGER NOT NULL,
  definition   TEXT    NOT NULL,
  published_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, journey, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE journey_instance (
  workspace    BLOB    NOT NULL,
  id           BLOB    NOT NULL,
  journey      BLOB    NOT NULL,
  version      INTEGER NOT NULL,
  contact      BLOB,
  run_key      TEXT,
  begun_by     BLOB,
  status       TEXT    NOT NULL,
  ending       TEXT,
  node         TEXT    NOT NULL,
  held         INTEGER NOT NULL,
  awaits       TEXT,
  wake         INTEGER,
  seq          INTEGER NOT NULL,
  steps        INTEGER NOT NULL,
  entered_at   INTEGER NOT NULL,
  moved_at     INTEGER NOT NULL,
  ended_at     INTEGER,
  message      BLOB,
  message_node TEXT,
  state        TEXT,
  PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX journey_instance_entered ON journey_instance (workspace, journey, entered_at, id);
CREATE INDEX journey_instance_at ON journey_instance (workspace, journey, node, entered_at, id)
  WHERE status = 'active';
CREATE INDEX journey_instance_contact ON journey_instance (workspace, contact);

CREATE TABLE journey_path (
  workspace BLOB    NOT NULL,
  instance  BLOB    NOT NULL,
  seq       INTEGER NOT NULL,
  moved_at  INTEGER NOT NULL,
  hops      TEXT    NOT NULL,
  omitted   INTEGER NOT NULL,
  messages  TEXT,
  PRIMARY KEY (workspace, instance, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE journey_count (
  workspace BLOB    NOT NULL,
  journey   BLOB    NOT NULL,
  version   INTEGER NOT NULL,
  node      TEXT    NOT NULL,
  way       TEXT    NOT NULL,
  target    TEXT    NOT NULL,
  times     INTEGER NOT NULL,
  PRIMARY KEY (workspace, journey, version, node, way, target)
) STRICT, WITHOUT ROWID;
