import { expect, test } from "vitest";
import { foundGood, type Checked } from "./checked";

const good: Checked = { ok: true, errors: [], text: " contact.plan = 'pro' " };

test("a text is good when it was found so", () => {
  expect(foundGood("contact.plan = 'pro'", good)).toBe(true);
});

test("a text whose verdict is still on its way is not good by the verdict before it", () => {
  expect(foundGood("contact.plan = 'pro' AND", good)).toBe(false);
  expect(foundGood("contact.plan = 'pro'", null)).toBe(false);
  expect(foundGood("contact.plan = 'pro'", { ...good, ok: false })).toBe(false);
});
