// Where a canvas is looked at first.
import type { Viewport } from "@xyflow/react";
import type { Definition } from "./definition";
import { NODE_HEIGHT, NODE_WIDTH, type Places } from "./layout";

// Smaller than this, words on nodes are hard to read: rather a part of the journey is shown, from its beginning.
const READABLE = 0.85;
const MARGIN_PX = 32;

type Size = { width: number; height: number };

export function firstView(definition: Definition, places: Places, size: Size): Viewport {
  const all = Object.values(places);
  if (all.length === 0) return { zoom: 1, x: MARGIN_PX, y: MARGIN_PX };
  const [left, top] = [Math.min(...all.map((place) => place.x)), Math.min(...all.map((place) => place.y))];
  const width = Math.max(...all.map((place) => place.x)) + NODE_WIDTH - left;
  const height = Math.max(...all.map((place) => place.y)) + NODE_HEIGHT - top;
  const zoom = Math.min(1, (size.width - 2 * MARGIN_PX) / width, (size.height - 2 * MARGIN_PX) / height);
  if (zoom >= READABLE)
    return {
      zoom,
      x: (size.width - width * zoom) / 2 - left * zoom,
      y: (size.height - height * zoom) / 2 - top * zoom,
    };
  const first = places[definition.nodes.find((node) => node.node_type === "trigger")?.id ?? ""] ?? { x: left, y: top };
  return {
    zoom: READABLE,
    x: size.width / 2 - (first.x + NODE_WIDTH / 2) * READABLE,
    y: MARGIN_PX - first.y * READABLE,
  };
}
