CREATE TABLE slack_workspace (
  workspace       uuid   NOT NULL,
  id              uuid   NOT NULL,
  name            text   NOT NULL,
  category        text,
  default_channel text,
  secrets         text   NOT NULL,
  sealed          text,
  created_at      bigint NOT NULL,
  changed_at      bigint NOT NULL,
  archived_at     bigint,
  revision        bigint NOT NULL,
  PRIMARY KEY (workspace, id)
);
