import { expect, it } from "vitest";
import { firstDefinition, type Definition } from "./definition";
import { NODE_WIDTH, type Places } from "./layout";
import { firstView } from "./view";

const SIZE = { width: 650, height: 568 };
const chain = (length: number): [Definition, Places] => [
  {
    name: "x",
    nodes: Array.from({ length }, (_, at) => ({ id: `n${at}`, node_type: at === 0 ? "trigger" : "exit" })),
  },
  Object.fromEntries(Array.from({ length }, (_, at) => [`n${at}`, { x: 24, y: 24 + at * 128 }])),
];

it("shows a small journey whole, in the middle and not enlarged", () => {
  const [definition, places] = chain(3);
  const view = firstView(definition, places, SIZE);
  expect(view.zoom).toBe(1);
  expect(view.x + (24 + NODE_WIDTH / 2) * view.zoom).toBe(SIZE.width / 2);
});

it("shows the beginning of a long one, so that it can be read", () => {
  const [definition, places] = chain(8);
  for (const size of [SIZE, { width: 366, height: 420 }]) {
    const view = firstView(definition, places, size);
    expect(view.zoom).toBe(0.85);
    expect(view.y + 24 * view.zoom).toBe(32);
    expect(view.x + (24 + NODE_WIDTH / 2) * view.zoom).toBe(size.width / 2);
  }
});

it("has a view of what has no places yet", () => {
  const view = firstView(firstDefinition("x"), {}, SIZE);
  expect(Object.values(view).every(Number.isFinite)).toBe(true);
});
