-- The ids of the log, for dropping repeats. No index of the log: it takes ids in later and many
-- at once, up to its checkpoint.
DROP INDEX log_id;
CREATE TABLE log_id (
  workspace BLOB NOT NULL,
  id        BLOB NOT NULL,
  PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;
INSERT INTO log_id SELECT workspace, id FROM log ORDER BY workspace, id;
INSERT INTO checkpoint SELECT 'log_id', coalesce(max(position), 0) FROM log;
