-- How channels are set up. A row is written with the event that says so; revision is that
-- event's position. Secrets are sealed before they come here.
CREATE TABLE channel (
  workspace  uuid   NOT NULL REFERENCES workspace (id),
  name       text   NOT NULL,
  settings   text   NOT NULL,
  secrets    bytea,
  revision   bigint NOT NULL,
  changed_at bigint NOT NULL,
  PRIMARY KEY (workspace, name)
);
