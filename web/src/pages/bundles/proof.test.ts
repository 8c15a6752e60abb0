import { expect, it } from "vitest";
import { bytesOf, hexOf, type Bytes } from "./bytes";
import { committedRoot, leafOf, versionId } from "./commitment";
import { check, hashText, named, readBump, rootOf, type Envelope } from "./proof";

const VERSION = { kind: "template", name: 'hello "Ä"@1', contentSha256: "cd".repeat(32), parents: ["ab".repeat(32)] };
const TENANT = "default";

/** A transaction whose only output carries these bytes, or has a script of its own. */
const carrying = (root: string, script = `006a20${root}`) =>
  `0100000001${"00".repeat(32)}ffffffff00ffffffff01${"00".repeat(8)}${(script.length / 2).toString(16).padStart(2, "0")}${script}00000000`;

const join = (left: Uint8Array, right: Uint8Array) => bytesOf(hexOf(left) + hexOf(right));

// A block of three transactions made here: the third is its own neighbour, and commits to the version.
async function block(raw?: string) {
  const id = await versionId(VERSION);
  const leaf = await leafOf(TENANT, id, VERSION.contentSha256);
  const own = raw ?? carrying(hexOf(leaf));
  const [a, b, c] = (await Promise.all(["01aa", "02bb", own].map((one) => named(bytesOf(one))))) as [
    Bytes,
    Bytes,
    Bytes,
  ];
  const ab = await named(join(a, b));
  const root = await named(join(ab, await named(join(c, c))));
  const header = `${"00".repeat(36)}${hexOf(root)}${"00".repeat(12)}`;
  const bump = `fe10270000` + "02" + "02" + `0202${hexOf(c)}` + "0301" + "01" + `0000${hexOf(ab)}`;
  const envelope: Envelope = {
    ...VERSION,
    tenant: TENANT,
    versionId: id,
    commitment: { kind: "op_return" },
    tx: { txid: hashText(c), raw: own },
    bump,
    blockHash: hashText(await named(bytesOf(header))),
    blockHeight: 10000,
    header,
  };
  return { envelope, root, c, leaf };
}

const verdicts = async (envelope: Envelope) =>
  Object.fromEntries((await check(envelope)).map((step) => [step.name, step.holds]));
const ALL = { version: true, tx: true, commitment: true, path: true, header: true };

it("reads a path and folds it to the root, with a hash that stands twice", async () => {
  const { envelope, root, c } = await block();
  const bump = readBump(bytesOf(envelope.bump ?? ""));
  expect(bump.height).toBe(10000);
  expect(hexOf(await rootOf(bump, c))).toBe(hexOf(root));
});

it("says of every step whether it holds", async () => {
  expect(await verdicts((await block()).envelope)).toEqual(ALL);
});

it("takes no transaction that commits to something else, or only looks like it", async () => {
  const other = await block(carrying("ee".repeat(32)));
  expect(await verdicts(other.envelope)).toEqual({ ...ALL, commitment: false });
  const { leaf, envelope } = await block();
  // The bytes stand in it, but as something that can be spent.
  const spendable = await block(carrying("", `76a920${hexOf(leaf)}88ac`));
  expect(await verdicts(spendable.envelope)).toEqual({ ...ALL, commitment: false });
  expect((await verdicts({ ...envelope, tenant: "another" })).commitment).toBe(false);
  expect((await verdicts({ ...envelope, commitment: null })).commitment).toBe(false);
});

it("takes no record that is not the version's", async () => {
  const { envelope } = await block();
  for (const bent of [{ name: "other@1" }, { kind: "journey" }, { parents: [] }, { contentSha256: "ce".repeat(32) }])
    expect((await verdicts({ ...envelope, ...bent })).version).toBe(false);
});

it("follows a batch to its root, at its place only", async () => {
  const { leaf, envelope } = await block();
  const path = ["11".repeat(32), "22".repeat(32)];
  const batch = { kind: "batch" as const, index: 1, size: 3, path };
  const root = hexOf(await committedRoot(batch, leaf));
  const { envelope: committed } = await block(carrying(root));
  expect(await verdicts({ ...committed, commitment: batch })).toEqual(ALL);
  for (const bent of [{ index: 0 }, { index: 3 }, { size: 2 }, { path: path.slice(1) }, { path: [...path, ...path] }])
    expect((await verdicts({ ...committed, commitment: { ...batch, ...bent } })).commitment).toBe(false);
  expect((await verdicts({ ...envelope, commitment: batch })).commitment).toBe(false);
});

it("hashes a record in the one form of it", async () => {
  // printf '{"kind":"journey","name":"x","contentSha256":"00…","parents":[]}' | sha256sum
  expect(await versionId({ kind: "journey", name: "x", contentSha256: "00".repeat(32), parents: [] })).toBe(
    "322377e8889332597026f693e6c369fa4578822e1a4953f0c97dd67d940d7459",
  );
});

it("sees a flipped bit in transaction, path and header", async () => {
  const { envelope } = await block();
  const flip = (hex: string, at: number) =>
    hex.slice(0, at) + (parseInt(hex[at] ?? "0", 16) ^ 1).toString(16) + hex.slice(at + 1);
  const raw = envelope.tx?.raw ?? "";
  expect((await verdicts({ ...envelope, tx: { txid: envelope.tx?.txid ?? "", raw: flip(raw, 1) } })).tx).toBe(false);
  const bump = envelope.bump ?? "";
  expect((await verdicts({ ...envelope, bump: flip(bump, bump.length - 1) })).path).toBe(false);
  expect((await verdicts({ ...envelope, blockHeight: 9999 })).path).toBe(false);
  const bent = await verdicts({ ...envelope, header: flip(envelope.header ?? "", 80) });
  expect(bent).toEqual({ ...ALL, path: false, header: false });
});

it("leaves open what is not there yet", async () => {
  const { envelope } = await block();
  const steps = await verdicts({ ...envelope, commitment: null, tx: null, bump: null, header: null });
  expect(steps).toEqual({ version: true, tx: null, commitment: null, path: null, header: null });
});

it("refuses a path that ends too early", () => {
  expect(() => readBump(bytesOf("0102"))).toThrow();
});
