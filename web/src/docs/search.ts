// Which operations a search finds.
import type { Fields, Tags } from "swagger-ui-dist/swagger-ui-es-bundle.js";

/** Whether every word of a phrase is somewhere in a text. */
export function hasEveryWord(text: string, phrase: string): boolean {
  const folded = text.toLowerCase();
  return phrase
    .toLowerCase()
    .split(/\s+/)
    .every((word) => folded.includes(word));
}

const textOf = (operation: Fields) =>
  ["method", "path", "operation.operationId", "operation.summary", "operation.description"]
    .map((name) => operation.getIn(name.split(".")) ?? "")
    .join(" ");

/** The tags that have a match, each with its matches alone. */
export const findOperations = (tags: Tags, phrase: string): Tags =>
  tags
    .map((tag, name) => {
      const found = tag.get("operations").filter((one) => hasEveryWord(`${name} ${textOf(one)}`, phrase));
      return tag.set("operations", found);
    })
    .filter((tag) => tag.get("operations").size > 0);

export const countOperations = (tags: Tags): number => tags.reduce((sum, tag) => sum + tag.get("operations").size, 0);
