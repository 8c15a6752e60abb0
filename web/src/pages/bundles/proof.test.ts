import { expect, it } from "vitest";
import { bytesOf, check, hashText, hexOf, named, readBump, rootOf, type Envelope } from "./proof";

// A block of three transactions made here: the third is its own neighbour.
async function block() {
  const raws = ["01aa", "02bb", "03cc"];
  const ids = await Promise.all(raws.map(async (raw) => named(bytesOf(raw))));
  const [a, b, c] = ids as [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>];
  const join = (left: Uint8Array, right: Uint8Array) => bytesOf(hexOf(left) + hexOf(right));
  const ab = await named(join(a, b));
  const cc = await named(join(c, c));
  const root = await named(join(ab, cc));
  const header = `${"00".repeat(36)}${hexOf(root)}${"00".repeat(12)}`;
  const bump = `fe10270000` + "02" + "02" + `0202${hexOf(c)}` + "0301" + "01" + `0000${hexOf(ab)}`;
  const envelope: Envelope = {
    versionId: "ab",
    kind: "journey",
    name: "x@1",
    contentSha256: "cd",
    parents: [],
    tx: { txid: hashText(c), raw: raws[2] ?? "" },
    bump,
    blockHash: hashText(await named(bytesOf(header))),
    blockHeight: 10000,
    header,
  };
  return { envelope, root, c };
}

it("reads a path and folds it to the root, with a hash that stands twice", async () => {
  const { envelope, root, c } = await block();
  const bump = readBump(bytesOf(envelope.bump ?? ""));
  expect(bump.height).toBe(10000);
  expect(hexOf(await rootOf(bump, c))).toBe(hexOf(root));
});

it("says of every step whether it holds", async () => {
  const { envelope } = await block();
  expect((await check(envelope)).map((step) => step.holds)).toEqual([true, true, true, true]);
});

it("sees a flipped bit in transaction, path and header", async () => {
  const { envelope } = await block();
  const flip = (hex: string, at: number) =>
    hex.slice(0, at) + (parseInt(hex[at] ?? "0", 16) ^ 1).toString(16) + hex.slice(at + 1);
  const raw = { ...envelope, tx: { txid: envelope.tx?.txid ?? "", raw: flip("03cc", 1) } };
  expect((await check(raw))[1]?.holds).toBe(false);
  expect(
    (await check({ ...envelope, bump: flip(envelope.bump ?? "", (envelope.bump ?? "").length - 1) }))[2]?.holds,
  ).toBe(false);
  const bent = await check({ ...envelope, header: flip(envelope.header ?? "", 80) });
  expect([bent[2]?.holds, bent[3]?.holds]).toEqual([false, false]);
});

it("leaves open what is not there yet", async () => {
  const { envelope } = await block();
  const steps = await check({ ...envelope, tx: null, bump: null, header: null });
  expect(steps.map((step) => step.holds)).toEqual([true, null, null, null]);
});

it("refuses a path that ends too early", () => {
  expect(() => readBump(bytesOf("0102"))).toThrow();
});
