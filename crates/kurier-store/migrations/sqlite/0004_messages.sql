CREATE TABLE message (
  workspace    BLOB    NOT NULL,
  contact      BLOB    NOT NULL,
  id           BLOB    NOT NULL,
  journey      BLOB    NOT NULL,
  version      INTEGER NOT NULL,
  instance     BLOB    NOT NULL,
  node         TEXT    NOT NULL,
  channel      TEXT    NOT NULL,
  template     TEXT    NOT NULL,
  priority     INTEGER NOT NULL,
  state        TEXT    NOT NULL,
  sent_by      TEXT,
  requested_at INTEGER NOT NULL,
  changed_at   INTEGER NOT NULL,
  PRIMARY KEY (workspace, contact, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_id ON message (workspace, id);
CREATE INDEX message_instance ON message (workspace, instance);
CREATE INDEX message_recent ON message (workspace, requested_at, id);
