// Every page: no fault that axe calls serious, nothing beside the screen, and a picture of it.
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { newChain, type Chain } from "./chain";
import { expect, signIn, test } from "./fixtures";
import { allPages, seed, type Seen } from "./seed";
import { OWNER, startKurier, type Kurier } from "./server";
import { shoot } from "./shots";

const QUIET_MS = 1500;

let kurier: Kurier;
let chain: Chain;
let pages: Seen[];
let fresh: Kurier;

test.beforeAll(async () => {
  chain = newChain(3);
  kurier = await startKurier(chain.settings);
  // Nobody has set this one up.
  fresh = await startKurier();
  await kurier.own();
  await seed(kurier);
  chain.anchor(kurier);
  chain.mine("--blocks", "3");
  // Runs and messages follow their events: what is looked at must be there.
  await expect
    .poll(
      async () =>
        (await kurier.api<{ data: unknown[] }>("GET", "/api/v1/messages?state=sent&template=welcome&limit=1")).data
          .length,
    )
    .toBe(1);
  await expect
    .poll(async () => (await kurier.api<{ data: unknown[] }>("GET", "/api/v1/messages?state=failed")).data.length)
    .toBe(3);
  type Versions = { data: { name: string; anchor: string }[] };
  const mined = async () => {
    const { data } = await kurier.api<Versions>("GET", "/api/v1/versions?kind=template");
    return data.some((version) => version.name.startsWith("welcome") && version.anchor === "mined");
  };
  await expect.poll(mined).toBe(true);
  pages = await allPages(kurier);
});
test.afterAll(async () => {
  await kurier?.stop();
  await fresh?.stop();
  chain?.remove();
});

async function prefer(page: Page, language: string, theme: string) {
  await page.evaluate(
    ([tongue, look]) => {
      localStorage.setItem("kurier.language", tongue ?? "en");
      localStorage.setItem("kurier.theme", look ?? "light");
    },
    [language, theme],
  );
}

async function visit(page: Page, path: string, open?: Seen[2]) {
  await page.goto(kurier.url + path);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(page.locator(".skeleton, .expression-loading")).toHaveCount(0);
  // The count is asked for once the expression was checked.
  if (path.endsWith("/edit")) await expect(page.locator(".big-number")).toBeVisible();
  await open?.(page);
}

/** Those in front of the door: to sign in, and to set up. */
async function doors(page: Page, look: (name: string) => Promise<void>) {
  for (const [name, server] of [
    ["setup", fresh],
    ["sign-in", kurier],
  ] as const) {
    await page.goto(server.url);
    await prefer(page, ...preferred);
    await page.goto(server.url);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await look(name);
  }
}

let preferred: [language: string, theme: string] = ["en", "light"];

/** Looks at every page there is, in front of the door and behind it. */
async function everywhere(page: Page, look: (name: string) => Promise<void>) {
  await doors(page, look);
  // The way in is gone in English, and with the navigation in sight.
  const size = page.viewportSize();
  await page.evaluate(() => localStorage.setItem("kurier.language", "en"));
  await page.setViewportSize({ width: 1280, height: 800 });
  await signIn(page, kurier, OWNER);
  if (size) await page.setViewportSize(size);
  await prefer(page, ...preferred);
  for (const [name, path, open] of pages) {
    await visit(page, path, open);
    await look(name);
  }
}

async function seriousFaults(page: Page, name: string): Promise<string[]> {
  // Letters are what operators wrote; they stand in frames that no tool can look into.
  const found = await new AxeBuilder({ page }).exclude("iframe").analyze();
  const serious = found.violations.filter((fault) => fault.impact === "serious" || fault.impact === "critical");
  const where = (fault: (typeof serious)[number]) =>
    fault.nodes.slice(0, 2).map((node) => `${node.target.join(" ")} ${node.any[0]?.message ?? ""}`);
  return serious.map((fault) => `${name}: ${fault.id}: ${where(fault).join(" | ")}`);
}

for (const theme of ["light", "dark"]) {
  test(`axe finds no serious fault on any page, ${theme}`, async ({ clean }) => {
    test.setTimeout(300_000);
    preferred = ["en", theme];
    const faults: string[] = [];
    await everywhere(clean, async (name) => void faults.push(...(await seriousFaults(clean, name))));
    expect(faults).toEqual([]);
  });
}

for (const [language, theme] of [
  ["en", "light"],
  ["de", "dark"],
] as const) {
  for (const [width, height] of [
    [1280, 800],
    [390, 844],
  ] as const) {
    test(`pages at ${width}, ${language}, ${theme}: nothing overflows`, async ({ clean }) => {
      test.setTimeout(300_000);
      preferred = [language, theme];
      await clean.setViewportSize({ width, height });
      const wide: string[] = [];
      await everywhere(clean, async (name) => {
        const over = await clean.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        if (over > 0) wide.push(`${name} by ${over} px`);
        await shoot(clean, `${name}-${width}-${language}`);
      });
      expect(wide).toEqual([]);
    });
  }
}

test("what the first page loads weighs at most 350 KB", async ({ clean }) => {
  await signIn(clean, kurier, OWNER);
  const session = await clean.context().newCDPSession(clean);
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  let bytes = 0;
  let lastFile = Date.now();
  const files = new Set<string>();
  session.on("Network.requestWillBeSent", ({ requestId, type }) => {
    if (type === "Fetch" || type === "EventSource" || type === "XHR") return;
    files.add(requestId);
    lastFile = Date.now();
  });
  session.on("Network.loadingFinished", (event) => {
    bytes += event.encodedDataLength;
    if (files.delete(event.requestId)) lastFile = Date.now();
  });
  await visit(clean, "/");
  // A live page asks for numbers for ever; what it is made of has come when no more of it is asked for.
  await expect.poll(() => files.size === 0 && Date.now() - lastFile > QUIET_MS, { timeout: 30_000 }).toBe(true);
  console.log(`first page: ${Math.round(bytes / 1024)} KB over the wire`);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(350 * 1024);
});

test("the menu opens on a phone, and the keyboard reaches the content", async ({ clean }) => {
  await signIn(clean, kurier, OWNER);
  await clean.setViewportSize({ width: 390, height: 844 });
  await expect(clean.getByRole("navigation", { name: "Main" })).toBeHidden();
  await clean.getByRole("button", { name: "Menu" }).click();
  await clean.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Segments" }).click();
  await expect(clean.getByRole("heading", { name: "Segments", level: 1 })).toBeVisible();
  await expect(clean.getByRole("navigation", { name: "Main" })).toBeHidden();
  await visit(clean, "/");
  await clean.keyboard.press("Tab");
  await expect(clean.getByRole("link", { name: "Skip to content" })).toBeFocused();
  await clean.keyboard.press("Enter");
  await expect(clean.locator("#content")).toBeFocused();
});
