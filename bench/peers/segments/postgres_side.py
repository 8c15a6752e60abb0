"""PostgreSQL with attributes and properties as jsonb and the usual indexes: postgres_side.py FOLDER SCRATCH (TEST_POSTGRES_URL)"""
import os, sys, time
import duckdb, psycopg
import numpy as np
from side import serve, since

folder, scratch = sys.argv[1:3]
connection = psycopg.connect(os.environ["TEST_POSTGRES_URL"], autocommit=True)
cursor = connection.cursor()
SCHEMA = f"bench_{os.getpid()}"
CONTACTS = "SELECT id, 1, to_json({'email': email, 'country': country, 'plan': plan, 'age': age, 'score': score, 'tags': tags}), signup, signup"
EVENTS = """SELECT id, 1, contact_id, event_type, event_time, CASE
    WHEN sku IS NOT NULL THEN '{"amount":' || amount || ',"sku":"' || sku || '"}'
    WHEN amount IS NOT NULL THEN '{"amount":' || amount || '}'
    WHEN page IS NOT NULL THEN '{"page":"' || page || '"}' ELSE '{}' END"""
AFTER = """ALTER TABLE contacts ADD PRIMARY KEY (id)
CREATE INDEX ON contacts (workspace_id, (attributes->>'email'))
CREATE INDEX ON contacts (workspace_id, (attributes->>'phone'))
CREATE INDEX ON contacts (workspace_id, created_at)
CREATE INDEX ON contacts (workspace_id, updated_at)
ALTER TABLE events ADD PRIMARY KEY (id)
CREATE INDEX ON events (workspace_id, contact_id, event_time DESC)
CREATE INDEX ON events (workspace_id, event_type, event_time DESC)
CREATE INDEX ON events (workspace_id, contact_id, event_type, event_time DESC)
CREATE INDEX ON events (event_time)
VACUUM ANALYZE contacts
VACUUM ANALYZE events"""


def text_of(table, select):
    """The rows as CSV: how they get here is no part of loading."""
    path = f"{scratch}/{table}.csv"
    duck = duckdb.connect()
    duck.execute("SET TimeZone='UTC'")
    duck.execute(f"COPY ({select} FROM '{folder}/{table}.parquet') TO '{path}' (FORMAT csv, HEADER false)")
    return path


def load():
    cursor.execute(f"CREATE SCHEMA {SCHEMA}; SET search_path = {SCHEMA}; SET maintenance_work_mem = '1GB'")
    cursor.execute("CREATE TABLE contacts (id bigint, workspace_id int NOT NULL, attributes jsonb NOT NULL, created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL)")
    cursor.execute("CREATE TABLE events (id bigint, workspace_id int NOT NULL, contact_id bigint NOT NULL, event_type text NOT NULL, event_time timestamptz NOT NULL, properties jsonb NOT NULL)")
    files = {"contacts": text_of("contacts", CONTACTS), "events": text_of("events", EVENTS)}
    began = time.perf_counter()
    for table, path in files.items():
        with cursor.copy(f"COPY {table} FROM STDIN (FORMAT csv)") as copy, open(path, "rb") as file:
            while block := file.read(1 << 20):
                copy.write(block)
        os.remove(path)
    for statement in AFTER.splitlines():
        cursor.execute(statement)
    disk = cursor.execute("SELECT pg_total_relation_size('contacts') + pg_total_relation_size('events')").fetchone()[0]
    version = cursor.execute("SHOW server_version").fetchone()[0]
    return {"seconds": time.perf_counter() - began, "disk_mb": disk / 1e6, "version": version}


def ts(days):
    return f"'{since(days)}+00'::timestamptz"


AMOUNT, OURS = "(properties->>'amount')::float8", "workspace_id = 1"
GERMAN = "attributes->>'country' = 'DE' AND attributes->>'plan' IN ('pro', 'team')"
B = f"SELECT DISTINCT contact_id FROM events WHERE {OURS} AND event_type = 'purchase' AND event_time > {ts(30)}"
C = f"SELECT contact_id FROM events WHERE {OURS} AND event_type = 'purchase' AND {AMOUNT} > 100 GROUP BY contact_id HAVING count(*) >= 3"
E = f"""SELECT contact_id FROM events WHERE {OURS} AND event_type = 'login' AND event_time > {ts(90)} GROUP BY contact_id
    HAVING count(*) >= 5 AND count(*) FILTER (WHERE event_time > {ts(7)}) = 0"""
QUERIES = {
    "a": [f"SELECT id FROM contacts WHERE {OURS} AND {GERMAN}"],
    "b": [B],
    "c": [C],
    "d": [f"""SELECT contact_id FROM (SELECT contact_id FROM events WHERE {OURS} AND event_type = 'purchase' AND event_time > {ts(90)}
        GROUP BY contact_id HAVING sum({AMOUNT}) > 500) AS p WHERE NOT EXISTS
        (SELECT 1 FROM events AS r WHERE r.{OURS} AND r.contact_id = p.contact_id AND r.event_type = 'refund')"""],
    "e": [E],
    "f": [f"""SELECT id FROM contacts JOIN ({B}) AS x ON x.contact_id = id WHERE {OURS} AND {GERMAN}
        UNION SELECT id FROM contacts JOIN ({C}) AS y ON y.contact_id = id WHERE {OURS} AND (attributes->>'age')::int >= 30
        UNION SELECT id FROM contacts JOIN ({E}) AS z ON z.contact_id = id WHERE {OURS}
        AND (attributes->>'score')::float8 > 50 AND attributes->'tags' ? 'vip'"""],
}


def run(sql):
    with cursor.copy(f"COPY ({sql}) TO STDOUT") as copy:
        return b"".join(copy)


serve(load, QUERIES, run, lambda found: np.array(found.split(), np.uint64))
