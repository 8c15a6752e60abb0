// The proof, checked in the browser: what the server says about itself is not taken on trust.
// Hashes are shown in Bitcoin's reversed byte order, and computed in the natural one.

export type Envelope = {
  versionId: string;
  kind: string;
  name: string;
  contentSha256: string;
  parents: string[];
  tx: { txid: string; raw: string } | null;
  bump: string | null;
  blockHash: string | null;
  blockHeight: number | null;
  header: string | null;
};

export type Step = { name: "version" | "tx" | "path" | "header"; holds: boolean | null; shows: string };

export function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  if (!/^(?:[0-9a-f]{2})*$/i.test(hex)) throw new Error("not hexadecimal");
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

export const hexOf = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const turned = (bytes: Uint8Array) => Uint8Array.from(bytes).reverse();
export const hashText = (bytes: Uint8Array) => hexOf(turned(bytes));

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** SHA-256 twice, as blocks and transactions are named. */
export const named = async (bytes: Uint8Array<ArrayBuffer>) => sha256(await sha256(bytes));

type Leaf = { offset: number; hash: Uint8Array | null };
type Bump = { height: number; levels: Leaf[][] };

const DUPLICATE = 1;

/** BRC-74: the height, then for each level of the tree the hashes that are needed. */
export function readBump(bytes: Uint8Array): Bump {
  let at = 0;
  const byte = () => {
    const value = bytes[at++];
    if (value === undefined) throw new Error("the path ends too early");
    return value;
  };
  const little = (count: number) =>
    Array.from({ length: count }, byte).reduceRight((sum, value) => sum * 256 + value, 0);
  const number = () => {
    const first = byte();
    if (first < 0xfd) return first;
    return little(first === 0xfd ? 2 : first === 0xfe ? 4 : 8);
  };
  const leaf = (): Leaf => {
    const offset = number();
    const flags = byte();
    if ((flags & DUPLICATE) !== 0) return { offset, hash: null };
    const hash = bytes.slice(at, at + 32);
    if (hash.length !== 32) throw new Error("the path ends too early");
    at += 32;
    return { offset, hash };
  };
  const height = number();
  const levels = Array.from({ length: byte() }, () => Array.from({ length: number() }, leaf));
  return { height, levels };
}

const joined = (left: Uint8Array, right: Uint8Array) => {
  const both = new Uint8Array(64);
  both.set(left);
  both.set(right, 32);
  return both;
};

/** The root that a path leads to from a transaction. */
export async function rootOf(bump: Bump, txid: Uint8Array): Promise<Uint8Array> {
  const own = bump.levels[0]?.find((leaf) => leaf.hash && hexOf(leaf.hash) === hexOf(txid));
  if (!own) throw new Error("the path does not hold the transaction");
  let offset = own.offset;
  let hash: Uint8Array = txid;
  for (const level of bump.levels) {
    const beside = level.find((leaf) => leaf.offset === (offset ^ 1));
    if (!beside) throw new Error("a hash is missing on the path");
    const other = beside.hash ?? hash;
    hash = await named(offset % 2 === 0 ? joined(hash, other) : joined(other, hash));
    offset = Math.floor(offset / 2);
  }
  return hash;
}

const HEADER_BYTES = 80;

async function tried(name: Step["name"], work: () => Promise<{ holds: boolean; shows: string }>): Promise<Step> {
  try {
    return { name, ...(await work()) };
  } catch (error) {
    return { name, holds: false, shows: error instanceof Error ? error.message : String(error) };
  }
}

export async function check(envelope: Envelope): Promise<Step[]> {
  const { tx, bump, header, blockHash } = envelope;
  const open = (name: Step["name"]): Step => ({ name, holds: null, shows: "" });
  const steps: Step[] = [{ name: "version", holds: true, shows: envelope.versionId }];
  steps.push(
    !tx
      ? open("tx")
      : await tried("tx", async () => {
          const found = hashText(await named(bytesOf(tx.raw)));
          return { holds: found === tx.txid, shows: found };
        }),
  );
  steps.push(
    !tx || !bump || !header
      ? open("path")
      : await tried("path", async () => {
          const root = await rootOf(readBump(bytesOf(bump)), turned(bytesOf(tx.txid)));
          const wanted = bytesOf(header).slice(36, 68);
          return { holds: hexOf(root) === hexOf(wanted), shows: hashText(root) };
        }),
  );
  steps.push(
    !header
      ? open("header")
      : await tried("header", async () => {
          const bytes = bytesOf(header);
          const found = hashText(await named(bytes));
          return { holds: bytes.length === HEADER_BYTES && found === blockHash, shows: found };
        }),
  );
  return steps;
}
