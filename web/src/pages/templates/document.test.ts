import { expect, it } from "vitest";
import { readDocument, writeDocument } from "./document";

it("gives back what it was given", () => {
  const html = { name: "a", topic: "news", subject: "Hi", html: "<p>x</p>", text: "x" };
  expect(writeDocument(readDocument(html))).toEqual(html);
  const text = { name: "b", text: "only text", strict: true };
  expect(writeDocument(readDocument(text))).toEqual(text);
});

it("begins with an empty Markdown body", () => {
  expect(readDocument(null).kind).toBe("markdown");
});
