import type { Schemas } from "../api/client";

/** What was found of a text, and of which: by the time it is known, another may stand there. */
export type Checked = Schemas["ExpressionCheck"] & { text: string };

/** Whether this very text was found good: not one typed before it. */
export function foundGood(text: string, check: Checked | null): boolean {
  return check?.ok === true && check.text.trim() === text;
}
