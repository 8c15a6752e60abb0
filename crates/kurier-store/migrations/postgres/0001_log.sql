-- The log, a partition a month by our own clock. Client clocks would make partitions for ever.
CREATE TABLE log (
  position    bigint   NOT NULL,
  workspace   uuid     NOT NULL,
  id          uuid     NOT NULL,
  kind        text     NOT NULL,
  contact     uuid,
  lane        smallint NOT NULL,
  occurred_at bigint   NOT NULL,
  recorded_at bigint   NOT NULL,
  payload     text     NOT NULL,
  PRIMARY KEY (position, recorded_at)
) PARTITION BY RANGE (recorded_at);

-- Old months move here whole: out of the way of the log, still there for a rebuild.
CREATE TABLE log_archive (LIKE log INCLUDING ALL) PARTITION BY RANGE (recorded_at);

-- A partition's unique index cannot see the other months, so ids are kept beside the log.
CREATE TABLE log_id (
  workspace uuid NOT NULL,
  id        uuid NOT NULL,
  PRIMARY KEY (workspace, id)
);

-- One row. Whoever appends holds it until the commit: positions are gapless and in commit order.
CREATE TABLE log_head (
  one      boolean PRIMARY KEY DEFAULT true CHECK (one),
  position bigint  NOT NULL
) WITH (fillfactor = 10);
INSERT INTO log_head (position) VALUES (0);

-- Appends a batch in one round trip and answers the position before it and, unless all were
-- new, the ordinals (from 1) of those that were. Ids go first and in order, so that appenders
-- wait for each other at the head only, and never in a circle.
CREATE FUNCTION log_append(
  workspaces uuid[], ids uuid[], kinds text[], contacts uuid[], lanes smallint[],
  occurred bigint[], recorded bigint[], payloads text[],
  OUT before bigint, OUT fresh bigint[]
) LANGUAGE plpgsql AS $$
DECLARE
  count bigint;
BEGIN
  INSERT INTO log_id (workspace, id)
  SELECT w, i FROM unnest(workspaces, ids) AS t (w, i) ORDER BY w, i
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS count = ROW_COUNT;
  IF count < cardinality(ids) THEN
    -- Some were there before: new are those that this very transaction wrote.
    SELECT coalesce(array_agg(o ORDER BY o), '{}') INTO fresh FROM (
      SELECT DISTINCT ON (w, i) o
      FROM unnest(workspaces, ids) WITH ORDINALITY AS t (w, i, o)
      JOIN log_id l ON l.workspace = w AND l.id = i AND l.xmin = pg_current_xact_id()::xid
      ORDER BY w, i, o) AS firsts;
    count := cardinality(fresh);
  END IF;
  UPDATE log_head SET position = position + count RETURNING position - count INTO before;
  IF fresh IS NULL THEN
    INSERT INTO log
    SELECT before + o, w, i, k, c, l, oc, re, p
    FROM unnest(workspaces, ids, kinds, contacts, lanes, occurred, recorded, payloads)
      WITH ORDINALITY AS t (w, i, k, c, l, oc, re, p, o);
  ELSE
    INSERT INTO log
    SELECT before + n, workspaces[o], ids[o], kinds[o], contacts[o], lanes[o],
      occurred[o], recorded[o], payloads[o]
    FROM unnest(fresh) WITH ORDINALITY AS t (o, n);
  END IF;
END $$;

CREATE TABLE checkpoint (
  name     text   PRIMARY KEY,
  position bigint NOT NULL
) WITH (fillfactor = 50);

-- Events a projection could not fold, set aside with the reason.
CREATE TABLE poison (
  projection text   NOT NULL,
  position   bigint NOT NULL,
  reason     text   NOT NULL,
  PRIMARY KEY (projection, position)
);

CREATE TABLE workspace (
  id         uuid   PRIMARY KEY,
  name       text   NOT NULL UNIQUE,
  secret     bytea  NOT NULL,
  created_at bigint NOT NULL
);

-- Keys are found by hash before their workspace is known, hence the one global unique index.
CREATE TABLE api_key (
  workspace  uuid   NOT NULL REFERENCES workspace (id),
  id         uuid   NOT NULL,
  name       text   NOT NULL,
  hash       bytea  NOT NULL UNIQUE,
  scopes     text   NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  PRIMARY KEY (workspace, id)
);

CREATE TABLE queue (
  workspace   uuid     NOT NULL,
  id          uuid     NOT NULL,
  contact     uuid,
  channel     text     NOT NULL,
  priority    smallint NOT NULL,
  due_at      bigint   NOT NULL,
  lease_until bigint,
  fence       bigint   NOT NULL,
  attempts    int      NOT NULL,
  payload     text     NOT NULL,
  PRIMARY KEY (workspace, id)
);
CREATE INDEX queue_due ON queue (priority DESC, due_at);
CREATE INDEX queue_contact ON queue (workspace, contact);
