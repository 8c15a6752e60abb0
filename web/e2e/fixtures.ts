// A page that fails its test when anything is said to the console, or a script runs that should not.
import { expect, test as base, type ConsoleMessage, type Page } from "@playwright/test";
import { OWNER, ADMIN_KEY, type Kurier } from "./server";

// The door asks who is signed in; "nobody" is an answer, which Chromium reports like a fault.
const DOOR = /^401 .*\/api\/v1\/session$/;

// What a letter tried and could not do.
const KEPT_BACK = /^Blocked script execution in 'about:srcdoc'|violates the following Content Security Policy/;
const FAILED_LOAD = /^Failed to load resource: the server responded with a status of (\d+)/;

const excused = (message: ConsoleMessage, allowed: RegExp[]) => {
  const url = message.location().url;
  if (url === "about:srcdoc" || message.text().includes("about:srcdoc")) return KEPT_BACK.test(message.text());
  const status = FAILED_LOAD.exec(message.text())?.[1];
  return status !== undefined && [DOOR, ...allowed].some((pattern) => pattern.test(`${status} ${url}`));
};

/** Gathers whatever goes wrong on a page. Patterns of what may are of a status and an address, such as `404 http…`. */
export function listen(page: Page, said: string[], allowed: RegExp[] = []) {
  page.on("console", (message) => {
    if (message.type() === "error" && !excused(message, allowed))
      said.push(`${message.text()} (${message.location().url})`);
  });
  page.on("pageerror", (error) => said.push(error.message));
}

export const test = base.extend<{ allowed: RegExp[]; clean: Page }>({
  allowed: [[], { option: true }],
  clean: async ({ page, allowed }, use) => {
    const said: string[] = [];
    listen(page, said, allowed);
    await use(page);
    expect(said, "the console stays silent").toEqual([]);
  },
});

export { expect };

export async function setUp(page: Page, kurier: Kurier) {
  await page.goto(kurier.url);
  await page.getByLabel("Your name").fill(OWNER.name);
  await page.getByLabel("E-mail").fill(OWNER.email);
  await page.getByLabel("Password").fill(OWNER.password);
  await page.getByLabel("Admin key").fill(ADMIN_KEY);
  await page.getByRole("button", { name: "Create user and start" }).click();
  await expect(page.getByRole("heading", { name: "Get started", level: 1 })).toBeVisible();
}

export async function signIn(page: Page, kurier: Kurier, user: { email: string; password: string }) {
  await page.goto(kurier.url);
  await page.getByLabel("E-mail").fill(user.email);
  await page.getByLabel("Password").fill(user.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
}

export const open = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true }).click();

/** What stands beside the page's heading: an empty list offers the same once more below. */
export const head = (page: Page) => page.locator(".page-head");

/** What was told last, in the corner of the page or of the dialog on it. */
export const toast = (page: Page, text: string | RegExp) => page.locator(".toasts .toast", { hasText: text });
