// What operators do beside the first way through: each is done once, and its end is seen.
import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { expect, head, signIn, test, toast } from "./fixtures";
import { OWNER, startKurier, type Kurier } from "./server";

let kurier: Kurier;
let journey: string;

test.beforeAll(async () => {
  kurier = await startKurier();
  await kurier.own();
  await kurier.api("PUT", "/api/v1/templates/hello", { subject: "Hello", text: "Hi" });
  const nodes = [
    { id: "start", node_type: "trigger", event_type: "joined", next_node_id: "pause" },
    { id: "pause", node_type: "wait", wait_type: "duration", duration: "1d", next_node_id: "done", label: "A day" },
    { id: "done", node_type: "exit" },
  ];
  journey = (await kurier.api<{ id: string }>("POST", "/api/v1/journeys", { name: "Joining", nodes })).id;
  await kurier.api("POST", `/api/v1/journeys/${journey}/publish`);
  await kurier.send(
    { type: "identify", userId: "ada", traits: { first_name: "Ada", email: "ada@example.org" } },
    { type: "track", userId: "ada", event: "joined" },
    { type: "track", userId: "ada", event: "Order Completed", properties: { total: 3 } },
  );
});
test.afterAll(async () => kurier.stop());

const visit = async (page: Page, path: string) => {
  await signIn(page, kurier, OWNER);
  await page.goto(kurier.url + path);
};

test("a node's count leads to the contacts there", async ({ clean }) => {
  await visit(clean, `/journeys/${journey}`);
  await expect(clean.getByTestId("at-pause")).toHaveText("1 here");
  await clean.locator('.react-flow__node[data-id="pause"]').click();
  await clean.getByRole("link", { name: "Who is here: 1 here" }).click();
  const table = clean.getByRole("table", { name: "Runs" });
  await expect(table.locator("tbody tr")).toHaveCount(1);
  await expect(table.getByRole("link", { name: "Ada" })).toBeVisible();
  await clean.getByRole("combobox", { name: "Node" }).selectOption("done");
  await expect(clean.getByRole("heading", { name: "No runs here" })).toBeVisible();
});

test("an older version is looked at, and cannot be changed", async ({ clean }) => {
  await visit(clean, `/journeys/${journey}`);
  const start = clean.locator('.react-flow__node[data-id="start"]');
  await start.click();
  await clean.getByLabel("Event type").fill("joined_again");
  await head(clean).getByRole("button", { name: "Publish" }).click();
  await clean.getByRole("dialog").getByRole("button", { name: "Publish" }).click();
  await expect(start).toContainText("joined_again");
  const versions = clean.getByRole("combobox", { name: "Version" });
  await expect(versions.getByRole("option")).toHaveCount(3);
  await versions.selectOption({ label: "Version 1" });
  await expect(clean.getByText("Version 1 never changes.")).toBeVisible();
  await expect(start).toContainText("joined");
  await expect(start).not.toContainText("joined_again");
  await expect(clean.getByRole("button", { name: "Undo" })).toHaveCount(0);
});

test("a journey is paused and goes on", async ({ clean }) => {
  await visit(clean, `/journeys/${journey}`);
  await head(clean).getByRole("button", { name: "Pause" }).click();
  const dialog = clean.getByRole("dialog");
  await expect(dialog).toContainText("1 run in it stays where it is");
  await dialog.getByRole("button", { name: "Pause" }).click();
  await expect(head(clean).getByText("paused", { exact: true })).toBeVisible();
  await head(clean).getByRole("button", { name: "Resume" }).click();
  await expect(head(clean).getByText("active", { exact: true })).toBeVisible();
});

test("contacts are imported: columns chosen, looked at before, lines of the file named", async ({ clean }) => {
  await visit(clean, "/contacts/import");
  // The third contact stands in line 6: a cell goes over two lines, and one line is empty.
  const csv = 'who,mail,note\nbob,bob@example.org,"two\nlines"\n\neve,eve@example.org,\nzoe,no address,\n';
  await clean
    .getByLabel("CSV file")
    .setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
  await expect(clean.getByText("One column must be the user id")).toHaveCount(0);
  await clean.getByRole("combobox", { name: "who: Becomes" }).selectOption("user_id");
  await clean.getByRole("combobox", { name: "note: Becomes" }).selectOption("skip");
  const preview = clean.getByRole("table", { name: "Preview" });
  await expect(preview.locator("tbody tr")).toHaveCount(3);
  await expect(preview.getByText("two")).toHaveCount(0);
  await expect(clean.getByText(/1 would be refused: line 6: \/email/)).toBeVisible();
  await clean.getByRole("button", { name: "Import 3 contacts" }).click();
  await expect(clean.getByText("Imported: 2 contacts")).toBeVisible();
  await expect(clean.getByText(/1 was refused: line 6: /)).toBeVisible();
});

