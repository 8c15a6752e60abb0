import { expect, it } from "vitest";
import { match } from "./match";

it("takes names out of a path", () => {
  expect(match("/contacts/:id", "/contacts/a%2Fb")).toEqual({ id: "a/b" });
  expect(match("/", "/")).toEqual({});
});

it("knows what is another page", () => {
  expect(match("/contacts/:id", "/contacts")).toBeNull();
  expect(match("/contacts/:id", "/contacts/a/b")).toBeNull();
  expect(match("/contacts/import", "/contacts/x")).toBeNull();
});

it("takes the rest where it is asked to", () => {
  expect(match("/content/:key*", "/content/a/b")).toEqual({ key: "a/b" });
});
