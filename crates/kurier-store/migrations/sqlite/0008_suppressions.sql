-- Who is kept from what. Written with the event that says so, since it must hold at once.
-- The topic is '' for everything, '*' for every topic, or one topic.
-- The key is a keyed hash: it stays when the contact is erased, and the address goes.
CREATE TABLE suppression (
  workspace   BLOB    NOT NULL,
  address_key BLOB    NOT NULL,
  topic       TEXT    NOT NULL,
  kind        TEXT    NOT NULL,
  address     TEXT,
  contact     BLOB,
  reason      TEXT    NOT NULL,
  source      TEXT    NOT NULL,
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (workspace, address_key, topic)
) STRICT, WITHOUT ROWID;
CREATE INDEX suppression_recent ON suppression (workspace, created_at, address_key, topic);
