CREATE TABLE content_document (
  workspace   BLOB    NOT NULL,
  id          BLOB    NOT NULL,
  source_id   TEXT    NOT NULL,
  key         TEXT    NOT NULL,
  title       TEXT    NOT NULL,
  nodes       INTEGER NOT NULL,
  sha256      TEXT    NOT NULL,
  settings    TEXT    NOT NULL,
  collections TEXT    NOT NULL,
  import      INTEGER NOT NULL,
  changed_at  INTEGER NOT NULL,
  revision    INTEGER NOT NULL,
  PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

-- A document may be large: rows that are stored by their key are to be small.
CREATE TABLE content_body (
  workspace BLOB NOT NULL,
  id        BLOB NOT NULL,
  body      TEXT NOT NULL,
  PRIMARY KEY (workspace, id)
) STRICT;

CREATE TABLE content_node (
  workspace BLOB NOT NULL,
  key       TEXT NOT NULL,
  document  BLOB NOT NULL,
  gone_at   INTEGER,
  gone_by   INTEGER,
  PRIMARY KEY (workspace, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE content_counter (
  workspace  BLOB    NOT NULL,
  node_type  TEXT    NOT NULL,
  identifier TEXT    NOT NULL,
  used       INTEGER NOT NULL,
  PRIMARY KEY (workspace, node_type, identifier)
) STRICT, WITHOUT ROWID;

CREATE TABLE content_import (
  workspace BLOB    NOT NULL,
  number    INTEGER NOT NULL,
  at        INTEGER NOT NULL,
  operator  TEXT,
  documents INTEGER NOT NULL,
  given     INTEGER NOT NULL,
  gone      INTEGER NOT NULL,
  PRIMARY KEY (workspace, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE content_state (
  workspace BLOB    NOT NULL,
  imports   INTEGER NOT NULL,
  PRIMARY KEY (workspace)
) STRICT, WITHOUT ROWID;
