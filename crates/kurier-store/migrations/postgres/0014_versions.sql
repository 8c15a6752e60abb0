CREATE TABLE published_version (
  workspace      uuid   NOT NULL,
  id             text   NOT NULL,
  kind           text   NOT NULL,
  name           text   NOT NULL,
  content_sha256 text   NOT NULL,
  parents        text   NOT NULL,
  anchor         text   NOT NULL,
  published_at   bigint NOT NULL,
  changed_at     bigint NOT NULL,
  revision       bigint NOT NULL,
  PRIMARY KEY (workspace, id)
);
CREATE INDEX published_version_newest ON published_version (workspace, published_at, id);
CREATE INDEX published_version_changed ON published_version (revision);

CREATE TABLE published_head (
  workspace uuid NOT NULL,
  kind      text NOT NULL,
  name      text NOT NULL,
  version   text NOT NULL,
  PRIMARY KEY (workspace, kind, name)
);

CREATE TABLE version_proof (
  workspace   uuid   NOT NULL,
  version     text   NOT NULL,
  proof       text   NOT NULL,
  commitment  text   NOT NULL,
  tx          text   NOT NULL,
  bump        text,
  header      text,
  attached_at bigint NOT NULL,
  revision    bigint NOT NULL,
  PRIMARY KEY (workspace, version, proof)
);

-- What verifications of bundles found; how many confirmations there were is not kept.
CREATE TABLE bundle_audit (
  workspace    uuid    NOT NULL,
  version_id   text    NOT NULL,
  number       bigint  NOT NULL,
  verdict      text    NOT NULL,
  block_hash   text,
  block_height bigint,
  proof_sha256 text,
  tip_hash     text,
  tip_height   bigint,
  reorg_flag   boolean NOT NULL,
  verified_at  bigint  NOT NULL,
  created_at   bigint  NOT NULL,
  PRIMARY KEY (workspace, version_id, number)
);
