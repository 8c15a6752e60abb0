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

CREATE TABLE audit (
  workspace BLOB    NOT NULL,
  position  INTEGER NOT NULL,
  at        INTEGER NOT NULL,
  kind      TEXT    NOT NULL,
  subject   TEXT,
  operator  TEXT,
  PRIMARY KEY (workspace, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE bundle_audit (
  workspace    BLOB    NOT NULL,
  version_id   TEXT    NOT NULL,
  number       INTEGER NOT NULL,
  verdict      TEXT    NOT NULL,
  block_hash   TEXT,
  block_height INTEGER,
  proof_sha256 TEXT,
  tip_hash     TEXT,
  tip_height   INTEGER,
  reorg_flag   INTEGER NOT NULL,
  verified_at  INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  PRIMARY KEY (workspace, version_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE channel (
  workspace  BLOB    NOT NULL REFERENCES workspace (id),
  name       TEXT    NOT NULL,
  settings   TEXT    NOT NULL,
  secrets    BLOB,
  revision   INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE channel_health (
  workspace      BLOB    NOT NULL,
  channel        TEXT    NOT NULL,
  sent           INTEGER NOT NULL,
  retried        INTEGER NOT NULL,
  failed         INTEGER NOT NULL,
  skipped        INTEGER NOT NULL,
  unknown        INTEGER NOT NULL,
  failing        INTEGER NOT NULL,
  last_sent_at   INTEGER,
  last_failed_at INTEGER,
  PRIMARY KEY (workspace, channel)
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoint (
  name     TEXT    PRIMARY KEY,
  position INTEGER NOT NULL
, paused INTEGER NOT NULL DEFAULT 0, failure TEXT, failed_at INTEGER, last_failure TEXT, last_failed_at INTEGER) STRICT, WITHOUT ROWID;

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

CREATE TABLE contact_window (
  workspace BLOB    NOT NULL,
  channel   TEXT    NOT NULL,
  recipient BLOB    NOT NULL,
  since     INTEGER NOT NULL,
  count     INTEGER NOT NULL,
  PRIMARY KEY (workspace, channel, recipient)
) STRICT, WITHOUT ROWID;

CREATE TABLE content_body (
  workspace BLOB NOT NULL,
  id        BLOB NOT NULL,
  body      TEXT NOT NULL,
  PRIMARY KEY (workspace, id)
) STRICT;

CREATE TABLE content_counter (
  workspace  BLOB    NOT NULL,
  node_type  TEXT    NOT NULL,
  identifier TEXT    NOT NULL,
  used       INTEGER NOT NULL,
  PRIMARY KEY (workspace, node_type, identifier)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE content_node (
  workspace BLOB NOT NULL,
  key       TEXT NOT NULL,
  document  BLOB NOT NULL,
  gone_at   INTEGER,
  gone_by   INTEGER,
  PRIMARY KEY (workspace, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE content_state (
  workspace BLOB    NOT NULL,
  imports   INTEGER NOT NULL,
  PRIMARY KEY (workspace)
) STRICT, WITHOUT ROWID;

CREATE TABLE daily_count (
  workspace BLOB    NOT NULL,
  day       INTEGER NOT NULL,
  kind      TEXT    NOT NULL,
  channel   TEXT    NOT NULL,
  times     INTEGER NOT NULL,
  revision  INTEGER NOT NULL,
  PRIMARY KEY (workspace, day, kind, channel)
) STRICT, WITHOUT ROWID;

CREATE TABLE erasure (
  workspace BLOB    NOT NULL,
  address   BLOB    NOT NULL,
  erased_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, address)
) STRICT, WITHOUT ROWID;

CREATE TABLE gate (
  workspace BLOB NOT NULL,
  channel   TEXT NOT NULL,
  state     TEXT NOT NULL,
  PRIMARY KEY (workspace, channel)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
  workspace   BLOB    NOT NULL,
  key         TEXT    NOT NULL,
  fingerprint BLOB    NOT NULL,
  message     BLOB    NOT NULL,
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (workspace, key)
) STRICT, WITHOUT ROWID;

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

CREATE INDEX journey_instance_at ON journey_instance (workspace, journey, node, entered_at, id)
  WHERE status = 'active';

CREATE INDEX journey_instance_contact ON journey_instance (workspace, contact);

CREATE INDEX journey_instance_entered ON journey_instance (workspace, journey, entered_at, id);

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

CREATE TABLE journey_version (
  workspace    BLOB    NOT NULL,
  journey      BLOB    NOT NULL,
  version      INTEGER NOT NULL,
  definition   TEXT    NOT NULL,
  published_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, journey, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE lease (
  name   TEXT    PRIMARY KEY,
  holder BLOB    NOT NULL,
  fence  INTEGER NOT NULL,
  until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

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

CREATE TABLE log_id (
  workspace BLOB NOT NULL,
  id        BLOB NOT NULL,
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

CREATE INDEX message_ended ON message (workspace, requested_at, id)
  WHERE state IN ('failed', 'skipped', 'unknown') AND discarded = 0;

CREATE INDEX message_id ON message (workspace, id);

CREATE INDEX message_instance ON message (workspace, instance) WHERE instance IS NOT NULL;

CREATE INDEX message_recent ON message (workspace, requested_at, id);

CREATE TABLE poison (
  projection TEXT    NOT NULL,
  position   INTEGER NOT NULL,
  reason     TEXT    NOT NULL,
  PRIMARY KEY (projection, position)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE processed_events (
  projection TEXT NOT NULL,
  workspace  BLOB NOT NULL,
  event      BLOB NOT NULL,
  PRIMARY KEY (projection, workspace, event)
) STRICT, WITHOUT ROWID;

CREATE TABLE published_head (
  workspace BLOB NOT NULL,
  kind      TEXT NOT NULL,
  name      TEXT NOT NULL,
  version   TEXT NOT NULL,
  PRIMARY KEY (workspace, kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE published_version (
  workspace      BLOB    NOT NULL,
  id             TEXT    NOT NULL,
  kind           TEXT    NOT NULL,
  name           TEXT    NOT NULL,
  content_sha256 TEXT    NOT NULL,
  parents        TEXT    NOT NULL,
  anchor         TEXT    NOT NULL,
  published_at   INTEGER NOT NULL,
  changed_at     INTEGER NOT NULL,
  revision       INTEGER NOT NULL,
  PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX published_version_changed ON published_version (revision);

CREATE INDEX published_version_newest ON published_version (workspace, published_at, id);

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
  payload     TEXT    NOT NULL, stage INTEGER NOT NULL DEFAULT 1, rank INTEGER NOT NULL DEFAULT 0, before INTEGER NOT NULL DEFAULT 0, told INTEGER NOT NULL DEFAULT 0, interrupted INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX queue_claimed ON queue (lease_until) WHERE stage = 2;

CREATE INDEX queue_ready ON queue (workspace, channel, rank) WHERE stage = 0;

CREATE INDEX queue_waiting ON queue (due_at) WHERE stage = 1;

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

CREATE TABLE segment_size (
  workspace BLOB    NOT NULL,
  segment   BLOB    NOT NULL,
  hour      INTEGER NOT NULL,
  size      INTEGER NOT NULL,
  PRIMARY KEY (workspace, segment, hour)
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
  hash       BLOB    PRIMARY KEY,
  workspace  BLOB    NOT NULL,
  user       BLOB    NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX session_expires ON session (expires_at);

CREATE INDEX session_of_user ON session (workspace, user);

CREATE TABLE slack_workspace (
  workspace       BLOB    NOT NULL,
  id              BLOB    NOT NULL,
  name            TEXT    NOT NULL,
  category        TEXT,
  default_channel TEXT,
  secrets         TEXT    NOT NULL,
  sealed          TEXT,
  created_at      INTEGER NOT NULL,
  changed_at      INTEGER NOT NULL,
  archived_at     INTEGER,
  revision        INTEGER NOT NULL,
  PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE template (
  workspace  BLOB    NOT NULL,
  id         BLOB    NOT NULL,
  name       TEXT    NOT NULL,
  version    INTEGER NOT NULL,
  topic      TEXT,
  hash       TEXT    NOT NULL,
  reads      TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  retired_at INTEGER,
  PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE template_version (
  workspace    BLOB    NOT NULL,
  template     BLOB    NOT NULL,
  version      INTEGER NOT NULL,
  document     TEXT    NOT NULL,
  hash         TEXT    NOT NULL,
  published_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, template, version)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE version_proof (
  workspace   BLOB    NOT NULL,
  version     TEXT    NOT NULL,
  proof       TEXT    NOT NULL,
  commitment  TEXT    NOT NULL,
  tx          TEXT    NOT NULL,
  bump        TEXT,
  header      TEXT,
  attached_at INTEGER NOT NULL,
  revision    INTEGER NOT NULL,
  PRIMARY KEY (workspace, version, proof)
) STRICT, WITHOUT ROWID;

CREATE TABLE workspace (
  id         BLOB    PRIMARY KEY,
  name       TEXT    NOT NULL UNIQUE,
  secret     BLOB    NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
