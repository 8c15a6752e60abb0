import { describe, expect, it } from "vitest";
import {
  addBehind,
  connect,
  edgesOf,
  firstDefinition,
  freeId,
  readDefinition,
  removeNode,
  renameNode,
  setField,
  waysOf,
  type Definition,
} from "./definition";
import { arrange, settle } from "./layout";

const cart = readDefinition({
  name: "Cart",
  reentry_policy: "restart",
  nodes: [
    { id: "start", node_type: "trigger", event_type: "cart_updated", next_node_id: "hour" },
    {
      id: "hour",
      node_type: "wait",
      config: { wait_type: "event", event_type: "order_completed", timeout: "1h" },
      next_node_id: "bought",
      timeout_node_id: "by-plan",
    },
    {
      id: "by-plan",
      node_type: "branch",
      branches: [{ priority: 1, condition: "contact.plan = 'pro'", next_node_id: "remind" }],
      default_node_id: "bought",
    },
    { id: "remind", node_type: "send_message", channel: "email", template: "t", next_node_id: "bought" },
    { id: "bought", node_type: "exit" },
  ],
});
const nodeOf = (definition: Definition, id: string) => {
  const node = definition.nodes.find((one) => one.id === id);
  if (!node) throw new Error(`no node ${id}`);
  return node;
};

describe("definition and graph", () => {
  it("has an edge for every way that leads somewhere", () => {
    expect(edgesOf(cart).map((edge) => `${edge.from} -${edge.by}> ${edge.to}`)).toEqual([
      "start -next> hour",
      "hour -met> bought",
      "hour -timeout> by-plan",
      "by-plan -branch:0> remind",
      "by-plan -default> bought",
      "remind -next> bought",
    ]);
  });

  it("takes fields out of config, and keeps what it does not know", () => {
    expect(nodeOf(cart, "hour").timeout).toBe("1h");
    expect(cart.reentry_policy).toBe("restart");
  });

  it("draws no edge to a node that is not there", () => {
    expect(edgesOf(connect(cart, "remind", "next", "nowhere")).some((edge) => edge.to === "nowhere")).toBe(false);
  });

  it("connects a branch in its list, and leaves the given definition alone", () => {
    const next = connect(cart, "by-plan", "branch:0", "hour");
    expect(waysOf(nodeOf(next, "by-plan"))[0]).toEqual({ by: "branch:0", to: "hour" });
    expect(waysOf(nodeOf(cart, "by-plan"))[0]).toEqual({ by: "branch:0", to: "remind" });
  });

  it("removes a node with the ways to it", () => {
    const next = removeNode(cart, "bought");
    expect(next.nodes).toHaveLength(4);
    expect("next_node_id" in nodeOf(next, "hour")).toBe(false);
    expect("default_node_id" in nodeOf(next, "by-plan")).toBe(false);
  });

  it("renames a node wherever it is named, and not onto another", () => {
    expect(edgesOf(renameNode(cart, "bought", "done")).filter((edge) => edge.to === "done")).toHaveLength(3);
    expect(renameNode(cart, "bought", "start")).toBe(cart);
  });

  it("puts a new node behind the first open way", () => {
    const open = connect(firstDefinition("x"), "start", "next", null);
    const { definition, id } = addBehind(open, "wait", "start");
    expect(waysOf(nodeOf(definition, "start"))[0]).toEqual({ by: "next", to: id });
    expect(freeId(definition, "wait")).toBe("wait-2");
  });

  it("drops a field that is emptied", () => {
    expect("template" in nodeOf(setField(cart, "remind", "template", ""), "remind")).toBe(false);
  });
});

describe("layout", () => {
  it("places every node, and none upon another", () => {
    const places = Object.values(arrange(cart)).map((place) => `${place.x}/${place.y}`);
    expect(new Set(places).size).toBe(cart.nodes.length);
  });

  it("leaves moved nodes where they are", () => {
    const places = settle(cart, { hour: { x: 7, y: 9 } });
    expect(places.hour).toEqual({ x: 7, y: 9 });
    expect(Object.keys(places)).toHaveLength(5);
  });

  it("lays out 200 nodes in a few seconds at most, on a slow machine too", () => {
    const nodes = Array.from({ length: 200 }, (_, index) => ({
      id: `n${index}`,
      node_type: "condition",
      true_node_id: `n${index + 1}`,
      false_node_id: `n${Math.min(199, index + 7)}`,
    }));
    const began = performance.now();
    arrange(readDefinition({ name: "big", nodes }));
    expect(performance.now() - began).toBeLessThan(5000);
  });
});
