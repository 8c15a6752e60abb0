// What every peer is asked: jobs in, jobs out, and single jobs when there is nothing else to do.
const BATCH = 1000;
const PACE_MS = 20;

export const [count, singles] = process.argv.slice(2).map(Number);
export const payload = (n) => ({
  channel: 'outbox',
  body: { subject: 'Welcome', text: `Hello ${n}, it is good to have you.` },
  to: `user-${n}@example.com`,
});
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export async function seconds(work) {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

// Calls add(numbers) with a thousand at a time.
export async function enqueue(add) {
  for (let first = 0; first < count; first += BATCH) {
    const size = Math.min(BATCH, count - first);
    await add(Array.from({ length: size }, (_, n) => first + n));
  }
}

// done(n) counts jobs; all is kept when there were as many as were queued.
export function counter() {
  let left = count;
  let finish;
  const all = new Promise((resolve) => {
    finish = resolve;
  });
  const done = (n = 1) => {
    left -= n;
    if (left <= 0) finish();
  };
  return { done, all };
}

const now = () => performance.timeOrigin + performance.now();

// Calls add({at}) at a pace; the worker calls seen({at}). Answers p50 and p99 in ms.
export function latency() {
  const late = [];
  const seen = ({ at }) => late.push(now() - at);
  const run = async (add) => {
    for (let n = 0; n < singles; n += 1) {
      await add({ at: now() });
      await pause(PACE_MS);
    }
    while (late.length < singles) await pause(PACE_MS);
    late.sort((a, b) => a - b);
    const at = (share) => late[Math.ceil(late.length * share) - 1];
    return [at(0.5), at(0.99)];
  };
  return { seen, run };
}

export function tell(enqueue_seconds, drain_seconds, latency_ms) {
  console.log(JSON.stringify({ messages: count, enqueue_seconds, drain_seconds, latency_ms }));
  process.exit(0);
}
