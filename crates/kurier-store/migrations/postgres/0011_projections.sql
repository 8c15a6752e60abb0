-- A projection may be told to rest, and says what stopped it.
ALTER TABLE checkpoint
  ADD COLUMN paused boolean NOT NULL DEFAULT false,
  ADD COLUMN failure text,
  ADD COLUMN failed_at bigint;

-- Which events a projection that counts has counted.
CREATE TABLE processed_events (
  projection text NOT NULL,
  workspace  uuid NOT NULL,
  event      uuid NOT NULL,
  PRIMARY KEY (projection, workspace, event)
);

CREATE TABLE daily_count (
  workspace uuid   NOT NULL,
  day       bigint NOT NULL,
  kind      text   NOT NULL,
  channel   text   NOT NULL,
  times     bigint NOT NULL,
  revision  bigint NOT NULL,
  PRIMARY KEY (workspace, day, kind, channel)
) WITH (fillfactor = 80);

CREATE TABLE channel_health (
  workspace      uuid   NOT NULL,
  channel        text   NOT NULL,
  sent           bigint NOT NULL,
  retried        bigint NOT NULL,
  failed         bigint NOT NULL,
  skipped        bigint NOT NULL,
  unknown        bigint NOT NULL,
  failing        bigint NOT NULL,
  last_sent_at   bigint,
  last_failed_at bigint,
  PRIMARY KEY (workspace, channel)
) WITH (fillfactor = 80);

CREATE TABLE audit (
  workspace uuid   NOT NULL,
  position  bigint NOT NULL,
  at        bigint NOT NULL,
  kind      text   NOT NULL,
  subject   text,
  operator  text,
  PRIMARY KEY (workspace, position)
);
