import { expect, test } from "vitest";
import { hasEveryWord } from "./search";

test("words are found in any order and in part", () => {
  const text = "segments GET /api/v1/segments/{id}/members segments_members_list Members of a segment";
  expect(hasEveryWord(text, "members segment")).toBe(true);
  expect(hasEveryWord(text, "  Memb   GET ")).toBe(true);
  expect(hasEveryWord(text, "")).toBe(true);
});

test("a word that is missing finds nothing", () => {
  expect(hasEveryWord("GET /api/v1/segments", "segments delete")).toBe(false);
});
