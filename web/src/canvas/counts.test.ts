import { expect, it } from "vitest";
import { countsOf, edgeCount, pathCounts } from "./counts";

it("finds the count of a way, and of a wait told as next", () => {
  const counts = countsOf({
    entered: 3,
    active: 1,
    nodes: [{ node: "a", at: 1, entered: 3, left: 2 }],
    edges: [
      { node: "a", by: "next", to: "b", count: 2 },
      { node: "c", by: "true", to: "b", count: 5 },
    ],
  });
  expect(edgeCount(counts, "a", "met", "b")).toBe(2);
  expect(edgeCount(counts, "c", "true", "b")).toBe(5);
  expect(edgeCount(counts, "c", "false", "b")).toBe(0);
});

it("counts the path of one run", () => {
  const counts = pathCounts(
    [
      { node: "a", by: "next", to: "b" },
      { node: "b", by: "true", to: "a" },
      { node: "a", by: "next", to: "b" },
    ],
    "b",
    true,
  );
  expect(counts.nodes.get("a")).toEqual({ at: 0, entered: 2, left: 2 });
  expect(counts.nodes.get("b")).toEqual({ at: 1, entered: 2, left: 1 });
  expect(edgeCount(counts, "a", "next", "b")).toBe(2);
});
