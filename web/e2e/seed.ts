// A workspace with enough in it to be looked at; the same at every run.
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, type Page } from "@playwright/test";
import { ADMIN_KEY, type Kurier } from "./server";

const EXAMPLES = resolve(import.meta.dirname, "../../examples");
const FIRST = ["Anna", "Ben", "Clara", "David", "Emma", "Finn", "Greta", "Hannes", "Ida", "Jonas"];
const LAST = ["Becker", "Fischer", "Hoffmann", "Keller", "Krause", "Meyer", "Richter", "Vogel", "Weber"];
const PLANS = ["free", "free", "pro", "team"];
const CITIES = ["Bonn", "Berlin", "Leipzig", "Graz", "Bern"];
const PEOPLE = 120;
const DAY_MS = 86_400_000;

const pick = <T>(list: T[], at: number): T => list[at % list.length] as T;

function person(at: number) {
  const [first, last] = [pick(FIRST, at * 7), pick(LAST, at * 5)];
  return {
    type: "identify",
    userId: `user-${at}`,
    traits: {
      first_name: first,
      last_name: last,
      email: `${first}.${last}.${at}@example.org`.toLowerCase(),
      plan: pick(PLANS, at),
      city: pick(CITIES, at * 3),
      age: 20 + ((at * 13) % 50),
    },
  };
}

function doings(at: number, now: number) {
  const when = (back: number) => new Date(now - back * DAY_MS).toISOString();
  const cart = { cart_id: `cart-${at}`, total: 10 + ((at * 17) % 150) };
  const events: object[] = [
    {
      type: "track",
      userId: `user-${at}`,
      event: "signed_up",
      timestamp: when(at % 13),
      properties: { source: pick(["web", "app"], at) },
    },
  ];
  if (at % 2 === 0)
    events.push({
      type: "track",
      userId: `user-${at}`,
      event: "cart_updated",
      timestamp: when((at % 5) / 2),
      properties: cart,
    });
  if (at % 4 === 0)
    events.push({
      type: "track",
      userId: `user-${at}`,
      event: "order_completed",
      timestamp: when((at % 5) / 4),
      properties: cart,
    });
  if (at % 3 === 0) events.push({ type: "page", userId: `user-${at}`, name: "Pricing", timestamp: when(at % 7) });
  return events;
}

