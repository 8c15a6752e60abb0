CREATE TABLE message (
  workspace    uuid   NOT NULL,
  contact      uuid   NOT NULL,
  id           uuid   NOT NULL,
  journey      uuid   NOT NULL,
  version      bigint NOT NULL,
  instance     uuid   NOT NULL,
  node         text   NOT NULL,
  channel      text   NOT NULL,
  template     text   NOT NULL,
  priority     bigint NOT NULL,
  state        text   NOT NULL,
  sent_by      text,
  requested_at bigint NOT NULL,
  changed_at   bigint NOT NULL,
  PRIMARY KEY (workspace, contact, id)
);
CREATE INDEX message_id ON message (workspace, id);
CREATE INDEX message_instance ON message (workspace, instance);
CREATE INDEX message_recent ON message (workspace, requested_at, id);
