// A real kurier with a fresh data folder, and a way to speak to it with keys.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const HERE = import.meta.dirname;
export const BIN = process.env.KURIER_BIN
  ? resolve(process.env.KURIER_BIN)
  : resolve(HERE, "../../target/debug/kurier");
const DIST = resolve(HERE, "../dist");

export const ADMIN_KEY = "admin-key-for-the-walk";
export const WRITE_KEY = "write-key-for-the-walk";
export const OWNER = { name: "Olga Owner", email: "olga@example.org", password: "a long enough secret" };

// kurier refuses settings it does not know, and KURIER_BIN is ours.
export const others = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("KURIER_")));

export type Kurier = {
  url: string;
  data: string;
  api: <T = unknown>(method: string, path: string, body?: unknown) => Promise<T>;
  send: (...events: object[]) => Promise<void>;
  /** Makes the first user without the page for it. */
  own: () => Promise<void>;
  stop: () => Promise<void>;
};

export async function startKurier(settings: Record<string, string> = {}, args: string[] = []): Promise<Kurier> {
  const data = mkdtempSync(join(tmpdir(), "kurier-e2e-"));
  const env = {
    ...others,
    KURIER_BOOTSTRAP_ADMIN_KEY: ADMIN_KEY,
    KURIER_BOOTSTRAP_WRITE_KEY: WRITE_KEY,
    KURIER_LOG: "warn",
    ...settings,
  };
  const child = spawn(BIN, ["serve", "--listen", "127.0.0.1:0", "--data", data, "--web", DIST, ...args], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await listening(child);
  const call = async (method: string, path: string, body?: unknown, key = ADMIN_KEY) =>
    fetch(url + path, {
      method,
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  return {
    url,
    data,
    api: async <T>(method: string, path: string, body?: unknown) => {
      const answer = await call(method, path, body);
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      return (text ? JSON.parse(text) : undefined) as T;
    },
    send: async (...events) => {
      const answer = await call("POST", "/v1/batch", { batch: events }, WRITE_KEY);
      if (!answer.ok) throw new Error(`batch: ${answer.status} ${await answer.text()}`);
    },
    own: async () => {
      const answer = await call("POST", "/api/v1/setup", { ...OWNER, key: ADMIN_KEY });
      if (!answer.ok) throw new Error(`setup: ${answer.status} ${await answer.text()}`);
    },
    stop: async () => {
      const gone = new Promise((done) => child.once("exit", done));
      child.kill("SIGTERM");
      await gone;
      rmSync(data, { recursive: true, force: true });
    },
  };
}

async function listening(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error("kurier has no standard output");
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /listening on (http:\/\/\S+)/.exec(line);
    if (found?.[1]) return found[1];
  }
  throw new Error(`${BIN} ended before it listened`);
}
