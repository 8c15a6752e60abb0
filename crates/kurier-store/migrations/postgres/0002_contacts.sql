CREATE TABLE contact (
  workspace    uuid NOT NULL,
  id           uuid NOT NULL,
  standing     text NOT NULL,
  merged_into  uuid,
  user_id      text,
  email        text,
  phone        text,
  attributes   jsonb,
  identifiers  jsonb,
  created_at   bigint,
  updated_at   bigint,
  last_seen_at bigint,
  event_count  bigint,
  erased_at    bigint,
  revision     bigint,
  PRIMARY KEY (workspace, id)
) WITH (fillfactor = 80);
CREATE INDEX contact_created ON contact (workspace, created_at, id) WHERE standing = 'live';
CREATE INDEX contact_email ON contact (workspace, email text_pattern_ops) WHERE email IS NOT NULL;
CREATE INDEX contact_user ON contact (workspace, user_id text_pattern_ops) WHERE user_id IS NOT NULL;

CREATE TABLE timeline (
  workspace   uuid   NOT NULL,
  contact     uuid   NOT NULL,
  occurred_at bigint NOT NULL,
  position    bigint NOT NULL,
  recorded_at bigint NOT NULL,
  kind        text   NOT NULL,
  title       text,
  PRIMARY KEY (workspace, contact, occurred_at, position)
);

CREATE TABLE erasure (
  workspace uuid   NOT NULL,
  address   uuid   NOT NULL,
  erased_at bigint NOT NULL,
  PRIMARY KEY (workspace, address)
);
