// Numbers on the canvas: of the live runs, or of a simulation.
export type NodeCount = { at: number; entered: number; left: number };
export type Counts = { entered: number; active: number; nodes: Map<string, NodeCount>; edges: Map<string, number> };

type Stats = {
  entered: number;
  active: number;
  nodes: { node: string; at: number; entered: number; left: number }[];
  edges: { node: string; by: string; to: string; count: number }[];
};

const keyOf = (node: string, by: string, to: string) => `${node} ${by} ${to}`;

export function countsOf(stats: Stats): Counts {
  const edges = new Map<string, number>();
  for (const edge of stats.edges) edges.set(keyOf(edge.node, edge.by, edge.to), edge.count);
  return {
    entered: stats.entered,
    active: stats.active,
    nodes: new Map(stats.nodes.map((node) => [node.node, node])),
    edges,
  };
}

/** Where nobody has been, there is nothing to tell. */
export const countAt = (counts: Counts, node: string): NodeCount =>
  counts.nodes.get(node) ?? { at: 0, entered: 0, left: 0 };

/** A wait goes on as `met`; one for time alone may be told as `next`. */
export function edgeCount(counts: Counts, from: string, by: string, to: string): number {
  const other = by === "met" ? (counts.edges.get(keyOf(from, "next", to)) ?? 0) : 0;
  return (counts.edges.get(keyOf(from, by, to)) ?? 0) + other;
}

type Hop = { node: string; by: string; to: string };

/** One run's path, as numbers on the canvas: how often it came by. */
export function pathCounts(path: Hop[], at: string, active: boolean): Counts {
  const nodes = new Map<string, NodeCount>();
  const edges = new Map<string, number>();
  const of = (node: string) => {
    const known = nodes.get(node) ?? { at: 0, entered: 0, left: 0 };
    nodes.set(node, known);
    return known;
  };
  of(path[0]?.node ?? at).entered++;
  for (const hop of path) {
    of(hop.node).left++;
    of(hop.to).entered++;
    const key = keyOf(hop.node, hop.by, hop.to);
    edges.set(key, (edges.get(key) ?? 0) + 1);
  }
  if (active) of(at).at = 1;
  return { entered: 1, active: active ? 1 : 0, nodes, edges };
}
