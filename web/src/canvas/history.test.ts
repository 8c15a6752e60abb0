import { expect, it } from "vitest";
import { amend, begin, record, redo, undo } from "./history";

it("goes back and forth", () => {
  const three = record(record(begin(1), 2), 3);
  expect(undo(three).now).toBe(2);
  expect(undo(undo(three)).now).toBe(1);
  expect(redo(undo(three))).toEqual(three);
});

it("stays at both ends", () => {
  expect(undo(begin(1))).toEqual(begin(1));
  expect(redo(begin(1))).toEqual(begin(1));
});

it("forgets the future when something else happens", () => {
  expect(redo(record(undo(record(begin(1), 2)), 5)).now).toBe(5);
});

it("amends without a step, and records nothing that changes nothing", () => {
  expect(undo(amend(record(begin("a"), "b"), "bc")).now).toBe("a");
  expect(record(begin(1), 1).past).toHaveLength(0);
});
