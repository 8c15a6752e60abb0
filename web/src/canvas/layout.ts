// Where nodes stand. A definition says nothing of places: they are computed, and those that somebody
// moved are remembered in the browser.
import { graphlib, layout } from "@dagrejs/dagre";
import { edgesOf, type Definition } from "./definition";

export type Place = { x: number; y: number };
export type Places = Record<string, Place>;

export const NODE_WIDTH = 220;
export const NODE_HEIGHT = 76;

export function arrange(definition: Definition): Places {
  const graph = new graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 40, ranksep: 52, marginx: 24, marginy: 24 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of definition.nodes) graph.setNode(node.id, { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const edge of edgesOf(definition)) graph.setEdge(edge.from, edge.to);
  layout(graph);
  return Object.fromEntries(
    definition.nodes.map((node) => {
      const { x, y } = graph.node(node.id) as Place;
      return [node.id, { x: Math.round(x - NODE_WIDTH / 2), y: Math.round(y - NODE_HEIGHT / 2) }];
    }),
  );
}

/** Known places stay; nodes without one get the place they would have. */
export function settle(definition: Definition, known: Places): Places {
  if (definition.nodes.every((node) => known[node.id])) return known;
  const computed = arrange(definition);
  return Object.fromEntries(
    definition.nodes.map((node) => [node.id, known[node.id] ?? computed[node.id] ?? { x: 0, y: 0 }]),
  );
}

const keyOf = (journey: string) => `kurier.places.${journey}`;

export function keptPlaces(journey: string): Places {
  try {
    return JSON.parse(localStorage.getItem(keyOf(journey)) ?? "{}") as Places;
  } catch {
    return {};
  }
}

export const keepPlaces = (journey: string, places: Places) =>
  localStorage.setItem(keyOf(journey), JSON.stringify(places));
