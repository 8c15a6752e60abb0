// A published template is anchored in a chain of our own, confirmed, and taken back by a reorganisation.
import { newChain, type Chain } from "./chain";
import { expect, open, signIn, test } from "./fixtures";
import { OWNER, startKurier, type Kurier } from "./server";

let kurier: Kurier;
let chain: Chain;

test.beforeAll(async () => {
  chain = newChain(3);
  kurier = await startKurier(chain.settings);
  await kurier.own();
  await kurier.api("PUT", "/api/v1/templates/anchored", { subject: "Proven", text: "This was said." });
});
test.afterAll(async () => {
  await kurier?.stop();
  chain?.remove();
});

test("a bundle is confirmed, then its block is replaced", async ({ clean }) => {
  await signIn(clean, kurier, OWNER);
  await open(clean, "Bundles");
  await clean.getByRole("link", { name: /^anchored/ }).click();
  const confirmations = clean.getByRole("region", { name: "Confirmations" });
  await expect(confirmations.getByText("unmined")).toBeVisible();

  // The commitment goes into the block at height 4 of this chain.
  chain.anchor(kurier);
  await expect(clean.getByTestId("confs")).toHaveText("1", { timeout: 40_000 });
  await expect(confirmations.getByText("not ready")).toBeVisible();
  await expect(clean.locator(".proof").getByText("holds", { exact: true })).toHaveCount(6);

  chain.mine("--blocks", "2");
  await expect(clean.getByTestId("confs")).toHaveText("3", { timeout: 40_000 });
  await expect(confirmations.getByText("ready", { exact: true })).toBeVisible();

  chain.mine("--fork", "2", "--blocks", "8");
  await expect(confirmations.getByText("off chain")).toBeVisible({ timeout: 40_000 });
  await expect(confirmations.getByText("not ready")).toBeVisible();
  await expect(clean.locator(".proof").getByText("fails")).toBeVisible();
});

test("where nothing can be computed, nothing is said to hold", async ({ clean }) => {
  // As on a page over plain http.
  await clean.addInitScript(() => Object.defineProperty(Crypto.prototype, "subtle", { get: () => undefined }));
  await signIn(clean, kurier, OWNER);
  await open(clean, "Bundles");
  await clean.getByRole("link", { name: /^anchored/ }).click();
  const proof = clean.getByRole("region", { name: "The proof, step by step" });
  await expect(proof.getByText("cannot be checked here", { exact: true })).toHaveCount(5);
  await expect(proof.getByText("holds", { exact: true })).toHaveCount(0);
  await expect(proof.getByText("This page came over plain http")).toBeVisible();
});
