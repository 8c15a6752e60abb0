"""DuckDB in memory: duckdb_side.py FOLDER time|name"""
import sys
import duckdb
from side import CORES, serve, since

folder, order = sys.argv[1:3]
ORDER = {"time": "", "name": "ORDER BY event_type, contact_id, event_time"}[order]
connection = duckdb.connect(":memory:")
connection.execute(f"SET threads={CORES}; SET TimeZone='UTC'")


def load():
    names = connection.execute(f"SELECT DISTINCT event_type FROM '{folder}/events.parquet' ORDER BY 1").fetchall()
    connection.execute(f"CREATE TYPE name AS ENUM ({','.join(repr(name) for name, in names)})")
    connection.execute(f"""CREATE TABLE contacts AS SELECT id::UINTEGER AS id, email, country, plan, age, score, tags,
        signup::TIMESTAMP AS signup FROM '{folder}/contacts.parquet'""")
    connection.execute(f"""CREATE TABLE events AS SELECT contact_id::UINTEGER AS contact_id, event_type::name AS event_type,
        event_time::TIMESTAMP AS event_time, amount, sku, page FROM '{folder}/events.parquet' {ORDER}""")
    return {"version": duckdb.__version__}


def ts(days):
    return f"TIMESTAMP '{since(days)}'"


B = f"SELECT DISTINCT contact_id FROM events WHERE event_type = 'purchase' AND event_time > {ts(30)}"
C = "SELECT contact_id FROM events WHERE event_type = 'purchase' AND amount > 100 GROUP BY contact_id HAVING count(*) >= 3"
E = f"""SELECT contact_id FROM events WHERE event_type = 'login' AND event_time > {ts(90)} GROUP BY contact_id
    HAVING count(*) >= 5 AND count(*) FILTER (event_time > {ts(7)}) = 0"""
QUERIES = {
    "a": ["SELECT id FROM contacts WHERE country = 'DE' AND plan IN ('pro', 'team')"],
    "b": [B],
    "c": [C],
    "d": [
        f"""SELECT contact_id FROM events WHERE event_type IN ('purchase', 'refund') GROUP BY contact_id
            HAVING sum(amount) FILTER (event_type = 'purchase' AND event_time > {ts(90)}) > 500
            AND count(*) FILTER (event_type = 'refund') = 0""",
        f"""SELECT contact_id FROM (SELECT contact_id FROM events WHERE event_type = 'purchase' AND event_time > {ts(90)}
            GROUP BY contact_id HAVING sum(amount) > 500) WHERE contact_id NOT IN
            (SELECT contact_id FROM events WHERE event_type = 'refund')""",
    ],
    "e": [E],
    "f": [
        f"""SELECT id FROM contacts WHERE (country = 'DE' AND plan IN ('pro', 'team') AND id IN ({B}))
            OR (age >= 30 AND id IN ({C})) OR (score > 50 AND list_contains(tags, 'vip') AND id IN ({E}))""",
        f"""SELECT id FROM contacts JOIN (SELECT contact_id,
            count(*) FILTER (event_type = 'purchase' AND event_time > {ts(30)}) AS bought,
            count(*) FILTER (event_type = 'purchase' AND amount > 100) AS dear,
            count(*) FILTER (event_type = 'login' AND event_time > {ts(90)}) AS logins,
            count(*) FILTER (event_type = 'login' AND event_time > {ts(7)}) AS recent
            FROM events WHERE event_type IN ('purchase', 'login') GROUP BY contact_id) ON contact_id = id
            WHERE (country = 'DE' AND plan IN ('pro', 'team') AND bought > 0) OR (age >= 30 AND dear >= 3)
            OR (score > 50 AND list_contains(tags, 'vip') AND logins >= 5 AND recent = 0)""",
    ],
}
serve(load, QUERIES, lambda sql: connection.execute(sql).fetchnumpy(), lambda found: next(iter(found.values())))
