// The same journey as a handler of Restate: this process serves the handler, starts the
// server beside it, and asks for the runs. Sending is a step that does nothing.
// node restate.mjs RUNS WAIT_MS FOLDER
import { spawn } from 'node:child_process';
import http from 'node:http';
import net from 'node:net';
import * as restate from '@restatedev/restate-sdk';

// Node 20 does not have it yet, and the SDK needs it.
Promise.withResolvers ??= function withResolvers() {
  let settle;
  const promise = new this((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...settle };
};

const [runs, wait] = process.argv.slice(2, 4).map(Number);
const folder = process.argv[4];
const ASKERS = 64;
let ended = 0;

const journey = restate.service({
  name: 'journey',
  handlers: {
    run: async (ctx, contact) => {
      const goes = await ctx.run('condition', () => contact >= 0);
      if (goes) {
        await ctx.sleep(wait);
        await ctx.run('send', () => 'sent');
      }
      await ctx.run('exit', () => 'exit');
      ended += 1;
    },
  },
});

const freePort = () =>
  new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
const ports = { handler: await freePort(), ingress: await freePort(), admin: await freePort(), node: await freePort() };
await restate.serve({ services: [journey], port: ports.handler });

const server = spawn('node_modules/.bin/restate-server', ['--base-dir', folder], {
  stdio: 'ignore',
  env: {
    ...process.env,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ports.ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${ports.admin}`,
    RESTATE_BIND_ADDRESS: `127.0.0.1:${ports.node}`,
    RESTATE_LOG_FILTER: 'error',
  },
});
process.on('exit', () => server.kill('SIGKILL'));

const agent = new http.Agent({ keepAlive: true, maxSockets: ASKERS });
const post = (port, path, body) =>
  new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, method: 'POST', agent, headers: { 'content-type': 'application/json' } };
    const request = http.request(options, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode));
    });
    request.on('error', reject);
    request.end(JSON.stringify(body));
  });

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const register = async () => {
  for (let tries = 0; tries < 600; tries += 1) {
    const status = await post(ports.admin, '/deployments', { uri: `http://127.0.0.1:${ports.handler}` }).catch(() => 0);
    if (status >= 200 && status < 300) return;
    await pause(100);
  }
  throw new Error('Restate did not start');
};
await register();

const began = performance.now();
let next = 0;
let refused = 0;
const ask = async () => {
  while (next < runs) {
    const contact = next;
    next += 1;
    if ((await post(ports.ingress, '/journey/run/send', contact)) >= 300) refused += 1;
  }
};
await Promise.all(Array.from({ length: ASKERS }, ask));
if (refused > 0) throw new Error(`${refused} runs were refused`);
while (ended < runs) await pause(10);
console.log(JSON.stringify({ runs, seconds: (performance.now() - began) / 1000 }));
process.exit(0);
