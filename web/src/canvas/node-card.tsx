import { Handle, Position, type Node, type NodeProps } from "@xyflow/react";
import { memo } from "react";
import { useWords } from "../i18n";
import { Icon, type IconName } from "../ui/icons";
import type { NodeCount } from "./counts";
import { gistOf, waysOf, type Kind, type NodeDef } from "./definition";
import { wayName } from "./way-name";

/** `order`: the ways as their targets stand from left to right, so that lines do not cross. */
export type CardData = { node: NodeDef; order: string[]; count: NodeCount | null; faults: number; warnings: number };
export type CardNode = Node<CardData, "card">;

export const iconOf = (kind: Kind): IconName => (kind === "send_message" ? "messages" : kind);

export const NodeCard = memo(function NodeCard({ data, selected }: NodeProps<CardNode>) {
  const { t, number, word } = useWords();
  const words = useWords();
  const { node, count, faults, warnings } = data;
  const ways = waysOf(node).sort((one, other) => data.order.indexOf(one.by) - data.order.indexOf(other.by));
  return (
    <div
      className="card"
      data-kind={node.node_type}
      data-faulty={faults > 0 || undefined}
      data-selected={selected || undefined}
    >
      {node.node_type !== "trigger" && <Handle type="target" position={Position.Top} id="in" />}
      <span className="card-icon">
        <Icon name={iconOf(node.node_type)} size={16} />
      </span>
      <div className="card-words">
        <strong>{node.label || node.id}</strong>
        <span className="small soft">{gistOf(node) || word("node", node.node_type)}</span>
      </div>
      {count && (
        <div className="card-counts small number">
          <span data-at={count.at > 0 || undefined} data-testid={`at-${node.id}`}>
            {t("canvas.here", { n: count.at })}
          </span>
          <span className="soft" data-testid={`entered-${node.id}`}>
            {number(count.entered)}
          </span>
        </div>
      )}
      {faults > 0 ? (
        <span className="card-mark" data-tone="bad">
          {t("canvas.fault", { n: faults })}
        </span>
      ) : (
        warnings > 0 && (
          <span className="card-mark" data-tone="warn">
            {t("canvas.warning", { n: warnings })}
          </span>
        )
      )}
      {ways.map((way, index) => (
        <Handle
          key={way.by}
          type="source"
          position={Position.Bottom}
          id={way.by}
          title={wayName(way.by, words)}
          data-open={way.to === null || undefined}
          style={{ left: `${((index + 1) / (ways.length + 1)) * 100}%` }}
        />
      ))}
    </div>
  );
});
