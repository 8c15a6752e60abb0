import { describe, expect, it } from "vitest";
import { unitAt } from "./span";
import { suggest, type Names } from "./words";

const names: Names = {
  attributes: [
    { name: "plan", types: ["text"] },
    { name: "first name", types: ["text"] },
  ],
  events: [{ name: "Order Completed", count: 3, properties: [{ name: "total", types: ["number"] }] }],
};
const labels = (before: string) => suggest(before, names)?.options.map((option) => option.label) ?? [];

describe("completion", () => {
  it("offers real attributes behind contact., quoted where they need it", () => {
    expect(labels("contact.pl")).toContain("plan");
    expect(labels("contact.")).toContain('"first name"');
    expect(suggest("contact.pl", names)?.from).toBe(8);
  });
  it("offers real event types and properties", () => {
    expect(labels("EXISTS (event WHERE event_type = ")).toEqual(["'Order Completed'"]);
    expect(labels("SUM(event.properties.")).toEqual(["total"]);
  });
  it("offers event types anywhere in a list, and where a quote was begun", () => {
    for (const before of [
      "event_type IN (",
      "event_type IN ('a', ",
      "event_type IN ('it''s', 'Ord",
      "event_type = 'Or",
    ])
      expect(labels(`EXISTS (event WHERE ${before}`), before).toEqual(["'Order Completed'"]);
    const typed = "event_type IN ('a', 'Or";
    expect(suggest(typed, names)?.from).toBe(typed.length - 3);
    expect(suggest('contact."fir', names)?.from).toBe(8);
    expect(labels("event_type = 'a' AN")).toContain("AND");
  });
  it("offers words elsewhere, and nothing after a space", () => {
    expect(labels("contact.plan = 'x' AN")).toContain("AND");
    expect(suggest("contact.plan = 'x' ", names)).toBeNull();
  });
});

it("turns bytes into places of the editor", () => {
  expect(unitAt("ü = 1", 2)).toBe(1);
  expect(unitAt("😀x", 4)).toBe(2);
  expect(unitAt("abc", 9)).toBe(3);
});
