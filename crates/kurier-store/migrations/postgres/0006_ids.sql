-- As before, but ids are brought in plainly first: ON CONFLICT looks into the index twice, and
-- repeats are rare. Only where there is one, the insert is undone and done again with care.
CREATE OR REPLACE FUNCTION log_append(
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
