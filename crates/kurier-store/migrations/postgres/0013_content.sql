CREATE TABLE content_document (
  workspace   uuid   NOT NULL,
  id          uuid   NOT NULL,
  source_id   text   NOT NULL,
  key         text   NOT NULL,
  title       text   NOT NULL,
  nodes       bigint NOT NULL,
  sha256      text   NOT NULL,
  settings    text   NOT NULL,
  collections text   NOT NULL,
  import      bigint NOT NULL,
  changed_at  bigint NOT NULL,
  revision    bigint NOT NULL,
  PRIMARY KEY (workspace, id)
);

CREATE TABLE content_body (
  workspace uuid NOT NULL,
  id        uuid NOT NULL,
  body      text NOT NULL,
  PRIMARY KEY (workspace, id)
);

CREATE TABLE content_node (
  workspace uuid NOT NULL,
  key       text NOT NULL,
  document  uuid NOT NULL,
  gone_at   bigint,
  gone_by   bigint,
  PRIMARY KEY (workspace, key)
);

CREATE TABLE content_counter (
  workspace  uuid   NOT NULL,
  node_type  text   NOT NULL,
  identifier text   NOT NULL,
  used       bigint NOT NULL,
  PRIMARY KEY (workspace, node_type, identifier)
);

CREATE TABLE content_import (
  workspace uuid   NOT NULL,
  number    bigint NOT NULL,
  at        bigint NOT NULL,
  operator  text,
  documents bigint NOT NULL,
  given     bigint NOT NULL,
  gone      bigint NOT NULL,
  PRIMARY KEY (workspace, number)
);

CREATE TABLE content_state (
  workspace uuid   NOT NULL,
  imports   bigint NOT NULL,
  PRIMARY KEY (workspace)
);
