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
  const step = (number: number) => clean.getByRole("region", { name: new RegExp(`^${number}\\. `) });
  const click = (number: number, name: string) => step(number).getByRole("button", { name }).click();
  await click(1, "Make a write key");
  await click(2, "Send it from here");
  await expect(step(2).getByText("Arrived")).toBeVisible();
  await click(3, "Publish the welcome journey");
  await expect(step(3).getByRole("link", { name: "Open the journey" })).toBeVisible();
  await click(4, "Send it from here");
  await step(4).getByRole("link", { name: "Open it in the outbox" }).click();
  await expect(clean.getByRole("heading", { name: "Welcome, Ada" })).toBeVisible();
  await expect(clean.frameLocator("iframe.letter-frame").getByText("first message")).toBeVisible();
  console.log(`from the first click to the first message: ${Date.now() - began} ms`);
  await shoot(clean, "first-message-1280-en");
});
