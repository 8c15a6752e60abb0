CREATE TABLE published_version (
  workspace      BLOB    NOT NULL,
  id             TEXT    NOT NULL,
  kind           TEXT    NOT NULL,
  name           TEXT    NOT NULL,
  content_sha256 TEXT    NOT NULL,
  parents        TEXT    NOT NULL,
  anchor         TEXT    NOT NULL,
  published_at   INTEGER NOT NULL,
  changed_at     INTEGER NOT NULL,
  revision       INTEGER NOT NULL,
  PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX published_version_newest ON published_version (workspace, published_at, id);
CREATE INDEX published_version_changed ON published_version (revision);

CREATE TABLE published_head (
  workspace BLOB NOT NULL,
  kind      TEXT NOT NULL,
  name      TEXT NOT NULL,
  version   TEXT NOT NULL,
  PRIMARY KEY (workspace, kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE version_proof (
  workspace   BLOB    NOT NULL,
  version     TEXT    NOT NULL,
  proof       TEXT    NOT NULL,
  commitment  TEXT    NOT NULL,
  tx          TEXT    NOT NULL,
  bump        TEXT,
  header      TEXT,
  attached_at INTEGER NOT NULL,
  revision    INTEGER NOT NULL,
  PRIMARY KEY (workspace, version, proof)
) STRICT, WITHOUT ROWID;

-- What verifications of bundles found; how many confirmations there were is not kept.
CREATE TABLE bundle_audit (
  workspace    BLOB    NOT NULL,
  version_id   TEXT    NOT NULL,
  number       INTEGER NOT NULL,
  verdict      TEXT    NOT NULL,
  block_hash   TEXT,
  block_height INTEGER,
  proof_sha256 TEXT,
  tip_hash     TEXT,
  tip_height   INTEGER,
  reorg_flag   INTEGER NOT NULL,
  verified_at  INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  PRIMARY KEY (workspace, version_id, number)
) STRICT, WITHOUT ROWID;
