// A published template is anchored in a chain of our own, confirmed, and taken back by a reorganisation.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, open, setUp, test } from "./fixtures";
import { BIN, others, startKurier, type Kurier } from "./server";

const built = spawnSync(BIN, ["headers", "mine", "--help"], { env: others }).status === 0;
test.skip(!built, "this server has no bundles");

let kurier: Kurier;
let folder: string;
const chain = () => join(folder, "chain.headers");
const source = () => `file://${chain()}?chain=regtest`;
const mine = (...args: string[]) =>
  execFileSync(BIN, ["headers", "mine", chain(), ...args], { encoding: "utf8", env: others });

test.beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "kurier-chain-"));
  mine("--blocks", "3");
  kurier = await startKurier({
    HEADERS_SOURCE: source(),
    POLICY_MIN_CONFS: "3",
    CACHE_TTLS_JSON: '{"headers":1,"bundles":300,"staleWhileRevalidate":60,"neg404":1}',
  });
  await kurier.api("PUT", "/api/v1/templates/anchored", { subject: "Proven", text: "This was said." });
});
test.afterAll(async () => {
  await kurier?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("a bundle is confirmed, then its block is replaced", async ({ clean }) => {
  await setUp(clean, kurier);
  await open(clean, "Bundles");
  await clean.getByRole("link", { name: /^anchored/ }).click();
  await expect(clean.getByText("unmined")).toBeVisible();

  // The commitment goes into the block at height 4 of this chain.
  execFileSync(
    BIN,
    [
      "bundle",
      "anchor",
      "--data",
      kurier.data,
      "--command",
      `${BIN} headers mine ${chain()} --commit $ANCHOR_ROOT --json`,
    ],
    { env: { ...others, HEADERS_SOURCE: source() } },
  );
  await expect(clean.getByTestId("confs")).toHaveText("1", { timeout: 40_000 });
  await expect(clean.getByText("not ready")).toBeVisible();
  await expect(clean.locator(".proof").getByText("holds", { exact: true })).toHaveCount(5);

  mine("--blocks", "2");
  await expect(clean.getByTestId("confs")).toHaveText("3", { timeout: 40_000 });
  await expect(clean.getByText("ready", { exact: true })).toBeVisible();

  mine("--fork", "2", "--blocks", "8");
  await expect(clean.getByText("off chain").first()).toBeVisible({ timeout: 40_000 });
  await expect(clean.getByText("not ready")).toBeVisible();
  await expect(clean.locator(".proof").getByText("fails")).toBeVisible();
});
