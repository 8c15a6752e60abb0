CREATE TABLE template (
  workspace  uuid   NOT NULL,
  id         uuid   NOT NULL,
  name       text   NOT NULL,
  version    bigint NOT NULL,
  topic      text,
  hash       text   NOT NULL,
  reads      text   NOT NULL,
  created_at bigint NOT NULL,
  changed_at bigint NOT NULL,
  retired_at bigint,
  PRIMARY KEY (workspace, id)
);

CREATE TABLE template_version (
  workspace    uuid   NOT NULL,
  template     uuid   NOT NULL,
  version      bigint NOT NULL,
  document     text   NOT NULL,
  hash         text   NOT NULL,
  published_at bigint NOT NULL,
  PRIMARY KEY (workspace, template, version)
);