async function yaml(kurier: Kurier, method: string, path: string, file: string) {
  const answer = await fetch(kurier.url + path, {
    method,
    headers: { Authorization: `Bearer ${ADMIN_KEY}`, "Content-Type": "application/yaml" },
    body: readFileSync(file, "utf8"),
  });
  if (!answer.ok) throw new Error(`${file}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as { id: string };
}

async function publish(kurier: Kurier) {
  for (const file of readdirSync(`${EXAMPLES}/templates`))
    await yaml(kurier, "PUT", `/api/v1/templates/${file.replace(/\.yaml$/, "")}`, `${EXAMPLES}/templates/${file}`);
  await kurier.api("POST", "/api/v1/segments", {
    name: "Lapsed",
    expression: "NOT EXISTS (event WHERE event_time > now() - 6d)",
  });
  await kurier.api("POST", "/api/v1/segments", { name: "Paying", expression: "contact.plan IN ('pro', 'team')" });
  await kurier.api("POST", "/api/v1/segments", { name: "VIPs" });
  for (const name of ["abandoned-cart", "welcome", "trial-reminder", "win-back"]) {
    const { id } = await yaml(kurier, "POST", "/api/v1/journeys", `${EXAMPLES}/journeys/${name}.yaml`);
    if (name !== "trial-reminder") await kurier.api("POST", `/api/v1/journeys/${id}/publish`);
  }
}

async function deadLetters(kurier: Kurier) {
  await kurier.api("PUT", "/api/v1/channels/partner", { kind: "outbox", enabled: false });
  for (const to of ["a@example.org", "b@example.org", "c@example.org"])
    await kurier.api("POST", "/api/v1/messages", { channel: "partner", to, body: { subject: "News", text: "hello" } });
  await kurier.api("DELETE", "/api/v1/channels/partner");
  await kurier.api("PUT", "/api/v1/channels/inbox", { kind: "outbox", rate_limit_per_minute: 600 });
}

const HANDBOOK =
  "---\nauthor: Olga\ncategory: policies\ntags: [refunds]\n---\n# Handbook\n\n## Refunds\n\nYou have **30 days** to send anything back.\n\n### How\n\n1. Write to us\n2. Send it\n\n## Shipping\n\nWithin two days.\n";

export async function seed(kurier: Kurier) {
  await publish(kurier);
  const now = Date.now();
  const people = Array.from({ length: PEOPLE }, (_, at) => at);
  await kurier.send(...people.map(person));
  await kurier.send(...people.flatMap((at) => doings(at, now)));
  await deadLetters(kurier);
  await kurier.api("POST", "/api/v1/slack-workspaces", {
    name: "Acme",
    category: "sales",
    default_channel: "#general",
    secrets: { bot_token: "xoxb-1" },
  });
  await kurier.api("POST", "/api/v1/content", { documents: [{ source: "handbook.md", markdown: HANDBOOK }] });
}

type Found = { data: { id: string; name: string; state: string; key: string; versionId: string }[] };

/** A page, and what is opened on it before it is looked at. */
export type Seen = [name: string, path: string, open?: (page: Page) => Promise<void>];

const CSV = "user_id,email,plan\nada,ada@example.org,pro\ngrace,grace@example.org,free\nnobody,,free\n";

const pickFile = async (page: Page) => {
  await page
    .locator("input[type=file]")
    .setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer: Buffer.from(CSV) });
  await expect(page.locator("tbody").last().locator("tr")).toHaveCount(3);
};
const openDialog = async (page: Page) => {
  await page.locator(".panel > header button").click();
  await expect(page.locator("dialog[open]")).toBeVisible();
};
const openNode = async (page: Page) => {
  await page.locator('.react-flow__node[data-id="remind"]').click();
  await expect(page.locator(".side-numbers")).toBeVisible();
};

/** Every page there is, with something on it. */
export async function allPages(kurier: Kurier): Promise<Seen[]> {
  const ask = (path: string) => kurier.api<Found>("GET", path);
  const [contact] = (await ask("/api/v1/contacts?user_id=user-4")).data;
  const segments = (await ask("/api/v1/segments")).data;
  const journeys = (await ask("/api/v1/journeys")).data;
  const cart = journeys.find((journey) => journey.name === "Abandoned cart");
  const paying = segments.find((segment) => segment.name === "Paying");
  const [run] = (await ask(`/api/v1/journeys/${cart?.id}/instances?limit=1`)).data;
  const [message] = (await ask("/api/v1/messages?state=sent&template=welcome&limit=1")).data;
  const [node] = (await ask("/api/v1/content")).data;
  const versions = (await ask("/api/v1/versions?kind=template")).data;
  const version = versions.find((one) => one.name.startsWith("welcome"));
  return [
    ["overview", "/"],
    ["start", "/start"],
    ["contacts", "/contacts"],
    ["contact", `/contacts/${contact?.id}`],
    ["contact-segments", `/contacts/${contact?.id}?tab=segments`],
    ["contact-journeys", `/contacts/${contact?.id}?tab=journeys`],
    ["contact-messages", `/contacts/${contact?.id}?tab=messages`],
    ["import", "/contacts/import"],
    ["import-mapping", "/contacts/import", pickFile],
    ["segments", "/segments"],
    ["segment", `/segments/${paying?.id}`],
    ["segment-new", "/segments/new"],
    ["segment-edit", `/segments/${paying?.id}/edit`],
    ["journeys", "/journeys"],
    ["journey", `/journeys/${cart?.id}`],
    ["journey-node", `/journeys/${cart?.id}`, openNode],
    ["runs", `/journeys/${cart?.id}/runs`],
    ["run", `/runs/${run?.id}`],
    ["messages", "/messages"],
    ["message", `/messages/${message?.id}`],
    ["outbox", "/outbox"],
    ["dead-letters", "/dead-letters"],
    ["templates", "/templates"],
    ["template", "/templates/cart-reminder"],
    ["template-new", "/templates/new"],
    ["content", "/content"],
    ["content-node", `/content/${node?.key}`],
    ["bundles", "/bundles"],
    ["bundle", `/bundles/${version?.versionId}`],
    ["projections", "/projections"],
    ["slack-workspaces", "/slack-workspaces"],
    ["settings", "/settings/channels"],
    ["keys", "/settings/keys"],
    ["key-dialog", "/settings/keys", openDialog],
    ["users", "/settings/users"],
    ["audit", "/settings/audit"],
    ["not-found", "/nowhere"],
  ];
}
