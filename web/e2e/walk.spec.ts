// The way of a new operator: from the first start to a message, and on to what goes wrong.
import type { Page } from "@playwright/test";
import { expect, head, listen, open, setUp, signIn, test, toast } from "./fixtures";
import { startKurier, type Kurier } from "./server";

test.describe.configure({ mode: "serial" });

let kurier: Kurier;
let page: Page;
const said: string[] = [];

test.beforeAll(async ({ browser }) => {
  kurier = await startKurier();
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-GB" });
  page = await context.newPage();
  listen(page, said);
});
test.afterAll(async () => {
  await page.context().close();
  await kurier.stop();
  expect(said, "the console stays silent").toEqual([]);
});

test("first run: a user, a key, an event that arrives", async () => {
  await setUp(page, kurier);
  await page.getByRole("button", { name: "Make a write key" }).click();
  await expect(page.getByLabel("Write key")).toContainText("kur_");
  await expect(page.getByLabel("Terminal")).toContainText("/v1/batch");
  const second = page.getByRole("region", { name: "2. Send an event" });
  await second.getByRole("button", { name: "Send it from here" }).click();
  await expect(second.getByText("Arrived")).toBeVisible();
});

test("a segment is typed: faults are underlined, the count is live", async () => {
  await open(page, "Segments");
  await head(page).getByRole("link", { name: "New segment" }).click();
  await page.getByLabel("Name").fill("Adas");
  const editor = page.getByRole("textbox", { name: "Expression" });
  await editor.click();
  await page.keyboard.type("contact.first_name LIKE 'Ada'");
  await expect(page.locator(".cm-lintRange-error")).toHaveText("LIKE");
  await expect(page.getByRole("button", { name: "Save" })).toBeDisabled();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText("contact.first_name = 'Ada'");
  await expect(page.locator(".big-number")).toHaveText("1");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { name: "Adas", level: 1 })).toBeVisible();
  await expect(page.getByRole("table", { name: "Members" }).getByRole("link", { name: "Ada" })).toBeVisible();
});

test("a template is written, previewed and published", async () => {
  await open(page, "Templates");
  await head(page).getByRole("link", { name: "New template" }).click();
  await page.getByLabel("Name").fill("hello");
  await page.getByLabel("Subject").fill("Hello {{ contact.first_name }}");
  await page.getByLabel("Body", { exact: true }).fill("Hi **{{ contact.first_name }}**, good to see you.");
  await page.getByLabel("Preview for user id").fill("ada");
  await expect(page.getByRole("heading", { name: "Hello Ada" })).toBeVisible();
  await page.getByRole("button", { name: "Publish" }).click();
  await expect(page.getByRole("heading", { name: "hello", level: 1 })).toBeVisible();
  await expect(page.getByRole("region", { name: "Versions" }).getByRole("listitem")).toHaveText(/^Version 1 /);
});

const node = (id: string) => page.locator(`.react-flow__node[data-id="${id}"]`);
const handle = (id: string, by: string) => node(id).locator(`.react-flow__handle[data-handleid="${by}"]`);

async function draw(from: string, by: string, to: string) {
  const [start, end] = [await handle(from, by).boundingBox(), await handle(to, "in").boundingBox()];
  if (!start || !end) throw new Error(`no handles between ${from} and ${to}`);
  await page.mouse.move(start.x + start.width / 2, start.y + start.height / 2);
  await page.mouse.down();
  await page.mouse.move((start.x + end.x) / 2, (start.y + end.y) / 2, { steps: 8 });
  await page.mouse.move(end.x + end.width / 2, end.y + end.height / 2, { steps: 8 });
  await page.mouse.up();
}

const tools = () => page.getByRole("toolbar", { name: "Canvas of the journey" });

const edge = (from: string, to: string) =>
  page.getByLabel(new RegExp(`^${from} .*${to}$`)).and(page.locator(".react-flow__edge"));

