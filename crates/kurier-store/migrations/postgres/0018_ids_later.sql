-- The index of ids (log_id) follows the log: up to this checkpoint it has them all.
INSERT INTO checkpoint (name, position) SELECT 'log_id', position FROM log_head;

-- Who appends within a transaction of its own makes ids that nobody else makes, and has them indexed
-- at once. The name is new so that an older Kurier, which would index nothing later and look for
-- repeats in the index alone, appends nothing more.
ALTER FUNCTION log_append(uuid[], uuid[], text[], uuid[], smallint[], bigint[], bigint[], text[])
  RENAME TO log_append_within;

-- A part of the log, wherever its months are.
CREATE FUNCTION log_slice(after bigint, upto bigint)
RETURNS TABLE (workspace uuid, id uuid, kind text) LANGUAGE sql STABLE AS $$
  SELECT workspace, id, kind FROM log_archive WHERE position > after AND position <= upto
  UNION ALL
  SELECT workspace, id, kind FROM log WHERE position > after AND position <= upto
$$;

-- Appends a batch in one round trip, and answers the position before it and the ordinals (from 1) of
-- repeats. The caller says up to where it knows all ids, and which ordinals it cannot say are new:
-- only those are looked for in the index. What others have appended since is looked through here, and
-- told.
CREATE FUNCTION log_append(
  known bigint, missed_max bigint, asked bigint[],
  workspaces uuid[], ids uuid[], kinds text[], contacts uuid[], lanes smallint[],
  occurred bigint[], recorded bigint[], payloads text[],
  OUT before bigint, OUT repeats bigint[], OUT missed_workspaces uuid[], OUT missed_ids uuid[]
) LANGUAGE plpgsql AS $$
DECLARE
  count bigint := cardinality(ids);
BEGIN
  UPDATE log_head SET position = position + count RETURNING position - count INTO before;
  IF before - known > missed_max THEN
    RAISE EXCEPTION 'others have appended % events since', before - known USING ERRCODE = 'KU001';
  ELSIF before > known THEN
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

-- Has the index follow by a slice, in its own order: neighbours share pages. Answers how far it has
-- come. The row of the checkpoint keeps two from doing the same. What clients send is not there yet,
-- and ON CONFLICT looks into the index twice; if it is there all the same, it is done again with care.
CREATE FUNCTION log_index(slice bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  sent constant text[] := '{identify,track,page,screen,group,alias}';
  indexed bigint;
  target bigint;
BEGIN
  SELECT position INTO indexed FROM checkpoint WHERE name = 'log_id' FOR UPDATE;
  SELECT least(indexed + slice, position) INTO target FROM log_head;
  BEGIN
    INSERT INTO log_id (workspace, id)
    SELECT s.workspace, s.id FROM log_slice(indexed, target) AS s
    WHERE s.kind = ANY (sent) ORDER BY 1, 2;
    INSERT INTO log_id (workspace, id)
    SELECT s.workspace, s.id FROM log_slice(indexed, target) AS s
    WHERE s.kind <> ALL (sent) ORDER BY 1, 2 ON CONFLICT DO NOTHING;
  EXCEPTION WHEN unique_violation THEN
    INSERT INTO log_id (workspace, id)
    SELECT s.workspace, s.id FROM log_slice(indexed, target) AS s
    ORDER BY 1, 2 ON CONFLICT DO NOTHING;
  END;
  UPDATE checkpoint SET position = target WHERE name = 'log_id';
  RETURN target;
END $$;
