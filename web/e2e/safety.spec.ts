// Whatever clients send is shown as text, and nothing of it ever runs.
import { expect, signIn, test } from "./fixtures";
import { OWNER, startKurier, type Kurier } from "./server";

const EVIL = `<img src=x onerror="window.__ran=1"><script>window.__ran=1</script>`;
let kurier: Kurier;

test.beforeAll(async () => {
  kurier = await startKurier();
  await kurier.own();
  await kurier.send(
    { type: "identify", userId: "eve", traits: { first_name: EVIL, email: "eve@example.org", [EVIL]: EVIL } },
    { type: "track", userId: "eve", event: EVIL, properties: { [EVIL]: EVIL } },
  );
  await kurier.api("PUT", "/api/v1/templates/evil", {
    subject: EVIL,
    description: EVIL,
    html: `<p>${EVIL.replace("<script>window.__ran=1</script>", "")}<a href="https://example.org" onclick="window.__ran=1">x</a></p>`,
  });
  const nodes = [
    { id: "start", node_type: "trigger", event_type: EVIL, label: EVIL, next_node_id: "done" },
    { id: "done", node_type: "exit", label: EVIL },
  ];
  const journey = await kurier.api<{ id: string }>("POST", "/api/v1/journeys", {
    name: EVIL,
    description: EVIL,
    nodes,
  });
  await kurier.api("POST", `/api/v1/journeys/${journey.id}/publish`);
  await kurier.send({ type: "track", userId: "eve", event: EVIL });
  await kurier.api("POST", "/api/v1/segments", { name: EVIL, expression: "TRUE" });
  await kurier.api("POST", "/api/v1/messages", {
    channel: "email",
    to: "eve@example.org",
    body: { subject: EVIL, html: `<h1>shown</h1>${EVIL}` },
  });
});
test.afterAll(async () => kurier.stop());

test("a template cannot be named like that", async () => {
  const refused = kurier.api("PUT", `/api/v1/templates/${encodeURIComponent(EVIL)}`, { subject: "x", text: "x" });
  await expect(refused).rejects.toThrow(/ 4\d\d /);
});

test("stored script never runs", async ({ clean }) => {
  await signIn(clean, kurier, OWNER);
  const [contact] = (await kurier.api<{ data: { id: string }[] }>("GET", "/api/v1/contacts?user_id=eve")).data;
  const [segment] = (await kurier.api<{ data: { id: string }[] }>("GET", "/api/v1/segments")).data;
  const message = (await kurier.api<{ data: { id: string }[] }>("GET", "/api/v1/messages?to=eve@example.org")).data[0];
  const [journey] = (await kurier.api<{ data: { id: string }[] }>("GET", "/api/v1/journeys")).data;
  const ran = async () =>
    (await kurier.api<{ data: { id: string }[] }>("GET", `/api/v1/journeys/${journey?.id}/instances`)).data;
  await expect.poll(async () => (await ran()).length).toBe(1);
  const [run] = await ran();
  const pages = [
    "/journeys",
    `/journeys/${journey?.id}`,
    `/journeys/${journey?.id}/runs`,
    `/runs/${run?.id}`,
    `/contacts/${contact?.id}?tab=journeys`,
    "/contacts",
    `/contacts/${contact?.id}`,
    `/contacts/${contact?.id}?tab=segments`,
    "/segments",
    `/segments/${segment?.id}`,
    "/templates",
    "/templates/evil",
    "/messages",
    `/messages/${message?.id}`,
    "/outbox",
    "/settings/audit",
  ];
  for (const path of pages) {
    await clean.goto(kurier.url + path);
    await expect(clean.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(clean.locator(".skeleton")).toHaveCount(0);
    const done = await clean.evaluate(() => (window as unknown as { __ran?: number }).__ran);
    expect(done, path).toBeUndefined();
    // Not even what cannot run is taken for markup.
    await expect(clean.locator('img[src="x"]'), path).toHaveCount(0);
  }
  await clean.goto(`${kurier.url}/contacts/${contact?.id}`);
  await expect(clean.getByRole("heading", { name: EVIL })).toBeVisible();
  await clean.goto(`${kurier.url}/journeys/${journey?.id}`);
  await expect(clean.locator('.react-flow__node[data-id="done"]')).toContainText(EVIL);
});

test("a letter is shown, and its scripts are not run", async ({ clean }) => {
  await signIn(clean, kurier, OWNER);
  const message = (await kurier.api<{ data: { id: string }[] }>("GET", "/api/v1/messages?to=eve@example.org")).data[0];
  await clean.goto(`${kurier.url}/messages/${message?.id}`);
  const letter = clean.frameLocator("iframe.letter-frame");
  await expect(letter.getByRole("heading", { name: "shown" })).toBeVisible();
  const frame = clean.frames().find((one) => one !== clean.mainFrame());
  expect(await frame?.evaluate(() => (window as unknown as { __ran?: number }).__ran)).toBeUndefined();
});

test("whatever shows what somebody wrote is a frame that may do nothing", async ({ clean }) => {
  await signIn(clean, kurier, OWNER);
  await kurier.api("POST", "/api/v1/content", { documents: [{ source: "evil.md", markdown: `# Evil\n\n${EVIL}\n` }] });
  const message = (await kurier.api<{ data: { id: string }[] }>("GET", "/api/v1/messages?to=eve@example.org")).data[0];
  const { data } = await kurier.api<{ data: { key: string }[] }>("GET", "/api/v1/content");
  const pages = [`/messages/${message?.id}`, "/outbox", "/templates/evil", `/content/${data[0]?.key}`];
  for (const path of pages) {
    await clean.goto(kurier.url + path);
    const frame = clean.locator("iframe");
    await expect(frame.first(), path).toBeVisible();
    // No word in it: no script, no form, no other window, and an origin of its own.
    for (const one of await frame.all()) await expect(one, path).toHaveAttribute("sandbox", "");
  }
});

test("the policy allows no script from elsewhere or inline", async ({ request }) => {
  const answer = await request.get(kurier.url, { headers: { Accept: "text/html" } });
  const policy = answer.headers()["content-security-policy"] ?? "";
  const scripts = policy
    .split(";")
    .map((part) => part.trim())
    .find((part) => part.startsWith("script-src") || part.startsWith("default-src"));
  expect(scripts).toBeDefined();
  expect(scripts).not.toContain("unsafe-inline");
  expect(scripts).not.toContain("unsafe-eval");
  expect(await answer.text()).not.toMatch(/<script(?![^>]*\bsrc=)/);
});
