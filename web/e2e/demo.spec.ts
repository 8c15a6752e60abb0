// The first minute: one click, and a workspace moves.
import { expect, head, open, test } from "./fixtures";
import { startKurier, type Kurier } from "./server";
import { shoot } from "./shots";

let kurier: Kurier;

test.beforeAll(async () => {
  kurier = await startKurier({}, ["--demo"]);
});
test.afterAll(async () => kurier.stop());

test("the demo is one click away, and moves by itself", async ({ clean }) => {
  await clean.goto(kurier.url);
  await clean.getByRole("button", { name: "Look around in the demo" }).click();
  await expect(head(clean).getByText("Live", { exact: true })).toBeVisible();
  const position = clean.getByText("Log position").locator("xpath=following-sibling::dd");
  const before = await position.innerText();
  await expect(position).not.toHaveText(before);
  // A message is there to be looked at before anybody did anything.
  await open(clean, "Outbox");
  await expect(clean.locator(".mail-letter").locator("iframe.letter-frame, .letter-text")).toBeVisible({
    timeout: 60_000,
  });
  await open(clean, "Overview");
  await expect(clean.locator(".chart")).toHaveCount(2);
  // A debug build folds the history of the demo for a while.
  await expect(clean.getByText(/\d behind/)).toHaveCount(0, { timeout: 90_000 });
  await shoot(clean, "demo-1280-en");
});

test("the messages of a run are links with the names of their nodes", async ({ clean }) => {
  type Run = { id: string; messages: { id: string; node: string }[] };
  const sent = await kurier.api<{ data: { instance: string | null }[] }>("GET", "/api/v1/messages?state=sent&limit=50");
  const id = sent.data.find((message) => message.instance)?.instance;
  const run = await kurier.api<Run>("GET", `/api/v1/instances/${id}`);
  expect(run.messages.length).toBeGreaterThan(0);
  await clean.goto(kurier.url);
  await clean.getByRole("button", { name: "Look around in the demo" }).click();
  await expect(head(clean).getByText("Live", { exact: true })).toBeVisible();
  await clean.goto(`${kurier.url}/runs/${id}`);
  const link = clean.locator(`a[href="/messages/${run.messages[0]?.id}"]`);
  await expect(link).toHaveText(/\S/);
});
