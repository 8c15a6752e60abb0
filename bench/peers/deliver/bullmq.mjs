// BullMQ on Redis. It keeps nothing on disk here, which is faster than what the others do.
// node bullmq.mjs MESSAGES SINGLES; REDIS_URL names a Redis that may be emptied.
import { Queue, Worker } from 'bullmq';
import { counter, enqueue, latency, pause, payload, seconds, tell } from './measure.mjs';

const { hostname: host, port } = new URL(process.env.REDIS_URL);
const connection = { host, port: Number(port), maxRetriesPerRequest: null };
const opts = { removeOnComplete: true, removeOnFail: true };
const queue = new Queue('send', { connection });
await queue.waitUntilReady();
await queue.obliterate({ force: true });

const enqueued = await seconds(() =>
  enqueue((batch) => queue.addBulk(batch.map((n) => ({ name: 'send', data: payload(n), opts })))),
);
const { done, all } = counter();
const drain = new Worker('send', async () => done(), { connection, concurrency: 500, autorun: false });
const drained = await seconds(async () => {
  drain.run();
  await all;
});
await drain.close();
const { seen, run } = latency();
const single = new Worker('send', async (job) => seen(job.data), { connection, concurrency: 10 });
await single.waitUntilReady();
await pause(300);
tell(enqueued, drained, await run((job) => queue.add('send', job, opts)));
