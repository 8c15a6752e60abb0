// The proof, checked in the browser: what the server says about itself is not taken on trust.
// Hashes are shown in Bitcoin's reversed byte order, and computed in the natural one.
import { bytesOf, hexOf, reader, sha256, type Bytes } from "./bytes";
import { committedRoot, leafOf, outputWith, versionId, type Commitment, type Version } from "./commitment";

export type Envelope = Version & {
  tenant: string;
  versionId: string;
  commitment: Commitment | null;
  tx: { txid: string; raw: string } | null;
  bump: string | null;
  blockHash: string | null;
  blockHeight: number | null;
  header: string | null;
};

export const STEPS = ["version", "tx", "commitment", "path", "header"] as const;
export type Step = { name: (typeof STEPS)[number]; holds: boolean | null; shows: string };

const turned = (bytes: Uint8Array) => Uint8Array.from(bytes).reverse();
export const hashText = (bytes: Uint8Array) => hexOf(turned(bytes));

/** SHA-256 twice, as blocks and transactions are named. */
export const named = async (bytes: Bytes) => sha256(await sha256(bytes));

type Leaf = { offset: number; hash: Uint8Array | null };
type Bump = { height: number; levels: Leaf[][] };

const DUPLICATE = 1;

/** BRC-74: the height, then for each level of the tree the hashes that are needed. */
export function readBump(bytes: Uint8Array): Bump {
  const { byte, number, take, left } = reader(bytes);
  const leaf = (): Leaf => {
    const offset = number();
    return { offset, hash: (byte() & DUPLICATE) !== 0 ? null : take(32) };
  };
  const height = number();
  const levels = Array.from({ length: byte() }, () => Array.from({ length: number() }, leaf));
  if (left() > 0) throw new Error("something follows the path");
  return { height, levels };
}

const joined = (left: Uint8Array, right: Uint8Array) => {
  const both = new Uint8Array(64);
  both.set(left);
  both.set(right, 32);
  return both;
};

/** The root that a path leads to from a transaction. */
export async function rootOf({ levels }: Bump, txid: Uint8Array): Promise<Uint8Array> {
  const own = levels[0]?.find((leaf) => leaf.hash && hexOf(leaf.hash) === hexOf(txid));
  if (!own) throw new Error("the path does not hold the transaction");
  let offset = own.offset;
  let hash: Uint8Array = txid;
  // A block of one transaction has it as its root.
  if (levels.length === 1 && levels[0]?.length === 1 && offset === 0) return hash;
  for (const level of levels) {
    const beside = level.find((leaf) => leaf.offset === (offset ^ 1));
    if (!beside) throw new Error("a hash is missing on the path");
    const other = beside.hash ?? hash;
    hash = await named(offset % 2 === 0 ? joined(hash, other) : joined(other, hash));
    offset = Math.floor(offset / 2);
  }
  if (offset !== 0) throw new Error("the path does not reach the root");
  return hash;
}

const HEADER_BYTES = 80;
// An inner node of a block's tree is so long: a transaction of that length could be one.
const NODE_BYTES = 64;

type Found = { holds: boolean; shows: string };
/** How a step is checked; nothing where what it needs is not there yet. */
type Checks = Record<Step["name"], (() => Promise<Found>) | null>;

async function checkVersion(envelope: Envelope): Promise<Found> {
  const found = await versionId(envelope);
  return { holds: found === envelope.versionId, shows: found };
}

async function checkTx({ txid, raw }: { txid: string; raw: string }): Promise<Found> {
  const bytes = bytesOf(raw);
  const found = hashText(await named(bytes));
  return { holds: found === txid && bytes.length !== NODE_BYTES, shows: found };
}

async function checkCommitment(envelope: Envelope): Promise<Found> {
  const { tenant, commitment, tx } = envelope;
  if (!commitment || !tx) throw new Error("a commitment without a transaction, or the other way round");
  const leaf = await leafOf(tenant, envelope.versionId, envelope.contentSha256);
  const root = await committedRoot(commitment, leaf);
  return { holds: outputWith(bytesOf(tx.raw), root) >= 0, shows: hexOf(root) };
}

async function checkPath(txid: string, bump: string, header: string, height: number | null): Promise<Found> {
  const path = readBump(bytesOf(bump));
  const root = await rootOf(path, turned(bytesOf(txid)));
  const wanted = bytesOf(header).slice(36, 68);
  return { holds: hexOf(root) === hexOf(wanted) && path.height === height, shows: hashText(root) };
}

async function checkHeader(header: string, blockHash: string | null): Promise<Found> {
  const bytes = bytesOf(header);
  const found = hashText(await named(bytes));
  return { holds: bytes.length === HEADER_BYTES && found === blockHash, shows: found };
}

export async function check(envelope: Envelope): Promise<Step[]> {
  const { tx, bump, header, commitment, blockHash, blockHeight } = envelope;
  const checks: Checks = {
    version: () => checkVersion(envelope),
    tx: tx && (() => checkTx(tx)),
    commitment: tx || commitment ? () => checkCommitment(envelope) : null,
    path: tx && bump && header ? () => checkPath(tx.txid, bump, header, blockHeight) : null,
    header: header ? () => checkHeader(header, blockHash) : null,
  };
  return Promise.all(STEPS.map((name) => tried(name, checks[name])));
}

async function tried(name: Step["name"], work: (() => Promise<Found>) | null): Promise<Step> {
  if (!work) return { name, holds: null, shows: "" };
  try {
    return { name, ...(await work()) };
  } catch (error) {
    return { name, holds: false, shows: error instanceof Error ? error.message : String(error) };
  }
}
