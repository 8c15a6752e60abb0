-- Who signs in. E-mail addresses are found before their workspace is known, hence one index over all.
CREATE TABLE portal_user (
  workspace  BLOB    NOT NULL REFERENCES workspace (id),
  id         BLOB    NOT NULL,
  email      TEXT    NOT NULL UNIQUE,
  name       TEXT    NOT NULL,
  role       TEXT    NOT NULL,
  password   TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

-- Who is signed in, by the hash of what their cookie holds.
CREATE TABLE session (
  hash       BLOB    PRIMARY KEY,
  workspace  BLOB    NOT NULL,
  user       BLOB    NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_of_user ON session (workspace, user);
CREATE INDEX session_expires ON session (expires_at);
