// A template's document, as the form has it.
export const BODIES = ["markdown", "html", "text", "json"] as const;
export type Body = (typeof BODIES)[number];
export type Document = {
  name: string;
  description: string;
  topic: string;
  subject: string;
  preheader: string;
  strict: boolean;
  kind: Body;
  body: string;
  text: string;
};

const textOf = (value: unknown) =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value, null, 2);

export function readDocument(value: unknown): Document {
  const fields = (value ?? {}) as Record<string, unknown>;
  const kind =
    BODIES.find((body) => fields[body] !== undefined && body !== "text") ??
    (fields.text !== undefined ? "text" : "markdown");
  return {
    name: textOf(fields.name),
    description: textOf(fields.description),
    topic: textOf(fields.topic),
    subject: textOf(fields.subject),
    preheader: textOf(fields.preheader),
    strict: fields.strict === true,
    kind,
    body: textOf(fields[kind]),
    text: kind === "text" ? "" : textOf(fields.text),
  };
}

export function writeDocument(document: Document): Record<string, unknown> {
  const said = {
    name: document.name,
    description: document.description,
    topic: document.topic,
    subject: document.subject,
    preheader: document.preheader,
    [document.kind]: document.body,
    ...(document.kind === "text" ? {} : { text: document.text }),
  };
  const fields: Record<string, unknown> = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== ""));
  if (document.strict) fields.strict = true;
  return fields;
}
