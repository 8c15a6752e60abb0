CREATE TABLE journey (
  workspace  uuid   NOT NULL,
  id         uuid   NOT NULL,
  name       text   NOT NULL,
  draft      text,
  version    bigint,
  standing   text   NOT NULL,
  segments   text,
  created_at bigint NOT NULL,
  changed_at bigint NOT NULL,
  PRIMARY KEY (workspace, id)
);

CREATE TABLE journey_version (
  workspace    uuid   NOT NULL,
  journey      uuid   NOT NULL,
  version      bigint NOT NULL,
  definition   text   NOT NULL,
  published_at bigint NOT NULL,
  PRIMARY KEY (workspace, journey, version)
);

CREATE TABLE journey_instance (
  workspace    uuid   NOT NULL,
  id           uuid   NOT NULL,
  journey      uuid   NOT NULL,
  version      bigint NOT NULL,
  contact      uuid,
  run_key      text,
  begun_by     uuid,
  status       text   NOT NULL,
  ending       text,
  node         text   NOT NULL,
  held         bigint NOT NULL,
  awaits       text,
  wake         bigint,
  seq          bigint NOT NULL,
  steps        bigint NOT NULL,
  entered_at   bigint NOT NULL,
  moved_at     bigint NOT NULL,
  ended_at     bigint,
  message      uuid,
  message_node text,
  state        text,
  PRIMARY KEY (workspace, id)
) WITH (fillfactor = 80);
CREATE INDEX journey_instance_entered ON journey_instance (workspace, journey, entered_at, id);
CREATE INDEX journey_instance_at ON journey_instance (workspace, journey, node, entered_at, id)
  WHERE status = 'active';
CREATE INDEX journey_instance_contact ON journey_instance (workspace, contact);

CREATE TABLE journey_path (
  workspace uuid   NOT NULL,
  instance  uuid   NOT NULL,
  seq       bigint NOT NULL,
  moved_at  bigint NOT NULL,
  hops      text   NOT NULL,
  omitted   bigint NOT NULL,
  messages  text,
  PRIMARY KEY (workspace, instance, seq)
);

CREATE TABLE journey_count (
  workspace uuid   NOT NULL,
  journey   uuid   NOT NULL,
  version   bigint NOT NULL,
  node      text   NOT NULL,
  way       text   NOT NULL,
  target    text   NOT NULL,
  times     bigint NOT NULL,
  PRIMARY KEY (workspace, journey, version, node, way, target)
) WITH (fillfactor = 80);
