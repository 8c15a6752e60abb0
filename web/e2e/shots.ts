// Pictures of pages, where SCREENSHOTS names a folder for them; with FULL_PAGE=1 of all that is below, too.
import type { Page } from "@playwright/test";
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";

const SHOTS = process.env.SCREENSHOTS ? resolve(process.env.SCREENSHOTS) : null;

export async function shoot(page: Page, name: string) {
  if (!SHOTS) return;
  mkdirSync(SHOTS, { recursive: true });
  const path = `${SHOTS}/${name}.png`;
  await page.screenshot({ path, animations: "disabled", fullPage: process.env.FULL_PAGE === "1" });
  // Few colours are used, so a palette keeps them and a third of the bytes; without pngquant pictures are only larger.
  spawnSync("pngquant", ["--force", "--strip", "--speed", "1", "--ext", ".png", "96", path]);
}
