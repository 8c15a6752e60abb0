// How a call that somebody tries is authorized: by the key that was typed in, else by the session's cookie.
import type { Call } from "swagger-ui-dist/swagger-ui-es-bundle.js";

const SAFE = ["GET", "HEAD", "OPTIONS"];

/** What changes something by the cookie carries the token of the session, too; there may be no session. */
async function csrfToken(): Promise<string | null> {
  const answer = await fetch("/api/v1/session");
  return answer.ok ? ((await answer.json()) as { csrf: string }).csrf : null;
}

async function authorizedFetch(key: string, input: RequestInfo | URL, init: RequestInit = {}) {
  const headers = new Headers(init.headers);
  if (key) headers.set("Authorization", `Bearer ${key}`);
  else if (!SAFE.includes(init.method?.toUpperCase() ?? "GET")) {
    const token = await csrfToken();
    if (token) headers.set("X-CSRF-Token", token);
  }
  return fetch(input, { ...init, headers });
}

/** The key is added only as the call is made: it is neither in the viewer's state nor in the curl command shown. */
export function authorize(call: Call, keyNow: () => string): Call {
  if (call.loadSpec) return call;
  call.userFetch = (input, init) => authorizedFetch(keyNow(), input, init);
  call.curlOptions = ['-H "Authorization: Bearer $KEY"'];
  return call;
}
