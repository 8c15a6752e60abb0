-- Who is kept from what. Written with the event that says so, since it must hold at once.
-- The topic is '' for everything, '*' for every topic, or one topic; topics sort by code point.
-- The key is a keyed hash: it stays when the contact is erased, and the address goes.
CREATE TABLE suppression (
  workspace   uuid   NOT NULL,
  address_key uuid   NOT NULL,
  topic       text   COLLATE "C" NOT NULL,
  kind        text   NOT NULL,
  address     text,
  contact     uuid,
  reason      text   NOT NULL,
  source      text   NOT NULL,
  created_at  bigint NOT NULL,
  PRIMARY KEY (workspace, address_key, topic)
);
CREATE INDEX suppression_recent ON suppression (workspace, created_at, address_key, topic);
