"""eventsourcing: aggregates of twenty events, then its projection runner with a tracking view on
PostgreSQL, one transaction for each event."""

import json
import os
import sys
import time
from urllib.parse import urlparse

import psycopg
from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event
from eventsourcing.postgres import PostgresTrackingRecorder
from eventsourcing.projection import Projection, ProjectionRunner
from psycopg.sql import SQL

COUNT = int(sys.argv[1])
STREAM = 20
TYPES = ["page_view", "purchase", "signup", "cart_add", "email_open"]
URL = urlparse(os.environ["PGURL"])
ENVIRONMENT = {
    "PERSISTENCE_MODULE": "eventsourcing.postgres",
    "POSTGRES_DBNAME": URL.path.strip("/"),
    "POSTGRES_HOST": URL.hostname or "127.0.0.1",
    "POSTGRES_PORT": str(URL.port or 5432),
    "POSTGRES_USER": URL.username or "postgres",
    "POSTGRES_PASSWORD": URL.password or "x",
    "POSTGRES_POOL_SIZE": "8",
}
TABLES = [
    "CREATE TABLE IF NOT EXISTS summary (contact bigint PRIMARY KEY, events bigint, amount bigint, last_type text)",
    "CREATE TABLE IF NOT EXISTS counts (type text PRIMARY KEY, total bigint)",
]


class Contact(Aggregate):
    @event("Registered")
    def __init__(self, number):
        self.number = number
        self.count = 0

    @event("Tracked")
    def track(self, kind, contact, amount, properties):
        self.count += 1


class Contacts(Application):
    pass


class Summary(PostgresTrackingRecorder):
    def __init__(self, datastore, **settings):
        super().__init__(datastore, **settings)
        self.sql_create_statements += [SQL(table) for table in TABLES]

    def fold(self, told, tracking):
        with self.datastore.transaction(commit=True) as cursor:
            self._insert_tracking(cursor, tracking)
            cursor.execute(
                "INSERT INTO summary VALUES (%s, 1, %s, %s) ON CONFLICT (contact) DO UPDATE SET"
                " events = summary.events + 1, amount = summary.amount + excluded.amount,"
                " last_type = excluded.last_type",
                (told.contact, told.amount, told.kind),
                prepare=True,
            )
            cursor.execute(
                "INSERT INTO counts VALUES (%s, 1) ON CONFLICT (type) DO UPDATE SET total = counts.total + 1",
                (told.kind,),
                prepare=True,
            )


class Summaries(Projection[Summary]):
    name = "summaries"

    def process_event(self, told, tracking):
        if isinstance(told, Contact.Tracked):
            self.view.fold(told, tracking)
        else:
            self.view.insert_tracking(tracking)


def append():
    application = Contacts(env=ENVIRONMENT)
    for stream in range(COUNT // STREAM):
        contact = Contact(stream)
        for number in range(stream * STREAM, (stream + 1) * STREAM):
            properties = {"sku": f"SKU-{number % 100000}", "source": "web", "page": f"/shop/item/{number % 5000}"}
            contact.track(TYPES[number % 5], stream * 7 % 50000, number % 500, properties)
        application.save(contact)
    return application.recorder.max_notification_id()


def main():
    last = append()
    began = time.perf_counter()
    runner = ProjectionRunner(
        application_class=Contacts, projection_class=Summaries, view_class=Summary, env=ENVIRONMENT
    )
    with runner:
        runner.wait(last, timeout=600)
    seconds = time.perf_counter() - began
    with psycopg.connect(os.environ["PGURL"]) as connection:
        events = connection.execute("SELECT sum(total)::int FROM counts").fetchone()[0]
    print(json.dumps({"events": events, "seconds": seconds}), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
