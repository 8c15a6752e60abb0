import {
  Background,
  Controls,
  MarkerType,
  MiniMap,
  ReactFlow,
  useNodesState,
  useReactFlow,
  type Connection,
  type Edge as FlowEdge,
  type NodeChange,
  type Viewport,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import "./canvas.css";
import { useEffect, useLayoutEffect, useMemo, useRef, useState, type DragEvent } from "react";
import { useWords } from "../i18n";
import { countAt, edgeCount, type Counts } from "./counts";
import { edgesOf, KINDS, waysOf, type Definition, type Kind, type NodeDef } from "./definition";
import { NODE_HEIGHT, NODE_WIDTH, type Places } from "./layout";
import { NodeCard, type CardNode } from "./node-card";
import { firstView } from "./view";
import { wayName } from "./way-name";

export type FaultCounts = Map<string, { faults: number; warnings: number }>;

export type CanvasProps = {
  definition: Definition;
  places: Places;
  counts: Counts | null;
  faults: FaultCounts;
  chosen: string | null;
  editable: boolean;
  onChoose: (id: string | null) => void;
  onMove: (places: Places) => void;
  onConnect: (from: string, by: string, to: string) => void;
  onDisconnect: (from: string, by: string) => void;
  onRemove: (ids: string[]) => void;
  onDrop: (kind: Kind, at: { x: number; y: number }) => void;
};

const nodeTypes = { card: NodeCard };
export const DRAGGED = "application/x-kurier-node";

function nodesOf({ definition, places, counts, faults, chosen }: CanvasProps): CardNode[] {
  return definition.nodes.map((node) => ({
    id: node.id,
    type: "card",
    position: places[node.id] ?? { x: 0, y: 0 },
    selected: node.id === chosen,
    ariaLabel: node.label || node.id,
    initialWidth: NODE_WIDTH,
    initialHeight: NODE_HEIGHT,
    data: {
      node,
      order: orderOf(node, places),
      count: counts && countAt(counts, node.id),
      faults: faults.get(node.id)?.faults ?? 0,
      warnings: faults.get(node.id)?.warnings ?? 0,
    },
  }));
}

function orderOf(node: NodeDef, places: Places): string[] {
  const x = (id: string | null) => (id === null ? 0 : (places[id]?.x ?? 0));
  return waysOf(node)
    .sort((one, other) => x(one.to) - x(other.to))
    .map((way) => way.by);
}

/** Where to look first is known once there is room to look at. */
export function Canvas(props: CanvasProps) {
  const room = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<Viewport | null>(null);
  useLayoutEffect(() => {
    if (room.current) setView(firstView(props.definition, props.places, room.current.getBoundingClientRect()));
    // Only the first look: afterwards whoever looks moves the view.
  }, []);
  return (
    <div className="canvas-room" ref={room}>
      {view && <Flow {...props} view={view} />}
    </div>
  );
}

function Flow({ view, ...props }: CanvasProps & { view: Viewport }) {
  const words = useWords();
  const flow = useReactFlow();
  const { definition, counts, editable, places, faults, chosen } = props;
  const [nodes, setNodes, onNodesChange] = useNodesState<CardNode>([]);
  // Numbers arrive while somebody drags: what is in their hand stays where it is.
  useEffect(
    () =>
      setNodes((before) => {
        const known = new Map(before.map((node) => [node.id, node]));
        return nodesOf(props).map((node) => {
          const was = known.get(node.id);
          if (!was) return node;
          return was.dragging
            ? { ...node, measured: was.measured, position: was.position, dragging: true }
            : { ...node, measured: was.measured };
        });
      }),
    [definition, places, counts, faults, chosen],
  );
  const edges = useMemo(
    () =>
      edgesOf(definition).map((edge): FlowEdge => {
        const count = counts ? edgeCount(counts, edge.from, edge.by, edge.to) : 0;
        const name = edge.by === "next" ? "" : wayName(edge.by, words);
        return {
          id: edge.id,
          source: edge.from,
          target: edge.to,
          sourceHandle: edge.by,
          targetHandle: "in",
          type: "smoothstep",
          label: [name, counts ? words.number(count) : ""].filter(Boolean).join(" · "),
          markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16 },
          className: count > 0 ? "walked" : undefined,
          ariaLabel: `${edge.from} ${name || "→"} ${edge.to}`,
        };
      }),
    [definition, counts, words],
  );
  // By mouse or by keyboard: whatever is selected is chosen.
  const changed = (changes: NodeChange<CardNode>[]) => {
    onNodesChange(changes);
    const picked = changes.find((change) => change.type === "select" && change.selected);
    if (picked?.type === "select") props.onChoose(picked.id);
  };
  const moved = () =>
    props.onMove(
      Object.fromEntries(
        flow.getNodes().map((node) => [node.id, { x: Math.round(node.position.x), y: Math.round(node.position.y) }]),
      ),
    );
  const connected = ({ source, target, sourceHandle }: Connection) =>
    source !== target && props.onConnect(source, sourceHandle ?? "next", target);
  const drop = (event: DragEvent) => {
    const kind = KINDS.find((one) => one === event.dataTransfer.getData(DRAGGED));
    if (!kind) return;
    event.preventDefault();
    props.onDrop(
      kind,
      flow.screenToFlowPosition({ x: event.clientX - NODE_WIDTH / 2, y: event.clientY - NODE_HEIGHT / 2 }),
    );
  };
  return (
    <ReactFlow
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      onNodesChange={changed}
      onPaneClick={() => props.onChoose(null)}
      onNodeDragStop={moved}
      onConnect={connected}
      onEdgesDelete={(gone) => gone.forEach((edge) => props.onDisconnect(edge.source, edge.sourceHandle ?? "next"))}
      onNodesDelete={(gone) => props.onRemove(gone.map((node) => node.id))}
      onDragOver={(event) => event.preventDefault()}
      onDrop={drop}
      nodesDraggable={editable}
      nodesConnectable={editable}
      deleteKeyCode={editable ? ["Delete", "Backspace"] : null}
      onlyRenderVisibleElements={definition.nodes.length > 60}
      minZoom={0.05}
      maxZoom={1.5}
      defaultViewport={view}
      aria-label={words.t("canvas.label")}
      proOptions={{ hideAttribution: true }}
    >
      <Background gap={24} size={1.5} color="var(--line)" />
      <Controls showInteractive={false} />
      {definition.nodes.length > 12 && (
        <MiniMap
          pannable
          zoomable
          ariaLabel={words.t("canvas.label")}
          nodeColor="var(--line-strong)"
          maskColor="color-mix(in srgb, var(--page) 70%, transparent)"
        />
      )}
    </ReactFlow>
  );
}
