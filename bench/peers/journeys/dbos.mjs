// The same journey as a durable workflow of DBOS, its steps in PostgreSQL. Sending is a step
// that does nothing, as Kurier's outbox hands nothing on.
// node dbos.mjs RUNS WAIT_MS; PGURL names an empty database.
import { DBOS } from '@dbos-inc/dbos-sdk';

const [runs, wait] = process.argv.slice(2).map(Number);
const STARTERS = 20;
let ended = 0;

const journey = DBOS.registerWorkflow(
  async (contact) => {
    const goes = await DBOS.runStep(async () => contact >= 0, { name: 'condition' });
    if (goes) {
      await DBOS.sleepms(wait);
      await DBOS.runStep(async () => 'sent', { name: 'send' });
    }
    await DBOS.runStep(async () => 'exit', { name: 'exit' });
    ended += 1;
  },
  { name: 'journey' },
);

DBOS.setConfig({
  name: 'journeys',
  systemDatabaseUrl: process.env.PGURL,
  systemDatabasePoolSize: STARTERS,
  logLevel: 'error',
  runAdminServer: false,
});
await DBOS.launch();

const began = performance.now();
let next = 0;
const start = async () => {
  while (next < runs) {
    const contact = next;
    next += 1;
    await DBOS.startWorkflow(journey)(contact);
  }
};
await Promise.all(Array.from({ length: STARTERS }, start));
while (ended < runs) await new Promise((resolve) => setTimeout(resolve, 10));
console.log(JSON.stringify({ runs, seconds: (performance.now() - began) / 1000 }));
process.exit(0);