test.describe("what is known of a contact", () => {
  // The page of a contact looks again whenever something happened to it: also that it was erased.
  test.use({ allowed: [/^404 .*\/api\/v1\/contacts\//] });

  test("is exported, then erased", async ({ clean }) => {
    await kurier.send({ type: "identify", userId: "gone", traits: { first_name: "Gone", secret: "said once" } });
    const found = async () =>
      (await kurier.api<{ data: { id: string }[] }>("GET", "/api/v1/contacts?user_id=gone")).data;
    await expect.poll(async () => (await found()).length).toBe(1);
    await visit(clean, `/contacts/${(await found())[0]?.id}`);
    const [download] = await Promise.all([
      clean.waitForEvent("download"),
      head(clean).getByRole("link", { name: "Export" }).click(),
    ]);
    expect(readFileSync(await download.path(), "utf8")).toContain("said once");
    await head(clean).getByRole("button", { name: "Erase" }).click();
    const dialog = clean.getByRole("dialog");
    await expect(dialog.getByRole("button", { name: "Erase" })).toBeDisabled();
    await dialog.getByLabel("Type gone to confirm").fill("gone");
    await dialog.getByRole("button", { name: "Erase" }).click();
    await expect(toast(clean, "Erased: ")).toBeVisible();
    expect(await found()).toEqual([]);
  });
});

test("a template is sent as a test, and the message says what became of it", async ({ clean }) => {
  await visit(clean, "/templates/hello");
  await clean.getByLabel("To address").fill("test@example.org");
  await clean.getByRole("button", { name: "Test send" }).click();
  await expect(toast(clean, "Queued: see it under messages")).toBeVisible();
  await clean.goto(`${kurier.url}/messages?to=test@example.org`);
  await clean.getByRole("table", { name: "Messages" }).getByRole("link", { name: "test@example.org" }).click();
  const events = clean.getByRole("region", { name: "What the log was told" }).getByRole("listitem");
  await expect(events).toHaveCount(2);
  await expect(events.nth(0)).toContainText("message asked for");
  await expect(events.nth(1)).toContainText("message sent");
});

test("a linked message is shown in the outbox however old it is", async ({ clean }) => {
  const body = (n: number) => ({
    channel: "email",
    to: `n${n}@example.org`,
    body: { subject: `Letter ${n}`, text: "x" },
  });
  const { id } = await kurier.api<{ id: string }>("POST", "/api/v1/messages", body(0));
  for (let n = 1; n <= 50; n++) await kurier.api("POST", "/api/v1/messages", body(n));
  const newest = async () =>
    (await kurier.api<{ data: { subject: string }[] }>("GET", "/api/v1/messages?sent_by=outbox&subjects=true&limit=1"))
      .data[0]?.subject;
  await expect.poll(newest).toBe("Letter 50");
  await visit(clean, `/outbox?message=${id}`);
  const list = clean.getByRole("navigation", { name: "Messages in the outbox" });
  await expect(list.getByText("Letter 50", { exact: true })).toBeVisible();
  await expect(list.getByText("Letter 0", { exact: true })).toHaveCount(0);
  await expect(clean.locator(".mail-letter").getByRole("heading", { name: "Letter 0", exact: true })).toBeVisible();
});

test("a channel is tested", async ({ clean }) => {
  await kurier.api("PUT", "/api/v1/channels/inbox", { kind: "outbox" });
  await visit(clean, "/settings/channels");
  await clean
    .getByRole("row", { name: /^inbox/ })
    .getByRole("button", { name: "Test" })
    .click();
  const dialog = clean.getByRole("dialog");
  await dialog.getByLabel("To address").fill("test@example.org");
  await dialog.getByRole("button", { name: "Send test" }).click();
  await expect(dialog.getByText(/^sent after [\d,.]+ ms/)).toBeVisible();
});

test("a projection is built anew, and its progress is told", async ({ clean }) => {
  await visit(clean, "/projections");
  const daily = clean.getByRole("region", { name: "daily" });
  await daily.getByRole("button", { name: "Rebuild" }).click();
  await clean.getByRole("dialog").getByRole("button", { name: "Rebuild" }).click();
  await expect(daily.getByRole("progressbar").or(daily.getByText("Rebuilt"))).toBeVisible();
  await expect(daily.getByText("Rebuilt")).toBeVisible();
});

test("a word is chosen while typing, and leaves no quote behind", async ({ clean }) => {
  await visit(clean, "/segments/new");
  const editor = clean.getByRole("textbox", { name: "Expression" });
  const offered = clean.locator(".cm-tooltip-autocomplete");
  const choose = async (typed: string, label: string) => {
    await clean.keyboard.type(typed);
    await offered.getByRole("option", { name: label }).click();
    await expect(offered).toHaveCount(0);
  };
  await editor.click();
  // Brackets and quotes close by themselves while they are typed.
  await choose("EXISTS (event WHERE event_type = 'Ord", "'Order Completed'");
  await expect(editor).toHaveText("EXISTS (event WHERE event_type = 'Order Completed')");
  await clean.keyboard.press("ControlOrMeta+a");
  await choose("COUNT(event WHERE event_type IN ('joined', 'Ord", "'Order Completed'");
  await expect(editor).toHaveText("COUNT(event WHERE event_type IN ('joined', 'Order Completed'))");
  await clean.keyboard.press("End");
  await clean.keyboard.type(" >= 2");
  await expect(clean.locator(".big-number")).toHaveText("1");
});

test.describe("what goes wrong in a dialog", () => {
  test.use({ allowed: [/^409 .*\/api\/v1\/journeys$/] });

  test("is told in it, and can be put away", async ({ clean }) => {
    await visit(clean, "/journeys");
    await head(clean).getByRole("button", { name: "New journey" }).click();
    const dialog = clean.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Joining");
    await dialog.getByRole("button", { name: "Create" }).click();
    const told = toast(clean, "The name is taken.");
    await expect(dialog.locator(".toasts")).toContainText("The name is taken.");
    // Behind the dialog nothing could be clicked.
    await told.getByRole("button", { name: "Close" }).click();
    await expect(told).toHaveCount(0);
    await expect(dialog.getByLabel("Name")).toHaveValue("Joining");
  });
});