test("a journey is drawn on the canvas and published", async () => {
  await open(page, "Journeys");
  await head(page).getByRole("button", { name: "New journey" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("Greeting");
  await page.getByRole("button", { name: "Create" }).click();
  await expect(node("start")).toBeVisible();

  const canvas = page.locator(".react-flow__pane");
  await page.getByRole("button", { name: "Send message" }).dragTo(canvas, { targetPosition: { x: 520, y: 500 } });
  await expect(node("send-message-1")).toBeVisible();
  await expect(node("send-message-1")).toContainText("fault");
  await page.getByLabel("Template").selectOption("hello");

  await draw("start", "next", "send-message-1");
  await expect(edge("start", "send-message-1")).toHaveCount(1);
  await draw("send-message-1", "next", "done");
  await expect(edge("send-message-1", "done")).toHaveCount(1);

  await page.getByRole("button", { name: "Undo" }).click();
  await expect(edge("send-message-1", "done")).toHaveCount(0);
  await page.getByRole("button", { name: "Redo" }).click();
  await expect(edge("send-message-1", "done")).toHaveCount(1);
  await page.getByRole("button", { name: "Arrange" }).click();

  await node("start").click();
  await page.getByLabel("Event type").fill("greeted");
  await expect(tools().getByText("No faults")).toBeVisible();
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Publish" }).click();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(head(page).getByText("active", { exact: true })).toBeVisible();
  await expect(page.getByRole("combobox", { name: "Version" }).getByRole("option")).toHaveText(["Draft", "Version 1"]);
});

test("an event goes through: the counts of the nodes move", async () => {
  await expect(page.getByTestId("entered-done")).toHaveText("0");
  await kurier.send({ type: "track", userId: "ada", event: "greeted" });
  await expect(page.getByTestId("entered-start")).toHaveText("1");
  await expect(page.getByTestId("entered-done")).toHaveText("1");
  // They go on moving: the first counts are asked for, those after are told.
  await kurier.send({ type: "track", userId: "ada", event: "greeted" });
  await expect(page.getByTestId("entered-start")).toHaveText("2");
  await expect(page.getByTestId("entered-done")).toHaveText("2");
});

test("a simulation shows its counts on the canvas", async () => {
  // What is drawn is simulated, not what is published: it asks for another event, which came once.
  await kurier.send({ type: "track", userId: "ada", event: "waved" });
  await node("start").click();
  await page.getByLabel("Event type").fill("waved");
  await page.getByRole("button", { name: "Simulate" }).click();
  await expect(tools().getByText("Simulated counts")).toBeVisible();
  await expect(page.getByText(/^From .* to .* · runs: 1 · contacts: 1 · messages: 1$/)).toBeVisible();
  await expect(page.getByTestId("entered-start")).toHaveText("1");
  await tools().getByRole("button", { name: "Back to live" }).click();
  await expect(tools().getByText("Live counts")).toBeVisible();
  await expect(page.getByTestId("entered-start")).toHaveText("2");
  await tools().getByRole("button", { name: "Undo" }).click();
  await expect(tools().getByText("unsaved changes")).toHaveCount(0);
});

test("the message is seen in the outbox", async () => {
  await open(page, "Outbox");
  await expect(page.getByRole("heading", { name: "Hello Ada" })).toBeVisible();
  await expect(page.frameLocator("iframe.letter-frame").getByText("good to see you")).toBeVisible();
});

test("the contact's page shows what happened, why, and the path", async () => {
  await open(page, "Contacts");
  await page.getByRole("searchbox", { name: "Search contacts" }).fill("ada");
  await page.getByRole("table").getByRole("link", { name: "Ada" }).click();
  const happened = (name: string) => page.locator(".timeline strong", { hasText: new RegExp(`^${name}$`) });
  // Two greetings, two messages.
  await expect(happened("message sent")).toHaveCount(2);
  await kurier.send({ type: "track", userId: "ada", event: "seen_live" });
  await expect(happened("seen_live")).toHaveCount(1);
  const tabs = page.getByRole("navigation", { name: "Ada" });
  await tabs.getByRole("link", { name: "Segments" }).click();
  await page.getByRole("button", { name: "Why?" }).click();
  await expect(page.locator(".reasons").getByText("contact.first_name is 'Ada'")).toBeVisible();
  await tabs.getByRole("link", { name: "Journeys" }).click();
  const runs = page.getByRole("table", { name: "Runs" }).getByRole("link", { name: "Greeting" });
  await expect(runs).toHaveCount(2);
  await runs.first().click();
  await expect(page.getByRole("heading", { name: "Path" })).toBeVisible();
  await expect(page.getByText("came to an exit")).toBeVisible();
});

test("a dead letter is redriven", async () => {
  await kurier.api("PUT", "/api/v1/channels/later", { kind: "outbox", enabled: false });
  await kurier.api("POST", "/api/v1/messages", {
    channel: "later",
    to: "someone@example.org",
    body: { subject: "Late", text: "better than never" },
  });
  await kurier.api("DELETE", "/api/v1/channels/later");
  await open(page, "Dead letters");
  await expect(page.getByRole("table").getByText("refused")).toBeVisible();
  await kurier.api("PUT", "/api/v1/channels/later", { kind: "outbox" });
  await page.getByRole("button", { name: "Redrive" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Redrive" }).click();
  await expect(toast(page, "1 message queued again")).toBeVisible();
  await expect(page.getByRole("heading", { name: "No dead letters" })).toBeVisible();
  await open(page, "Outbox");
  await expect(
    page.getByRole("navigation", { name: "Messages in the outbox" }).getByText("someone@example.org"),
  ).toBeVisible();
  await expect(
    page.getByRole("navigation", { name: "Messages in the outbox" }).getByText("Late", { exact: true }),
  ).toBeVisible();
});

test("a projection is verified", async () => {
  await open(page, "Projections");
  const daily = page.getByRole("region", { name: "daily" });
  await daily.getByRole("button", { name: "Verify" }).click();
  await expect(daily.getByText("Equal to the log")).toBeVisible();
});

test("content is imported and shown", async () => {
  await open(page, "Content");
  await head(page).getByRole("button", { name: "Import Markdown" }).click();
  await page.getByLabel("Markdown files").setInputFiles({
    name: "refunds.md",
    mimeType: "text/markdown",
    buffer: Buffer.from("# Refunds\n\n## Refund policy\n\nYou have **30 days**.\n"),
  });
  await expect(page.getByRole("dialog").getByText("new", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Import 1 document" }).click();
  await page.getByRole("button", { name: "Show what is below refunds", exact: true }).click();
  await page.getByRole("button", { name: "Show what is below Refunds", exact: true }).click();
  await page.getByRole("link", { name: "Refund policy", exact: true }).click();
  await expect(page.getByText("No template quotes it.")).toBeVisible();
  await expect(page.frameLocator("iframe").getByText("30 days")).toBeVisible();
});

test("a key is shown once", async () => {
  await open(page, "Settings");
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByRole("button", { name: "Make a key" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("reports");
  await page.getByRole("dialog").getByRole("button", { name: "Make a key" }).click();
  const key = await page.getByLabel("The new key").innerText();
  expect(key).toContain("kur_");
  await page.getByRole("dialog").locator("footer").getByRole("button", { name: "Close" }).click();
  await expect(page.getByRole("table", { name: "API keys" }).getByText("reports")).toBeVisible();
  await expect(page.getByText(key)).toHaveCount(0);
});

test("a viewer is added, and signs in", async () => {
  const viewer = { email: "vic@example.org", password: "looks but touches not" };
  await page.getByRole("link", { name: "Users" }).click();
  await page.getByRole("button", { name: "Add user" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Vic Viewer");
  await dialog.getByLabel("E-mail").fill(viewer.email);
  await dialog.getByLabel("Password").fill(viewer.password);
  await dialog.getByLabel("Role").selectOption("viewer");
  await dialog.getByRole("button", { name: "Add" }).click();
  await expect(toast(page, "User added")).toBeVisible();
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await signIn(page, kurier, viewer);
  await expect(page.getByText("your role is viewer")).toBeVisible();
});
