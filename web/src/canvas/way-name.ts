import type { Words } from "../i18n";

/** `branch:0` is the first branch to whoever reads it. */
export function wayName(by: string, { t, word }: Pick<Words, "t" | "word">): string {
  return by.startsWith("branch:") ? t("way.branch", { n: Number(by.slice(7)) + 1 }) : word("way", by);
}
