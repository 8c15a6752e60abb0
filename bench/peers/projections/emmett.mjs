// Emmett: events in streams of twenty, then its projector over them, a statement per event or a
// batch at a time, in one transaction with its checkpoint.
import { SQL } from '@event-driven-io/dumbo';
import {
  getPostgreSQLEventStore,
  postgreSQLEventStoreConsumer,
  postgreSQLRawBatchSQLProjection,
  postgreSQLRawSQLProjection,
} from '@event-driven-io/emmett-postgresql';
import pg from 'pg';

const [mode, count] = [process.argv[2], Number(process.argv[3])];
const url = process.env.PGURL;
const TYPES = ['page_view', 'purchase', 'signup', 'cart_add', 'email_open'];
const STREAM = 20;
const WRITERS = 16;

const event = (n) => ({
  type: TYPES[n % TYPES.length],
  data: {
    contact: (Math.floor(n / STREAM) * 7) % 50000,
    order: n,
    amount: n % 500,
    currency: 'EUR',
    sku: `SKU-${n % 100000}`,
    source: 'web',
    campaign: 'autumn-2026',
    page: `/shop/item/${n % 5000}`,
  },
});

const client = new pg.Client({ connectionString: url });
await client.connect();
await client.query(`
  CREATE TABLE summary (contact bigint PRIMARY KEY, events bigint NOT NULL, amount bigint NOT NULL, last_type text);
  CREATE TABLE counts (type text PRIMARY KEY, total bigint NOT NULL)`);

const store = getPostgreSQLEventStore(url);
await store.schema.migrate();
let next = 0;
const write = async () => {
  while (next < count / STREAM) {
    const stream = next++;
    const events = Array.from({ length: STREAM }, (_, n) => event(stream * STREAM + n));
    await store.appendToStream(`contact-${stream}`, events);
  }
};
await Promise.all(Array.from({ length: WRITERS }, write));

const each = postgreSQLRawSQLProjection({
  name: 'each',
  canHandle: TYPES,
  evolve: ({ type, data }) => [
    SQL`INSERT INTO summary VALUES (${data.contact}, 1, ${data.amount}, ${type})
        ON CONFLICT (contact) DO UPDATE SET events = summary.events + 1,
        amount = summary.amount + excluded.amount, last_type = excluded.last_type`,
    SQL`INSERT INTO counts VALUES (${type}, 1)
        ON CONFLICT (type) DO UPDATE SET total = counts.total + 1`,
  ],
});

const fold = (events) => {
  const [contacts, totals] = [new Map(), new Map()];
  for (const { type, data } of events) {
    const sum = contacts.get(data.contact) ?? { contact: data.contact, events: 0, amount: 0 };
    sum.events += 1;
    sum.amount += data.amount;
    sum.last_type = type;
    contacts.set(data.contact, sum);
    totals.set(type, (totals.get(type) ?? 0) + 1);
  }
  const counts = [...totals].map(([type, total]) => ({ type, total }));
  return [JSON.stringify([...contacts.values()]), JSON.stringify(counts)];
};
const batched = postgreSQLRawBatchSQLProjection({
  name: 'batched',
  canHandle: TYPES,
  evolve: (events) => {
    const [contacts, counts] = fold(events);
    return [
      SQL`INSERT INTO summary SELECT contact, events, amount, last_type
          FROM json_to_recordset(${contacts}::json) AS s (contact bigint, events bigint, amount bigint, last_type text)
          ON CONFLICT (contact) DO UPDATE SET events = summary.events + excluded.events,
          amount = summary.amount + excluded.amount, last_type = excluded.last_type`,
      SQL`INSERT INTO counts SELECT type, total
          FROM json_to_recordset(${counts}::json) AS c (type text, total bigint)
          ON CONFLICT (type) DO UPDATE SET total = counts.total + excluded.total`,
    ];
  },
});

const consumer = postgreSQLEventStoreConsumer({
  connectionString: url,
  pulling: { batchSize: mode === 'batched' ? 10000 : 100, pullingFrequencyInMs: 1 },
  stopWhen: { noMessagesLeft: true },
});
consumer.projector({ projection: mode === 'batched' ? batched : each });
const began = performance.now();
await consumer.start();
const seconds = (performance.now() - began) / 1000;
const { rows } = await client.query('SELECT coalesce(sum(total), 0)::int AS events FROM counts');
console.log(JSON.stringify({ events: rows[0].events, seconds }));
process.exit(0);
