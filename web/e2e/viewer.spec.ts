// Who may only look is shown nothing to change things with, and is refused if they try all the same.
import { expect, signIn, test } from "./fixtures";
import { startKurier, type Kurier } from "./server";

const VIEWER = { name: "Vic Viewer", email: "vic@example.org", password: "looks but touches not", role: "viewer" };
// Whatever changes something says one of these.
const CHANGES =
  /^(?:new|edit|delete|erase|publish|pause|retire|save|add|remove|redrive|discard|rebuild|verify|import|make|set up|revoke|archive\b|take out|send a contact|set attribute|test)/i;

let kurier: Kurier;
let pages: string[];

test.beforeAll(async () => {
  kurier = await startKurier();
  await kurier.own();
  await kurier.api("POST", "/api/v1/users", VIEWER);
  await kurier.send({ type: "identify", userId: "ada", traits: { first_name: "Ada", email: "ada@example.org" } });
  const made = <T = { id: string }>(path: string, body: object) => kurier.api<T>("POST", path, body);
  const segment = await made("/api/v1/segments", { name: "Adas", expression: "contact.first_name = 'Ada'" });
  const fixed = await made("/api/v1/segments", { name: "Chosen" });
  const nodes = [
    { id: "start", node_type: "trigger", event_type: "greeted", next_node_id: "done" },
    { id: "done", node_type: "exit" },
  ];
  const journey = await made("/api/v1/journeys", { name: "Greeting", nodes });
  await kurier.api("POST", `/api/v1/journeys/${journey.id}/publish`);
  await kurier.api("PUT", "/api/v1/templates/hello", { subject: "Hello", text: "Hi" });
  await kurier.api("PUT", "/api/v1/channels/gone", { kind: "outbox", enabled: false });
  await made("/api/v1/messages", { channel: "gone", to: "a@example.org", body: { subject: "Late", text: "Hi" } });
  await kurier.api("DELETE", "/api/v1/channels/gone");
  await kurier.api("PUT", "/api/v1/channels/kept", { kind: "outbox" });
  const [contact] = (await kurier.api<{ data: { id: string }[] }>("GET", "/api/v1/contacts?user_id=ada")).data;
  const lists = ["contacts", "segments", "journeys", "messages", "dead-letters", "templates", "content", "bundles"];
  const singles = [`contacts/${contact?.id}`, `segments/${segment.id}`, `segments/${fixed.id}`];
  const rest = ["templates/hello", "projections", "slack-workspaces", "settings/channels", "settings/users"];
  // Nothing links to these for who may only look, but addresses can be typed.
  const typed = ["contacts/import", "segments/new", `segments/${segment.id}/edit`, "templates/new", "start"];
  pages = [...lists, ...singles, `journeys/${journey.id}`, ...rest, ...typed].map((path) => `/${path}`);
});
test.afterAll(async () => kurier.stop());

// Without a source of block headers there are no bundles, and the page of them says so.
test.use({ allowed: [/^404 .*\/api\/v1\/versions\b/] });

test("no page offers a viewer to change anything", async ({ clean }) => {
  await signIn(clean, kurier, VIEWER);
  const offered: string[] = [];
  for (const path of pages) {
    await clean.goto(kurier.url + path);
    await expect(clean.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(clean.locator(".skeleton")).toHaveCount(0);
    const content = clean.locator("#content");
    if (path === "/bundles") await expect(content.getByText("Bundles are off")).toBeVisible();
    for (const role of ["button", "link"] as const)
      for (const one of await content.getByRole(role, { name: CHANGES }).filter({ visible: true }).all())
        if (await one.isEnabled()) offered.push(`${path}: ${await one.innerText()}`);
  }
  expect(offered).toEqual([]);
});

test.describe("who tries all the same", () => {
  test.use({ allowed: [/^403 .*\/api\/v1\/segments$/] });

  test("is refused by the server", async ({ clean }) => {
    await signIn(clean, kurier, VIEWER);
    const status = await clean.evaluate(async () => {
      const session = (await (await fetch("/api/v1/session")).json()) as { csrf: string };
      const answer = await fetch("/api/v1/segments", {
        method: "POST",
        headers: { "X-CSRF-Token": session.csrf, "Content-Type": "application/json" },
        body: JSON.stringify({ name: "Mine", expression: "TRUE" }),
      });
      return answer.status;
    });
    expect(status).toBe(403);
  });
});
