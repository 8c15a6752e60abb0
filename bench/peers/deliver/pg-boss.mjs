// pg-boss with four loops that fetch and complete a thousand at a time, its fastest way to
// drain; and a notified worker, its fastest to begin.
// node pg-boss.mjs MESSAGES SINGLES; PGURL names an empty database.
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { counter, enqueue, latency, pause, payload, seconds, tell } from './measure.mjs';

const LOOPS = 4;
const connectionString = process.env.PGURL;
const boss = new PgBoss({ connectionString, max: 40, supervise: false, useListenNotify: true });
boss.on('error', (error) => console.error(String(error)));
await boss.start();
await boss.createQueue('send');
await boss.createQueue('single', { notify: true });

const enqueued = await seconds(() =>
  enqueue((batch) => boss.insert('send', batch.map((n) => ({ data: payload(n), priority: n % 10 })))),
);
const client = new pg.Client({ connectionString });
await client.connect();
await client.query('VACUUM ANALYZE');
await client.end();
const { done, all } = counter();
const drained = await seconds(async () => {
  const loop = async () => {
    for (;;) {
      const jobs = await boss.fetch('send', { batchSize: 1000 });
      if (jobs.length === 0) return;
      await boss.complete('send', jobs.map((job) => job.id));
      done(jobs.length);
    }
  };
  await Promise.all([all, ...Array.from({ length: LOOPS }, loop)]);
});
const { seen, run } = latency();
await boss.work('single', { pollingIntervalSeconds: 0.5, batchSize: 10 }, async (jobs) => {
  for (const job of jobs) seen(job.data);
});
await pause(1000);
tell(enqueued, drained, await run((job) => boss.send('single', job)));
