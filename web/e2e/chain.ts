// A chain of our own in a file: mined, forked, and with commitments in its blocks.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BIN, others, type Kurier } from "./server";

export type Chain = {
  /** What a server needs to know of it. */
  settings: Record<string, string>;
  mine: (...args: string[]) => string;
  /** What was published is committed to, in the next block. */
  anchor: (kurier: Kurier) => void;
  remove: () => void;
};

export function newChain(blocks: number): Chain {
  const folder = mkdtempSync(join(tmpdir(), "kurier-chain-"));
  const file = join(folder, "chain.headers");
  const source = `file://${file}?chain=regtest`;
  const mine = (...args: string[]) =>
    execFileSync(BIN, ["headers", "mine", file, ...args], { encoding: "utf8", env: others });
  mine("--blocks", String(blocks));
  const command = `${BIN} headers mine ${file} --commit $ANCHOR_ROOT --json`;
  return {
    settings: {
      HEADERS_SOURCE: source,
      POLICY_MIN_CONFS: "3",
      CACHE_TTLS_JSON: '{"headers":1,"bundles":300,"staleWhileRevalidate":60,"neg404":1}',
    },
    mine,
    anchor: (kurier) => {
      const env = { ...others, HEADERS_SOURCE: source };
      execFileSync(BIN, ["bundle", "anchor", "--data", kurier.data, "--command", command], { env });
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
