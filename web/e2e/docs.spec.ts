// The reference of the API: found by words, tried with a key and as the user who is signed in, and nothing from elsewhere.
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, signIn, test } from "./fixtures";
import { ADMIN_KEY, OWNER, startKurier, type Kurier } from "./server";
import { shoot } from "./shots";

let kurier: Kurier;
let foreign: string[];

test.beforeAll(async () => {
  kurier = await startKurier();
  await kurier.own();
  await kurier.api("POST", "/api/v1/segments", { name: "Shown in the answer", expression: "TRUE" });
});
test.afterAll(async () => kurier?.stop());

test.beforeEach(({ clean }) => {
  foreign = [];
  clean.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== kurier.url && protocol !== "data:") foreign.push(request.url());
  });
});
test.afterEach(() => expect(foreign, "no request leaves the server").toEqual([]));

const operation = (page: Page, method: string, path: string) =>
  page.locator(`.opblock-${method}`, { has: page.locator(`[data-path="${path}"]`) });

async function openReference(page: Page) {
  await page.goto(`${kurier.url}/docs`);
  await expect(page.getByRole("status")).toHaveText(/^\d{2,} operations$/);
}

/** Opens an operation without a mouse. */
async function expand(page: Page, method: string, path: string) {
  const found = operation(page, method, path);
  await found.locator(".opblock-summary-control").focus();
  await page.keyboard.press("Enter");
  return found;
}

test.describe("with an API key", () => {
  test.use({ allowed: [/^401 .*\/api\/v1\/segments$/] });

  test("an operation is found, opened and tried", async ({ clean }) => {
    await openReference(clean);
    await clean.getByLabel("Search").fill("members SEGMENTS get");
    await expect(operation(clean, "get", "/api/v1/segments/{id}/members")).toBeVisible();
    await expect(clean.locator(".opblock-post")).toHaveCount(0);
    await clean.getByLabel("Search").fill("no operation has these words");
    await expect(clean.getByRole("status")).toHaveText("0 operations");
    await clean.getByLabel("Search").fill("/api/v1/segments");

    const list = await expand(clean, "get", "/api/v1/segments");
    const answer = list.locator(".live-responses-table");
    await list.getByRole("button", { name: "Execute" }).click();
    await expect(answer).toContainText("unauthorized");
    await clean.getByLabel("API key").fill(ADMIN_KEY);
    await list.getByRole("button", { name: "Execute" }).click();
    await expect(answer.locator("tbody .response-col_status")).toHaveText("200");
    await expect(answer).toContainText("Shown in the answer");

    // The key is in its field, and nowhere else.
    await expect(list.locator(".curl-command")).toContainText('-H "Authorization: Bearer $KEY"');
    expect(await clean.locator("body").innerText()).not.toContain(ADMIN_KEY);
    const kept = await clean.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie, location]));
    expect(kept).not.toContain(ADMIN_KEY);
    await clean.reload();
    await expect(clean.getByLabel("API key")).toHaveValue("");
    await expect(clean.getByLabel("Search")).toHaveValue("/api/v1/segments");
    await expect(operation(clean, "get", "/api/v1/contacts")).toHaveCount(0);
  });
});

test("who is signed in changes something without a key", async ({ clean }) => {
  await signIn(clean, kurier, OWNER);
  await clean.goto(`${kurier.url}/settings/keys`);
  await clean.getByRole("link", { name: "API reference" }).click();
  await expect(clean.getByRole("status")).toHaveText(/operations$/);
  const create = await expand(clean, "post", "/api/v1/segments");
  await create.getByLabel("Body").fill(JSON.stringify({ name: "Made by a form", expression: "TRUE" }));
  await create.getByRole("button", { name: "Execute" }).click();
  await expect(create.locator(".live-responses-table tbody .response-col_status")).toHaveText("201");
  const { data } = await kurier.api<{ data: { name: string }[] }>("GET", "/api/v1/segments");
  expect(data.map((segment) => segment.name)).toContain("Made by a form");
  await clean.getByRole("link", { name: "Kurier" }).click();
  await expect(clean.getByRole("navigation", { name: "Main" })).toBeVisible();
});

test("an optional parameter is sent only if somebody fills it in", async ({ clean }) => {
  await openReference(clean);
  await clean.getByLabel("API key").fill(ADMIN_KEY);
  const contacts = await expand(clean, "get", "/api/v1/contacts");
  await expect(contacts.locator('[data-param-name="attribute"] input')).toHaveValue("");
  await contacts.locator('[data-param-name="email"] input').fill("ada@example.org");
  await contacts.getByRole("button", { name: "Execute" }).click();
  await expect(contacts.locator(".request-url")).toContainText("email=ada%40example.org");
  await expect(contacts.locator(".request-url")).not.toContainText("attribute");
});

test("the page runs scripts of its own server only", async ({ request }) => {
  const answer = await request.get(`${kurier.url}/docs`);
  const policy = answer.headers()["content-security-policy"] ?? "";
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("connect-src 'self';");
  expect(await answer.text()).not.toMatch(/<script(?![^>]*\bsrc=)/);
});

// How the viewer builds its rows and examples is its own.
const OF_THE_VIEWER = ["nested-interactive", "scrollable-region-focusable"];

for (const colorScheme of ["light", "dark"] as const) {
  for (const [width, height] of [
    [1280, 800],
    [390, 844],
  ] as const) {
    test(`it can be read at ${width}, ${colorScheme}`, async ({ clean }) => {
      await clean.emulateMedia({ colorScheme });
      await clean.setViewportSize({ width, height });
      await openReference(clean);
      await shoot(clean, `docs-${width}-${colorScheme}`);
      await clean.getByLabel("API key").fill(ADMIN_KEY);
      const list = await expand(clean, "get", "/api/v1/segments");
      await list.getByRole("button", { name: "Execute" }).click();
      await expect(list.locator(".live-responses-table")).toContainText("Shown in the answer");
      await expand(clean, "delete", "/api/v1/segments/{id}");
      await expand(clean, "put", "/api/v1/channels/{name}");
      const { violations } = await new AxeBuilder({ page: clean }).disableRules(OF_THE_VIEWER).analyze();
      const serious = violations.filter((fault) => ["serious", "critical"].includes(fault.impact ?? ""));
      expect(serious.map((fault) => `${fault.id}: ${fault.nodes[0]?.target}`)).toEqual([]);
      const overflow = await clean.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(overflow).toBeLessThanOrEqual(0);
      await shoot(clean, `docs-answer-${width}-${colorScheme}`);
    });
  }
}
