import { expect, it } from "vitest";
import { guess, isNamed, readCsv, rowOf } from "./csv";

it("reads quotes, breaks inside them, and a byte order mark", () => {
  expect(readCsv('\uFEFFa,b\r\n"1,2","say ""hi""\nthere"\r\n3,4')).toEqual([
    { at: 1, cells: ["a", "b"] },
    { at: 2, cells: ["1,2", 'say "hi"\nthere'] },
    { at: 4, cells: ["3", "4"] },
  ]);
});

it("sees semicolons, and leaves out empty lines", () => {
  expect(readCsv("a;b\n\n1;2")).toEqual([
    { at: 1, cells: ["a", "b"] },
    { at: 3, cells: ["1", "2"] },
  ]);
});

it("guesses what a column is", () => {
  expect(["E-Mail", "User Id", "plan", ""].map(guess)).toEqual(["email", "user_id", "attribute", "skip"]);
});

it("makes a contact of a line; leading zeros stay text", () => {
  const row = rowOf(
    ["id", "mail", "age", "zip", "x"],
    ["user_id", "email", "attribute", "attribute", "skip"],
    ["7", "a@b.c", "42", "01234", "no"],
  );
  expect(row).toEqual({ user_id: "7", email: "a@b.c", attributes: { age: 42, zip: "01234" } });
  expect(isNamed(rowOf(["x"], ["attribute"], ["1"]))).toBe(false);
});
