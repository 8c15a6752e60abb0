-- Calls of one process may be under way at the same time, and follow one another without a look at
-- what the process has not been told of yet: its own. So the head of the log says who has written its
-- end, and since where nobody else has.
ALTER TABLE log_head ADD COLUMN pen bigint, ADD COLUMN since bigint NOT NULL DEFAULT 0;
CREATE SEQUENCE log_pen;

-- As before, with one more argument: the pen of who calls, if they know all that they have under way.
-- Who does not say so is looked after as before; so is an older Kurier, which does not know it.
DROP FUNCTION log_append(bigint, bigint, bigint[], uuid[], uuid[], text[], uuid[], smallint[],
                         bigint[], bigint[], text[]);
CREATE FUNCTION log_append(
  known bigint, missed_max bigint, asked bigint[],
  workspaces uuid[], ids uuid[], kinds text[], contacts uuid[], lanes smallint[],
  occurred bigint[], recorded bigint[], payloads text[], own_pen bigint DEFAULT NULL,
  OUT before bigint, OUT repeats bigint[], OUT missed_workspaces uuid[], OUT missed_ids uuid[]
) LANGUAGE plpgsql AS $$
DECLARE
  count bigint := cardinality(ids);
  own_since bigint;
BEGIN
  UPDATE log_head SET position = position + count, pen = own_pen,
    since = CASE WHEN pen = own_pen THEN since ELSE position END
  RETURNING position - count, since INTO before, own_since;
  -- What came behind the known is all from this pen, and nothing of this batch is among it.
  IF known < least(before, own_since) THEN
    IF before - known > missed_max THEN
      RAISE EXCEPTION 'others have appended % events since', before - known USING ERRCODE = 'KU001';
    END IF;
    SELECT array_agg(s.workspace), array_agg(s.id) INTO missed_workspaces, missed_ids
    FROM log_slice(known, before) AS s;
    SELECT array_agg(o) INTO repeats
    FROM unnest(workspaces, ids) WITH ORDINALITY AS t (w, i, o)
    JOIN unnest(missed_workspaces, missed_ids) AS m (w, i) USING (w, i);
  END IF;
  IF cardinality(asked) > 0 THEN
    SELECT repeats || array_agg(o) INTO repeats FROM unnest(asked) AS a (o)
    JOIN log_id l ON l.workspace = workspaces[o] AND l.id = ids[o];
  END IF;
  IF repeats IS NULL THEN
    INSERT INTO log
    SELECT before + o, w, i, k, c, l, oc, re, p
    FROM unnest(workspaces, ids, kinds, contacts, lanes, occurred, recorded, payloads)
      WITH ORDINALITY AS t (w, i, k, c, l, oc, re, p, o);
  ELSE
    SELECT array_agg(DISTINCT o) INTO repeats FROM unnest(repeats) AS r (o);
    UPDATE log_head SET position = before + count - cardinality(repeats);
    INSERT INTO log
    SELECT before + row_number() OVER (ORDER BY o), w, i, k, c, l, oc, re, p
    FROM unnest(workspaces, ids, kinds, contacts, lanes, occurred, recorded, payloads)
      WITH ORDINALITY AS t (w, i, k, c, l, oc, re, p, o)
    WHERE NOT EXISTS (SELECT FROM unnest(repeats) AS r (o) WHERE r.o = t.o);
  END IF;
END $$;

-- As before; but who appends in a transaction of their own has no pen.
CREATE OR REPLACE FUNCTION log_append_within(
  workspaces uuid[], ids uuid[], kinds text[], contacts uuid[], lanes smallint[],
  occurred bigint[], recorded bigint[], payloads text[],
  OUT before bigint, OUT fresh bigint[]
) LANGUAGE plpgsql AS $$
DECLARE
  count bigint;
BEGIN
  BEGIN
    INSERT INTO log_id (workspace, id)
    SELECT w, i FROM unnest(workspaces, ids) AS t (w, i) ORDER BY w, i;
    count := cardinality(ids);
  EXCEPTION WHEN unique_violation THEN
    INSERT INTO log_id (workspace, id)
    SELECT w, i FROM unnest(workspaces, ids) AS t (w, i) ORDER BY w, i
    ON CONFLICT DO NOTHING;
    -- New are those that this very transaction wrote.
    SELECT coalesce(array_agg(o ORDER BY o), '{}') INTO fresh FROM (
      SELECT DISTINCT ON (w, i) o
      FROM unnest(workspaces, ids) WITH ORDINALITY AS t (w, i, o)
      JOIN log_id l ON l.workspace = w AND l.id = i AND l.xmin = pg_current_xact_id()::xid
      ORDER BY w, i, o) AS firsts;
    count := cardinality(fresh);
  END;
  UPDATE log_head SET position = position + count, pen = NULL
  RETURNING position - count INTO before;
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
