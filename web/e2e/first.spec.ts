// The page of the first steps: from nothing to a message that can be read, in five clicks.
import { expect, setUp, test } from "./fixtures";
import { startKurier, type Kurier } from "./server";
import { shoot } from "./shots";

let kurier: Kurier;

test.beforeAll(async () => {
  kurier = await startKurier();
});
test.afterAll(async () => kurier.stop());

test("five clicks lead to the first message", async ({ clean }) => {
  await setUp(clean, kurier);
  const began = Date.now();
  const click = (name: string, at = 0) => clean.getByRole("button", { name }).nth(at).click();
  await click("Make a write key");
  await click("Send it from here");
  await expect(clean.getByText("Arrived").first()).toBeVisible();
  await click("Publish the welcome journey");
  await expect(clean.getByRole("link", { name: "Open the journey" })).toBeVisible();
  await click("Send it from here", 1);
  await clean.getByRole("link", { name: "Open it in the outbox" }).click();
  await expect(clean.getByRole("heading", { name: "Welcome, Ada" })).toBeVisible();
  await expect(clean.frameLocator("iframe.letter-frame").getByText("first message")).toBeVisible();
  console.log(`from the first click to the first message: ${Date.now() - began} ms`);
  await shoot(clean, "first-message-1280-en");
});
