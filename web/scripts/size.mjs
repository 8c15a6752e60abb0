// What the first page weighs, compressed: index.html and everything it loads before the reader acts.
import { readdir, readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

const LIMIT = 350 * 1024;
const dist = new URL("../dist/", import.meta.url);
const html = await readFile(new URL("index.html", dist), "utf8");
const weigh = async (path) => gzipSync(await readFile(new URL(path, dist)), { level: 9 }).length;

const linked = [...html.matchAll(/(?:src|href)="\/([^"]+)"/g)].map((found) => found[1]);
// The overview is fetched right after the entry, so it counts; its own imports are in the entry's folder.
const overview = (await readdir(new URL("assets/", dist)))
  .filter((name) => /^(overview|queries|charts|table)-/.test(name))
  .map((name) => `assets/${name}`);
const files = [...new Set(["index.html", ...linked, ...overview])];
let sum = 0;
for (const file of files) {
  const size = await weigh(file);
  sum += size;
  console.log(`${String(size).padStart(8)}  ${file}`);
}
console.log(`${String(sum).padStart(8)}  first page, gzip (limit ${LIMIT})`);
process.exit(sum > LIMIT ? 1 : 0);
