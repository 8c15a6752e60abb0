import { expect, test } from "vitest";
import { withoutOptionalExamples } from "./examples";

test("only a required parameter keeps its example", () => {
  const required = { name: "id", required: true, example: "a" };
  const optional = { name: "state", schema: { type: "string", example: "failed" }, example: "failed" };
  const described = {
    openapi: "3.1.0",
    paths: { "/a/{id}": { get: { summary: "One", parameters: [required, optional] } } },
  };
  const left = withoutOptionalExamples(described);
  const bare = { name: "state", schema: { type: "string" } };
  expect(left).toStrictEqual({
    openapi: "3.1.0",
    paths: { "/a/{id}": { get: { summary: "One", parameters: [required, bare] } } },
  });
});
