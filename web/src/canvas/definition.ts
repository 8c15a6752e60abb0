// A journey's definition as the canvas works on it: plain data in, plain data out, nothing is changed in place.
export const KINDS = ["trigger", "condition", "wait", "send_message", "update_contact", "branch", "exit"] as const;
export type Kind = (typeof KINDS)[number];

export type Fields = Record<string, unknown>;
export type NodeDef = Fields & { id: string; node_type: Kind; label?: string };
export type Definition = Fields & { name: string; nodes: NodeDef[] };
export type Branch = { priority?: number; condition?: string; next_node_id?: string };

/** A way out of a node: what the log calls it, and where it leads. */
export type Way = { by: string; to: string | null };

const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** Fields may stand in `config`, too; the canvas has them all beside each other. */
export function readDefinition(value: unknown): Definition {
  const fields = (value ?? {}) as Fields;
  const nodes = Array.isArray(fields.nodes) ? (fields.nodes as Fields[]) : [];
  return { ...fields, name: textOf(fields.name) ?? "", nodes: nodes.map(flatten) };
}

function flatten(node: Fields): NodeDef {
  const { config, ...rest } = node;
  return { ...(config as Fields | undefined), ...rest } as NodeDef;
}

const FIELD_OF: Record<string, string> = {
  next: "next_node_id",
  met: "next_node_id",
  true: "true_node_id",
  false: "false_node_id",
  timeout: "timeout_node_id",
  default: "default_node_id",
};

export const branchesOf = (node: NodeDef): Branch[] =>
  Array.isArray(node.branches) ? (node.branches as Branch[]) : [];

const NAMES: Record<Kind, string[]> = {
  trigger: ["next"],
  condition: ["true", "false"],
  wait: ["met", "timeout"],
  send_message: ["next"],
  update_contact: ["next"],
  branch: ["default"],
  exit: [],
};

export function waysOf(node: NodeDef): Way[] {
  const plain = (NAMES[node.node_type] ?? []).map((by): Way => ({ by, to: textOf(node[FIELD_OF[by] ?? ""]) }));
  // Time passes anyway: only a definition that says so has a timeout beside it.
  if (node.node_type === "wait" && node.wait_type === "duration" && !node.timeout_node_id) return plain.slice(0, 1);
  if (node.node_type !== "branch") return plain;
  return [
    ...branchesOf(node).map((branch, index): Way => ({ by: `branch:${index}`, to: textOf(branch.next_node_id) })),
    ...plain,
  ];
}

const without = (fields: Fields, name: string): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));
const set = (fields: Fields, name: string, value: unknown): Fields =>
  value === undefined || value === null || value === "" ? without(fields, name) : { ...fields, [name]: value };

function lead(node: NodeDef, by: string, to: string | null): NodeDef {
  if (!by.startsWith("branch:")) return set(node, FIELD_OF[by] ?? by, to) as NodeDef;
  const at = Number(by.slice(7));
  return {
    ...node,
    branches: branchesOf(node).map((branch, index) => (index === at ? set(branch, "next_node_id", to) : branch)),
  };
}

const change = (definition: Definition, id: string, edit: (node: NodeDef) => NodeDef): Definition => ({
  ...definition,
  nodes: definition.nodes.map((node) => (node.id === id ? edit(node) : node)),
});

/** Leads a way of a node to another one; null takes it away. */
export const connect = (definition: Definition, from: string, by: string, to: string | null) =>
  change(definition, from, (node) => lead(node, by, to));

export const setField = (definition: Definition, id: string, name: string, value: unknown) =>
  change(definition, id, (node) => set(node, name, value) as NodeDef);

export const setOption = (definition: Definition, name: string, value: unknown) =>
  set(definition, name, value) as Definition;

export function freeId(definition: Definition, kind: Kind): string {
  const taken = new Set(definition.nodes.map((node) => node.id));
  const stem = kind.replaceAll("_", "-");
  for (let count = 1; ; count++) if (!taken.has(`${stem}-${count}`)) return `${stem}-${count}`;
}

const FIRST: Record<Kind, Fields> = {
  trigger: { trigger_type: "event", event_type: "" },
  condition: { condition: "" },
  wait: { wait_type: "duration", duration: "1d" },
  send_message: { channel: "email", template: "" },
  update_contact: { updates: {} },
  branch: { branches: [{ priority: 1, condition: "" }] },
  exit: {},
};

export function addNode(definition: Definition, kind: Kind): { definition: Definition; id: string } {
  const id = freeId(definition, kind);
  return { definition: { ...definition, nodes: [...definition.nodes, { id, node_type: kind, ...FIRST[kind] }] }, id };
}

/** Puts a new node behind a way that leads nowhere yet, if the node has one. */
export function addBehind(
  definition: Definition,
  kind: Kind,
  after: string | null,
): { definition: Definition; id: string } {
  const added = addNode(definition, kind);
  const before = definition.nodes.find((node) => node.id === after);
  const open = before && waysOf(before).find((way) => way.to === null);
  return open && kind !== "trigger"
    ? { ...added, definition: connect(added.definition, before.id, open.by, added.id) }
    : added;
}

/** Without the node, and without the ways that led to it. */
export function removeNode(definition: Definition, id: string): Definition {
  const nodes = definition.nodes
    .filter((node) => node.id !== id)
    .map((node) =>
      waysOf(node)
        .filter((way) => way.to === id)
        .reduce((kept, way) => lead(kept, way.by, null), node),
    );
  return { ...definition, nodes };
}

export function renameNode(definition: Definition, from: string, to: string): Definition {
  if (!to || definition.nodes.some((node) => node.id === to)) return definition;
  const nodes = definition.nodes.map((node) =>
    waysOf(node)
      .filter((way) => way.to === from)
      .reduce((kept, way) => lead(kept, way.by, to), node),
  );
  const start = definition.start_node_id === from ? { start_node_id: to } : {};
  return { ...definition, ...start, nodes: nodes.map((node) => (node.id === from ? { ...node, id: to } : node)) };
}

export type Edge = { id: string; from: string; by: string; to: string };

/** All ways that lead somewhere; what names an unknown node is a fault, and is not drawn. */
export function edgesOf(definition: Definition): Edge[] {
  const known = new Set(definition.nodes.map((node) => node.id));
  return definition.nodes.flatMap((node) =>
    waysOf(node).flatMap((way) =>
      way.to !== null && known.has(way.to)
        ? [{ id: `${node.id} ${way.by}`, from: node.id, by: way.by, to: way.to }]
        : [],
    ),
  );
}

/** One line that says what a node does. */
export function gistOf(node: NodeDef): string {
  const pick = (...names: string[]) =>
    names
      .map((name) => textOf(node[name]))
      .filter(Boolean)
      .join(" · ");
  switch (node.node_type) {
    case "trigger":
      return pick("event_type", "segment") || String(node.trigger_type ?? "");
    case "condition":
      return pick("condition");
    case "wait":
      return pick("event_type", "wait_condition", "duration", "timeout");
    case "send_message":
      return pick("channel", "template");
    case "update_contact":
      return Object.keys((node.updates as Fields | undefined) ?? {}).join(", ");
    case "branch":
      return branchesOf(node)
        .map((branch) => branch.condition)
        .filter(Boolean)
        .join(" | ");
    case "exit":
      return "";
  }
}

export const firstDefinition = (name: string): Definition => ({
  name,
  nodes: [
    { id: "start", node_type: "trigger", trigger_type: "event", event_type: "signed_up", next_node_id: "done" },
    { id: "done", node_type: "exit" },
  ],
});
