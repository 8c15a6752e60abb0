// graphile-worker with a local queue and batched completion: its fastest way.
// node graphile-worker.mjs MESSAGES SINGLES; PGURL names an empty database.
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import { counter, enqueue, latency, pause, payload, seconds, tell } from './measure.mjs';

const logger = new Logger(() => () => {});
const pgPool = new pg.Pool({ connectionString: process.env.PGURL, max: 40 });
const complain = (error) => console.error(String(error));
pgPool.on('error', complain);
pgPool.on('connect', (client) => client.on('error', complain));
const utils = await makeWorkerUtils({ pgPool, logger });
await utils.migrate();
const start = (worker, taskList) =>
  run({ logger, pgPool, noHandleSignals: true, taskList, preset: { worker: { pollInterval: 2000, ...worker } } });

const enqueued = await seconds(() =>
  enqueue((batch) =>
    utils.addJobs(batch.map((n) => ({ identifier: 'send', payload: payload(n), priority: n % 10 }))),
  ),
);
await pgPool.query('VACUUM ANALYZE graphile_worker._private_jobs');
const { done, all } = counter();
let runner;
const drained = await seconds(async () => {
  const batched = { concurrentJobs: 24, localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
  runner = await start(batched, { send: async () => done() });
  await all;
  // Jobs that are done are deleted in batches; they count when that is done, too.
  for (;;) {
    const left = await pgPool.query('SELECT FROM graphile_worker._private_jobs LIMIT 1');
    if (left.rowCount === 0) break;
    await pause(1);
  }
});
await runner.stop();
const { seen, run: measure } = latency();
runner = await start({ concurrentJobs: 10 }, { send: async (job) => seen(job) });
await pause(300);
tell(enqueued, drained, await measure((job) => utils.addJob('send', job)));
