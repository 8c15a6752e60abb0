// What went wrong, in the language of the pages.
import { Problem } from "../api/client";
import { say, type Key, type Language } from "../i18n";
import { problems } from "../i18n/words/problems";

/** In the words of the catalogue; a code it does not know is told as the server told it. */
export function problemText(language: Language, error: unknown): string {
  if (!(error instanceof Problem)) return String(error);
  if (error.status === 0) return say(language, "state.unreachableHint");
  const key = `problem.${error.code}`;
  return key in problems ? say(language, key as Key, { detail: error.detail }) : error.detail;
}

/** The same, and every field that is at fault. */
export function problemTextInFull(language: Language, error: unknown): string {
  const faults = error instanceof Problem ? error.fieldFaults : [];
  const fields = faults.map((fault) => [fault.pointer.slice(1), fault.detail].filter(Boolean).join(": "));
  return [problemText(language, error), ...fields].join("\n");
}
