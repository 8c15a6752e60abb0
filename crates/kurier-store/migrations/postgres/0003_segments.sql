CREATE TABLE segment (
  workspace  uuid    NOT NULL,
  id         uuid    NOT NULL,
  name       text    NOT NULL,
  expression text,
  created_at bigint NOT NULL,
  changed_at bigint NOT NULL,
  size       bigint NOT NULL,
  revision   bigint NOT NULL,
  PRIMARY KEY (workspace, id)
);

CREATE TABLE member (
  workspace  uuid    NOT NULL,
  segment    uuid    NOT NULL,
  contact    uuid    NOT NULL,
  entered_at bigint NOT NULL,
  PRIMARY KEY (workspace, segment, contact)
);
CREATE INDEX member_contact ON member (workspace, contact);

CREATE TABLE segment_size (
  workspace uuid    NOT NULL,
  segment   uuid    NOT NULL,
  hour      bigint NOT NULL,
  size      bigint NOT NULL,
  PRIMARY KEY (workspace, segment, hour)
);

-- Who may react to the log: one holder at a time, fenced by a number that grows.
CREATE TABLE lease (
  name   text    PRIMARY KEY,
  holder uuid    NOT NULL,
  fence  bigint NOT NULL,
  until  bigint NOT NULL
);
