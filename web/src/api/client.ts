// The one way to the server: JSON in and out, problems as errors, the CSRF token on changes.
import type { components } from "./schema";

export type Schemas = components["schemas"];

export type FieldFault = { pointer: string; detail: string };

/** What the server says went wrong (RFC 9457). Status 0: it could not be asked at all. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly body: Partial<Schemas["ProblemBody"]> = {},
  ) {
    super(detail);
  }

  get fieldFaults(): FieldFault[] {
    return (this.body.errors ?? []) as FieldFault[];
  }

  /** The path itself is unknown: this server was built without that part. */
  get isUnbuilt(): boolean {
    return this.status === 404 && this.detail.startsWith("there is nothing at");
  }
}

type Query = Record<string, string | number | boolean | null | undefined>;
export type Call = { query?: Query; body?: unknown; text?: string; signal?: AbortSignal };

let csrf: string | null = null;
export const setCsrf = (token: string | null) => void (csrf = token);

/** Told whenever the server says that nobody is signed in, so that the sign-in page comes up. */
let onSignedOut: () => void = () => {};
export const whenSignedOut = (tell: () => void) => void (onSignedOut = tell);

export function address(path: string, query: Query = {}): string {
  const set = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const search = new URLSearchParams(set.map(([key, value]) => [key, String(value)])).toString();
  return search ? `${path}?${search}` : path;
}

async function problemOf(response: Response): Promise<Problem> {
  const text = await response.text();
  try {
    const body = JSON.parse(text) as Partial<Schemas["ProblemBody"]>;
    return new Problem(response.status, body.code ?? "", body.detail ?? body.title ?? response.statusText, body);
  } catch {
    return new Problem(response.status, "", text.slice(0, 300) || response.statusText);
  }
}

async function send(method: string, path: string, call: Call): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (csrf && method !== "GET") headers["X-CSRF-Token"] = csrf;
  if (call.body !== undefined) headers["Content-Type"] = "application/json";
  if (call.text !== undefined) headers["Content-Type"] = "application/yaml";
  const body = call.text ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
  try {
    return await fetch(address(path, call.query), {
      method,
      headers,
      body,
      signal: call.signal,
      credentials: "same-origin",
    });
  } catch (cause) {
    if (call.signal?.aborted) throw cause;
    throw new Problem(0, "unreachable", String(cause));
  }
}

async function request<T>(method: string, path: string, call: Call = {}): Promise<T> {
  const response = await send(method, path, call);
  if (!response.ok) {
    const problem = await problemOf(response);
    if (response.status === 401 && path !== "/api/v1/session") onSignedOut();
    throw problem;
  }
  const text = await response.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

export const api = {
  get: <T>(path: string, query?: Query, signal?: AbortSignal) => request<T>("GET", path, { query, signal }),
  post: <T>(path: string, body?: unknown, call: Call = {}) => request<T>("POST", path, { ...call, body }),
  put: <T>(path: string, body: unknown) => request<T>("PUT", path, { body }),
  del: <T>(path: string, query?: Query) => request<T>("DELETE", path, { query }),
};

/** A part of a path: ids and names may hold anything. */
export const part = encodeURIComponent;
