"""DuckDB's answers for the differential test: differential.py FOLDER < queries > answers

FOLDER/contacts.ndjson and FOLDER/events.ndjson hold plain JSON. What kind a value has is found out
here by DuckDB itself: each path becomes one column for each kind, of which at most one is not NULL.
Times are microseconds since 1970. A query a line comes in as a JSON text of SQL, a list of
numbers goes out.
"""
import json, os, sys
import duckdb

TIME = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9]{2}:[0-9]{2})$"
KINDS = {
    "num": "CASE WHEN json_type({0}) IN ('DOUBLE', 'BIGINT', 'UBIGINT', 'HUGEINT') THEN CAST({0} AS DOUBLE) END",
    "text": "CASE WHEN json_type({0}) = 'VARCHAR' THEN {0} ->> '$' END",
    "bool": "CASE WHEN json_type({0}) = 'BOOLEAN' THEN CAST({0} AS BOOLEAN) END",
    "list": "CASE WHEN json_type({0}) = 'ARRAY' THEN CAST({0} AS JSON[]) END",
    "there": "{0} IS NOT NULL AND json_type({0}) <> 'NULL'",
}


def columns(source, paths):
    """The kinds of every path, and the times among the texts."""
    for path in paths:
        value = f"json_extract({source}, '$.{path}')"
        name = path.replace(".", "_")
        for kind, sql in KINDS.items():
            yield f"{sql.format(value)} AS {name}_{kind}"
        text = KINDS["text"].format(value)
        yield f"CASE WHEN regexp_matches({text}, '{TIME}') THEN epoch_us(CAST({text} AS TIMESTAMPTZ)) END AS {name}_parsed"


def load(connection, folder):
    paths = json.load(open(f"{folder}/paths.json"))
    read = "read_json('{}', format = 'newline_delimited', columns = {})"
    connection.execute(f"""CREATE TABLE contacts AS SELECT number, id, user_id, created_at, {', '.join(columns('attributes', paths['contact']))}
        FROM {read.format(folder + '/contacts.ndjson', "{number: 'INTEGER', id: 'VARCHAR', user_id: 'VARCHAR', created_at: 'BIGINT', attributes: 'JSON'}")}""")
    connection.execute(f"""CREATE TABLE events AS SELECT position, contact, event_type, event_time, {', '.join(columns('properties', paths['event']))}
        FROM {read.format(folder + '/events.ndjson', "{position: 'INTEGER', contact: 'INTEGER', event_type: 'VARCHAR', event_time: 'BIGINT', properties: 'JSON'}")}""")


connection = duckdb.connect(":memory:")
connection.execute(f"SET threads={os.cpu_count()}; SET TimeZone='UTC'")
load(connection, sys.argv[1])
for line in sys.stdin:
    try:
        found = [number for number, in connection.execute(json.loads(line)).fetchall()]
        print(json.dumps({"found": found}), flush=True)
    except duckdb.Error as error:
        print(json.dumps({"error": str(error)}), flush=True)
