CREATE TABLE segment (
  workspace  BLOB    NOT NULL,
  id         BLOB    NOT NULL,
  name       TEXT    NOT NULL,
  expression TEXT,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  size       INTEGER NOT NULL,
  revision   INTEGER NOT NULL,
  PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE member (
  workspace  BLOB    NOT NULL,
  segment    BLOB    NOT NULL,
  contact    BLOB    NOT NULL,
  entered_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, segment, contact)
) STRICT, WITHOUT ROWID;
CREATE INDEX member_contact ON member (workspace, contact);

CREATE TABLE segment_size (
  workspace BLOB    NOT NULL,
  segment   BLOB    NOT NULL,
  hour      INTEGER NOT NULL,
  size      INTEGER NOT NULL,
  PRIMARY KEY (workspace, segment, hour)
) STRICT, WITHOUT ROWID;

-- Who may react to the log: one holder at a time, fenced by a number that grows.
CREATE TABLE lease (
  name   TEXT    PRIMARY KEY,
  holder BLOB    NOT NULL,
  fence  INTEGER NOT NULL,
  until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
