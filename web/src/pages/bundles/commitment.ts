// What a transaction has to carry for a version to be committed to: the same hashes as the server's own
// check (crates/kurier-core/src/bundle), made here from what the bundle says.
import { bytesOf, hexOf, reader, sha256, type Bytes } from "./bytes";

export type Version = { kind: string; name: string; contentSha256: string; parents: string[] };
export type Commitment = { kind: "op_return" } | { kind: "batch"; index: number; size: number; path: string[] };

const PARENTS_MAX = 1000;
const NAME_BYTES_MAX = 512;
const BATCH_MAX = 2 ** 20;
const LEAF_TAG = "kurier.version.v1\0";
const text = (words: string): Bytes => new TextEncoder().encode(words);

const joined = (...parts: Uint8Array[]): Bytes => {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};

/** The id of a version's record: JSON without spaces, the fields in this order. */
export async function versionId({ kind, name, contentSha256, parents }: Version): Promise<string> {
  const bytes = text(name).length;
  if (bytes === 0 || bytes > NAME_BYTES_MAX) throw new Error("a name has 1 to 512 bytes");
  const ascending = parents.every((parent, at) => at === 0 || (parents[at - 1] ?? "") < parent);
  if (!ascending || parents.length > PARENTS_MAX) throw new Error("the parents are not ascending");
  return hexOf(await sha256(text(JSON.stringify({ kind, name, contentSha256, parents }))));
}

/** What is committed to of a version. */
export const leafOf = (tenant: string, version: string, content: string): Promise<Bytes> =>
  sha256(joined(text(LEAF_TAG + tenant), bytesOf(version), bytesOf(content)));

/** The 32 bytes that the transaction must carry. */
export async function committedRoot(commitment: Commitment, leaf: Bytes): Promise<Bytes> {
  if (commitment.kind === "op_return") return leaf;
  const { index, size, path } = commitment;
  if (index >= size || size > BATCH_MAX) throw new Error("the batch has no such place");
  const siblings = path.map(bytesOf);
  const sibling = () => {
    const next = siblings.shift();
    if (!next) throw new Error("the batch's path is too short");
    return next;
  };
  const node = (left: Uint8Array, right: Uint8Array) => sha256(joined(Uint8Array.of(1), left, right));
  let hash = await sha256(joined(Uint8Array.of(0), leaf));
  // At the end of an odd level there is no sibling.
  for (let [at, last] = [index, size - 1]; last > 0; [at, last] = [at >> 1, last >> 1]) {
    if (at % 2 === 1) hash = await node(sibling(), hash);
    else if (at < last) hash = await node(hash, sibling());
  }
  if (siblings.length > 0) throw new Error("the batch's path is too long");
  return hash;
}

const OP_RETURN = 0x6a;
const OP_PUSHDATA1 = 0x4c;
const LENGTH_BYTES = [1, 2, 4];

/** What is pushed behind OP_RETURN, or OP_FALSE OP_RETURN, up to the first thing that is no push. */
function pushes(script: Uint8Array): Uint8Array[] {
  const start = script[0] === OP_RETURN ? 1 : script[0] === 0 && script[1] === OP_RETURN ? 2 : script.length;
  const read = reader(script.slice(start));
  const found: Uint8Array[] = [];
  try {
    while (read.left() > 0) {
      const code = read.byte();
      const sized = LENGTH_BYTES[code - OP_PUSHDATA1];
      if (code >= OP_PUSHDATA1 && sized === undefined) break;
      found.push(read.take(sized === undefined ? code : read.little(sized)));
    }
  } catch {
    // A push that runs past the end is none.
  }
  return found;
}

/** The scripts of a transaction's outputs. */
function scriptsOf(raw: Uint8Array): Uint8Array[] {
  const read = reader(raw);
  read.take(4);
  const inputs = read.number();
  for (let input = 0; input < inputs; input++) {
    read.take(36);
    read.take(read.number());
    read.take(4);
  }
  const outputs = read.number();
  const scripts: Uint8Array[] = [];
  for (let output = 0; output < outputs; output++) {
    read.take(8);
    scripts.push(read.take(read.number()));
  }
  read.take(4);
  if (inputs === 0 || outputs === 0 || read.left() > 0) throw new Error("this is no transaction");
  return scripts;
}

/** The first output that carries these bytes and nothing but data; -1 if none does. */
export function outputWith(raw: Uint8Array, root: Uint8Array): number {
  const wanted = hexOf(root);
  return scriptsOf(raw).findIndex((script) => pushes(script).some((push) => hexOf(push) === wanted));
}
