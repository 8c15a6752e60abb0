import { expect, it } from "vitest";
import type { Schemas } from "./client";
import { gathered } from "./names";

const contact = (id: string) => ({ id }) as Schemas["ContactView"];

function server(known: (id: string) => boolean) {
  const requests: string[][] = [];
  const contactOf = gathered(
    async (ids) => {
      requests.push(ids);
      return ids.filter(known).map(contact);
    },
    async (id) => {
      requests.push([id]);
      return contact(`became-of-${id}`);
    },
  );
  return { requests, contactOf };
}

it("asks once for all that are wanted in a moment", async () => {
  const { requests, contactOf } = server(() => true);
  const found = await Promise.all(["a", "b", "a"].map(contactOf));
  expect(found.map((one) => one.id)).toEqual(["a", "b", "a"]);
  expect(requests).toEqual([["a", "b"]]);
});

it("asks for no more at once than are answered", async () => {
  const { requests, contactOf } = server(() => true);
  await Promise.all(Array.from({ length: 250 }, (_, at) => contactOf(`c${at}`)));
  expect(requests.map((ids) => ids.length)).toEqual([100, 100, 50]);
});

it("looks for whom it did not find by the way that leads on", async () => {
  const { requests, contactOf } = server((id) => id !== "merged");
  const found = await Promise.all(["a", "merged"].map(contactOf));
  expect(found.map((one) => one.id)).toEqual(["a", "became-of-merged"]);
  expect(requests).toEqual([["a", "merged"], ["merged"]]);
});

it("tells everybody of a failure, and tries anew the next time", async () => {
  let fails = true;
  const contactOf = gathered(
    async (ids) => {
      if (fails) throw new Error("away");
      return ids.map(contact);
    },
    async (id) => contact(id),
  );
  await expect(contactOf("a")).rejects.toThrow("away");
  fails = false;
  expect((await contactOf("a")).id).toBe("a");
});
