// The words of the expression language, for colours and completion.
export const KEYWORDS = [
  "AND",
  "OR",
  "NOT",
  "EXISTS",
  "WHERE",
  "IN",
  "BETWEEN",
  "IS",
  "NULL",
  "CONTAINS",
  "STARTS_WITH",
  "ENDS_WITH",
  "MATCHES",
  "TRUE",
  "FALSE",
];
export const FUNCTIONS = ["COUNT", "SUM", "AVG", "MIN", "MAX", "now", "timestamp"];
export const ROOTS = ["contact", "event", "journey", "system"];
export const JOURNEY_NAMES = [
  "id",
  "name",
  "version",
  "key",
  "state",
  "state.entry_time",
  "state.trigger_event_id",
  "state.wait_start_time",
  "state.wait_until",
  "state.last_message_id",
  "state.step_count",
];
export const CONTACT_NAMES = ["id", "user_id", "created_at"];
export const EVENT_NAMES = ["event_type", "event_time", "properties"];

export type Names = {
  attributes: { name: string; types: string[] }[];
  events: { name: string; count: number; properties: { name: string; types: string[] }[] }[];
};

export const NO_NAMES: Names = { attributes: [], events: [] };

export type Suggestion = { label: string; kind: "keyword" | "function" | "name" | "value"; detail?: string };
export type Suggested = { from: number; options: Suggestion[] } | null;

const PLAIN = /^[A-Za-z_][A-Za-z0-9_]*$/;
const quoted = (name: string) => (name.split(".").every((piece) => PLAIN.test(piece)) ? name : `"${name}"`);
const asText = (name: string) => `'${name.replaceAll("'", "''")}'`;

function named(names: { name: string; types?: string[] }[]): Suggestion[] {
  return names.map((one) => ({ label: quoted(one.name), kind: "name", detail: one.types?.join(", ") }));
}

function afterRoot(root: string, names: Names): Suggestion[] {
  if (root === "contact")
    return [...named(names.attributes), ...CONTACT_NAMES.map((label) => ({ label, kind: "name" as const }))];
  if (root === "event") return EVENT_NAMES.map((label) => ({ label, kind: "name" as const }));
  if (root === "journey") return JOURNEY_NAMES.map((label) => ({ label, kind: "name" as const }));
  return [];
}

function properties(names: Names): Suggestion[] {
  const seen = new Map<string, { name: string; types: string[] }>();
  for (const event of names.events) for (const property of event.properties) seen.set(property.name, property);
  return named([...seen.values()]);
}

// Behind a comparison, or anywhere in a list: texts may hold doubled quotes.
const EVENT_TYPE = /\bevent_type\s*(?:=|==|!=|<>|IN\s*\((?:\s*'(?:[^']|'')*'\s*,)*)\s*('[^']*|\w*)$/i;

/** What may stand at the end of this text. */
export function suggest(before: string, names: Names): Suggested {
  const eventType = EVENT_TYPE.exec(before);
  if (eventType) {
    const options = names.events.map((event): Suggestion => ({
      label: asText(event.name),
      kind: "value",
      detail: String(event.count),
    }));
    return { from: before.length - (eventType[1]?.length ?? 0), options };
  }
  const property = /\bproperties\.("[^"]*|[\w.]*)$/.exec(before);
  if (property) return { from: before.length - (property[1]?.length ?? 0), options: properties(names) };
  const path = /\b(contact|event|journey)\.("[^"]*|[\w.]*)$/.exec(before);
  if (path) return { from: before.length - (path[2]?.length ?? 0), options: afterRoot(path[1] ?? "", names) };
  const word = /[A-Za-z_]+$/.exec(before);
  if (!word) return null;
  const options: Suggestion[] = [
    ...ROOTS.slice(0, 3).map((root): Suggestion => ({ label: `${root}.`, kind: "name" })),
    ...EVENT_NAMES.map((label): Suggestion => ({ label, kind: "name" })),
    ...KEYWORDS.map((label): Suggestion => ({ label, kind: "keyword" })),
    ...FUNCTIONS.map((label): Suggestion => ({ label: `${label}(`, kind: "function" })),
  ];
  return { from: before.length - word[0].length, options };
}
