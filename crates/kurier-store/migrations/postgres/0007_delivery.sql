-- The ledger is folded again from the log.
DROP TABLE message;
DELETE FROM checkpoint WHERE name = 'messages';
CREATE TABLE message (
  workspace    uuid     NOT NULL,
  contact      uuid     NOT NULL,
  id           uuid     NOT NULL,
  journey      uuid,
  version      bigint,
  instance     uuid,
  node         text,
  channel      text     NOT NULL,
  template     text,
  topic        text,
  address      text,
  priority     bigint   NOT NULL,
  state        text     NOT NULL,
  reason       text,
  code         text,
  discarded    bigint   NOT NULL,
  attempts     bigint   NOT NULL,
  standing     text     NOT NULL,
  request      text     NOT NULL,
  requested_at bigint   NOT NULL,
  changed_at   bigint   NOT NULL,
  PRIMARY KEY (workspace, contact, id)
);
CREATE INDEX message_id ON message (workspace, id);
CREATE INDEX message_instance ON message (workspace, instance) WHERE instance IS NOT NULL;
CREATE INDEX message_recent ON message (workspace, requested_at, id);
CREATE INDEX message_ended ON message (workspace, requested_at, id)
  WHERE state IN ('failed', 'skipped', 'unknown') AND discarded = 0;

DROP INDEX queue_due;
DROP INDEX queue_contact;
ALTER TABLE queue
  ADD COLUMN stage smallint NOT NULL DEFAULT 1,
  ADD COLUMN rank bigint NOT NULL DEFAULT 0,
  ADD COLUMN before int NOT NULL DEFAULT 0,
  ADD COLUMN told boolean NOT NULL DEFAULT false,
  ADD COLUMN interrupted boolean NOT NULL DEFAULT false;
UPDATE queue SET rank = due_at - priority::bigint * 60000000, lease_until = NULL;
CREATE INDEX queue_ready ON queue (workspace, channel, rank) WHERE stage = 0;
CREATE INDEX queue_waiting ON queue (due_at) WHERE stage = 1;
CREATE INDEX queue_claimed ON queue (lease_until) WHERE stage = 2;

CREATE TABLE gate (
  workspace uuid NOT NULL,
  channel   text NOT NULL,
  state     text NOT NULL,
  PRIMARY KEY (workspace, channel)
);

CREATE TABLE contact_window (
  workspace uuid   NOT NULL,
  channel   text   NOT NULL,
  recipient uuid   NOT NULL,
  since     bigint NOT NULL,
  count     int    NOT NULL,
  PRIMARY KEY (workspace, channel, recipient)
);

CREATE TABLE idempotency (
  workspace   uuid   NOT NULL,
  key         text   NOT NULL,
  fingerprint bytea  NOT NULL,
  message     uuid   NOT NULL,
  created_at  bigint NOT NULL,
  PRIMARY KEY (workspace, key)
);
