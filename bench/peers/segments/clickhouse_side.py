"""ClickHouse in this process (chdb): clickhouse_side.py FOLDER name|contact|memory SCRATCH"""
import sys
import numpy as np
from chdb import session
from side import CORES, serve, since

folder, order, scratch = sys.argv[1:4]
ENGINE = {
    "name": "MergeTree ORDER BY (event_type, contact_id, event_time)",
    "contact": "MergeTree ORDER BY (contact_id, event_time)",
    "memory": "Memory",
}[order]
chdb = session.Session(f"{scratch}/clickhouse-{order}")


def load():
    chdb.query("CREATE DATABASE b ENGINE = Atomic")
    chdb.query("USE b")
    rows = str(chdb.query(f"SELECT DISTINCT event_type FROM file('{folder}/events.parquet') ORDER BY 1", "TSV")).split()
    names = ", ".join(f"'{name}' = {at + 1}" for at, name in enumerate(rows))
    chdb.query(f"""CREATE TABLE contacts (id UInt32, email String, country LowCardinality(String), plan LowCardinality(String),
        age Int32, score Float64, tags Array(LowCardinality(String)), signup DateTime('UTC'))
        ENGINE = {'Memory' if order == 'memory' else 'MergeTree ORDER BY id'}""")
    chdb.query(f"""CREATE TABLE events (contact_id UInt32, event_type Enum8({names}), event_time DateTime('UTC'),
        amount Nullable(Float64), sku LowCardinality(Nullable(String)), page LowCardinality(Nullable(String))) ENGINE = {ENGINE}""")
    chdb.query(f"INSERT INTO contacts SELECT id, email, country, plan, age, score, tags, signup FROM file('{folder}/contacts.parquet')")
    chdb.query(f"""INSERT INTO events SELECT contact_id, event_type, event_time, amount, sku, page
        FROM file('{folder}/events.parquet')""")
    if order != "memory":
        chdb.query("OPTIMIZE TABLE events FINAL")
        chdb.query("OPTIMIZE TABLE contacts FINAL")
    disk = str(chdb.query("SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'b'", "TSV")).strip()
    return {"version": str(chdb.query("SELECT version()", "TSV")).strip(), "disk_mb": int(disk or 0) / 1e6}


def ts(days):
    return f"toDateTime('{since(days)}', 'UTC')"


B = f"SELECT DISTINCT contact_id FROM events WHERE event_type = 'purchase' AND event_time > {ts(30)}"
C = "SELECT contact_id FROM events WHERE event_type = 'purchase' AND amount > 100 GROUP BY contact_id HAVING count() >= 3"
E = f"""SELECT contact_id FROM events WHERE event_type = 'login' AND event_time > {ts(90)} GROUP BY contact_id
    HAVING count() >= 5 AND countIf(event_time > {ts(7)}) = 0"""
IN_ORDER = ", optimize_aggregation_in_order = 1"
D = f"""SELECT contact_id FROM events WHERE event_type IN ('purchase', 'refund') GROUP BY contact_id
    HAVING sumIf(amount, event_type = 'purchase' AND event_time > {ts(90)}) > 500 AND countIf(event_type = 'refund') = 0"""
QUERIES = {
    "a": [("SELECT id FROM contacts WHERE country = 'DE' AND plan IN ('pro', 'team')", "")],
    "b": [(B, ""), (B.replace("DISTINCT ", "") + " GROUP BY contact_id", "")],
    "c": [(C, ""), (C, IN_ORDER)],
    "d": [
        (D, ""),
        (D, IN_ORDER),
        (f"""SELECT contact_id FROM events WHERE event_type = 'purchase' AND event_time > {ts(90)} AND contact_id NOT IN
            (SELECT contact_id FROM events WHERE event_type = 'refund') GROUP BY contact_id HAVING sum(amount) > 500""", ""),
    ],
    "e": [(E, ""), (E, IN_ORDER)],
    "f": [
        (f"""SELECT id FROM contacts WHERE (country = 'DE' AND plan IN ('pro', 'team') AND id IN ({B}))
            OR (age >= 30 AND id IN ({C})) OR (score > 50 AND has(tags, 'vip') AND id IN ({E}))""", ""),
        (f"""SELECT id FROM contacts JOIN (SELECT contact_id,
            countIf(event_type = 'purchase' AND event_time > {ts(30)}) AS bought, countIf(event_type = 'purchase' AND amount > 100) AS dear,
            countIf(event_type = 'login' AND event_time > {ts(90)}) AS logins, countIf(event_type = 'login' AND event_time > {ts(7)}) AS recent
            FROM events WHERE event_type IN ('purchase', 'login') GROUP BY contact_id) AS x ON x.contact_id = contacts.id
            WHERE (country = 'DE' AND plan IN ('pro', 'team') AND bought > 0) OR (age >= 30 AND dear >= 3)
            OR (score > 50 AND has(tags, 'vip') AND logins >= 5 AND recent = 0)""", ""),
    ],
}


def run(form):
    sql, settings = form
    return chdb.query(f"{sql} SETTINGS max_threads = {CORES}{settings}", "RowBinary").bytes()


serve(load, QUERIES, run, lambda found: np.frombuffer(found, np.uint32))
