// The handler that most teams would write first: every event is one INSERT, and the answer
// waits for all of them. Takes one event or a list on POST /e. PGURL says which database.
import Fastify from 'fastify';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.PGURL, max: 20 });

await pool.query(`
  CREATE TABLE IF NOT EXISTS events (
    seq          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id           uuid        NOT NULL,
    workspace_id int         NOT NULL,
    user_id      text        NOT NULL,
    event        text        NOT NULL,
    occurred_at  timestamptz NOT NULL,
    received_at  timestamptz NOT NULL DEFAULT now(),
    properties   jsonb       NOT NULL
  );
  CREATE UNIQUE INDEX IF NOT EXISTS events_id ON events (id);`);

// Named, so that it is prepared once on each connection.
const insert = {
  name: 'insert',
  text: `INSERT INTO events (id, workspace_id, user_id, event, occurred_at, properties)
         VALUES ($1, 1, $2, $3, $4, $5)`,
};

function store(event) {
  const values = [
    event.messageId,
    event.userId,
    event.event,
    event.timestamp,
    JSON.stringify(event.properties),
  ];
  return pool.query({ ...insert, values });
}

const server = Fastify({ bodyLimit: 1024 * 1024 });

server.post('/e', async (request) => {
  const { body } = request;
  await (Array.isArray(body) ? Promise.all(body.map(store)) : store(body));
  return { success: true };
});

const address = await server.listen({ host: '127.0.0.1', port: 0 });
console.log(`listening on ${address}`);
