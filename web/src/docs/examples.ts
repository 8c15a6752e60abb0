// The form fills in each example, and would send it: of parameters that may be left out, none is filled in.
import type { Description, Operation, Parameter } from "swagger-ui-dist/swagger-ui-es-bundle.js";

function withoutExample<T extends { example?: unknown }>({ example: _example, ...rest }: T): Omit<T, "example"> {
  return rest;
}

function leaveEmpty(parameter: Parameter): Parameter {
  if (parameter.required) return parameter;
  const { schema, ...rest } = withoutExample(parameter);
  return schema ? { ...rest, schema: withoutExample(schema) } : rest;
}

const withEmptyParameters = (operation: Operation): Operation =>
  operation.parameters ? { ...operation, parameters: operation.parameters.map(leaveEmpty) } : operation;

const mapValues = <T>(fields: Record<string, T>, change: (value: T) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, change(value)]));

export const withoutOptionalExamples = (description: Description): Description => ({
  ...description,
  paths: mapValues(description.paths ?? {}, (item) => mapValues(item, withEmptyParameters)),
});
