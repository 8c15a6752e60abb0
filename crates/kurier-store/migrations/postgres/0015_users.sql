-- Who signs in. E-mail addresses are found before their workspace is known, hence one index over all.
CREATE TABLE portal_user (
  workspace  uuid   NOT NULL REFERENCES workspace (id),
  id         uuid   NOT NULL,
  email      text   NOT NULL UNIQUE,
  name       text   NOT NULL,
  role       text   NOT NULL,
  password   text   NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (workspace, id)
);

-- Who is signed in, by the hash of what their cookie holds.
CREATE TABLE session (
  hash       bytea  PRIMARY KEY,
  workspace  uuid   NOT NULL,
  "user"     uuid   NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX session_of_user ON session (workspace, "user");
CREATE INDEX session_expires ON session (expires_at);
