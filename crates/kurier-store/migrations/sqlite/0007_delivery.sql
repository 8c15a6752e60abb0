-- The ledger is folded again from the log.
DROP TABLE message;
DELETE FROM checkpoint WHERE name = 'messages';
CREATE TABLE message (
  workspace    BLOB    NOT NULL,
  contact      BLOB    NOT NULL,
  id           BLOB    NOT NULL,
  journey      BLOB,
  version      INTEGER,
  instance     BLOB,
  node         TEXT,
  channel      TEXT    NOT NULL,
  template     TEXT,
  topic        TEXT,
  address      TEXT,
  priority     INTEGER NOT NULL,
  state        TEXT    NOT NULL,
  reason       TEXT,
  code         TEXT,
  discarded    INTEGER NOT NULL,
  attempts     INTEGER NOT NULL,
  standing     TEXT    NOT NULL,
  request      TEXT    NOT NULL,
  requested_at INTEGER NOT NULL,
  changed_at   INTEGER NOT NULL,
  PRIMARY KEY (workspace, contact, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_id ON message (workspace, id);
CREATE INDEX message_instance ON message (workspace, instance) WHERE instance IS NOT NULL;
CREATE INDEX message_recent ON message (workspace, requested_at, id);
CREATE INDEX message_ended ON message (workspace, requested_at, id)
  WHERE state IN ('failed', 'skipped', 'unknown') AND discarded = 0;

DROP INDEX queue_due;
DROP INDEX queue_contact;
ALTER TABLE queue ADD COLUMN stage INTEGER NOT NULL DEFAULT 1;
ALTER TABLE queue ADD COLUMN rank INTEGER NOT NULL DEFAULT 0;
ALTER TABLE queue ADD COLUMN before INTEGER NOT NULL DEFAULT 0;
ALTER TABLE queue ADD COLUMN told INTEGER NOT NULL DEFAULT 0;
ALTER TABLE queue ADD COLUMN interrupted INTEGER NOT NULL DEFAULT 0;
UPDATE queue SET rank = due_at - priority * 60000000, lease_until = NULL;
CREATE INDEX queue_ready ON queue (workspace, channel, rank) WHERE stage = 0;
CREATE INDEX queue_waiting ON queue (due_at) WHERE stage = 1;
CREATE INDEX queue_claimed ON queue (lease_until) WHERE stage = 2;

CREATE TABLE gate (
  workspace BLOB NOT NULL,
  channel   TEXT NOT NULL,
  state     TEXT NOT NULL,
  PRIMARY KEY (workspace, channel)
) STRICT, WITHOUT ROWID;

CREATE TABLE contact_window (
  workspace BLOB    NOT NULL,
  channel   TEXT    NOT NULL,
  recipient BLOB    NOT NULL,
  since     INTEGER NOT NULL,
  count     INTEGER NOT NULL,
  PRIMARY KEY (workspace, channel, recipient)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
  workspace   BLOB    NOT NULL,
  key         TEXT    NOT NULL,
  fingerprint BLOB    NOT NULL,
  message     BLOB    NOT NULL,
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (workspace, key)
) STRICT, WITHOUT ROWID;
