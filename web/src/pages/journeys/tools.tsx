import { useReactFlow } from "@xyflow/react";
import type { DragEvent } from "react";
import type { Schemas } from "../../api/client";
import type { Link as LiveLink } from "../../api/live";
import { useRead } from "../../api/queries";
import { DRAGGED } from "../../canvas/canvas";
import type { Counts } from "../../canvas/counts";
import { KINDS, type Kind } from "../../canvas/definition";
import { iconOf } from "../../canvas/node-card";
import { useWords } from "../../i18n";
import { Badge, Button, ButtonLink, IconButton } from "../../ui/controls";
import { Icon } from "../../ui/icons";
import type { Work } from "./work";

type ToolsProps = {
  journey: Schemas["JourneyDetail"];
  work: Work;
  readOnly: boolean;
  faults: Schemas["FaultView"][];
  version: number | null;
  onVersion: (version: number | null) => void;
  onAdd: (kind: Kind) => void;
  simulated: Counts | null;
  onLive: () => void;
  link: LiveLink;
};

export function Tools(props: ToolsProps) {
  const { t } = useWords();
  const flow = useReactFlow();
  const { work, readOnly, journey } = props;
  const arrange = () => {
    work.dispatch({ do: "arrange" });
    requestAnimationFrame(() => void flow.fitView({ maxZoom: 1, padding: 0.15, duration: 200 }));
  };
  return (
    <div className="journey-tools" role="toolbar" aria-label={t("canvas.label")}>
      {!readOnly && (
        <>
          <Palette onAdd={props.onAdd} />
          <IconButton
            icon="undo"
            label={t("canvas.undo")}
            disabled={!work.canUndo}
            onClick={() => work.dispatch({ do: "undo" })}
          />
          <IconButton
            icon="redo"
            label={t("canvas.redo")}
            disabled={!work.canRedo}
            onClick={() => work.dispatch({ do: "redo" })}
          />
          <IconButton icon="layout" label={t("canvas.layout")} onClick={arrange} />
        </>
      )}
      <span className="grow" />
      <Standing {...props} />
      <Versions journey={journey} version={props.version} onVersion={props.onVersion} />
      {journey.version !== null && (
        <ButtonLink small to={`/journeys/${journey.id}/runs`}>
          {t("canvas.runs")}
        </ButtonLink>
      )}
    </div>
  );
}

function Palette({ onAdd }: { onAdd: (kind: Kind) => void }) {
  const { t, word } = useWords();
  const drag = (kind: Kind) => (event: DragEvent) => {
    event.dataTransfer.setData(DRAGGED, kind);
    event.dataTransfer.effectAllowed = "copy";
  };
  return (
    <div className="palette" role="group" aria-label={t("canvas.add")} title={t("canvas.addHint")}>
      <span className="small soft palette-title">{t("canvas.add")}</span>
      {KINDS.map((kind) => (
        <button
          key={kind}
          type="button"
          className="button"
          data-kind="quiet"
          data-size="small"
          draggable
          onDragStart={drag(kind)}
          onClick={() => onAdd(kind)}
          title={`${t("canvas.add")}: ${word("node", kind)}`}
        >
          <Icon name={iconOf(kind)} size={16} />
          <span className="palette-name">{word("node", kind)}</span>
        </button>
      ))}
    </div>
  );
}

function Standing({ work, faults, simulated, onLive, version, link, journey }: ToolsProps) {
  const { t } = useWords();
  const bad = faults.filter((fault) => fault.severity === "fault").length;
  return (
    <span className="actions">
      {simulated ? (
        <>
          <Badge tone="accent">{t("canvas.counts.simulated")}</Badge>
          <Button small onClick={onLive}>
            {t("canvas.simulateEnd")}
          </Button>
        </>
      ) : (
        journey.version !== null && <Badge tone={link === "live" ? "good" : "idle"}>{t("canvas.counts.live")}</Badge>
      )}
      {version === null && (
        <Badge tone={bad ? "bad" : "good"}>{bad ? t("canvas.fault", { n: bad }) : t("canvas.noFaults")}</Badge>
      )}
      {work.dirty && <Badge tone="warn">{t("canvas.unsaved")}</Badge>}
    </span>
  );
}

function Versions({ journey, version, onVersion }: Pick<ToolsProps, "journey" | "version" | "onVersion">) {
  const { t } = useWords();
  const versions = useRead<Schemas["JourneyVersionList"]>(
    `/api/v1/journeys/${journey.id}/versions`,
    {},
    { enabled: journey.version !== null },
  );
  if (!versions.data?.data.length) return null;
  return (
    <select
      className="input"
      aria-label={t("canvas.version")}
      value={version ?? ""}
      onChange={(event) => onVersion(event.target.value ? Number(event.target.value) : null)}
    >
      <option value="">{t("canvas.working")}</option>
      {versions.data.data.map((one) => (
        <option key={one.version} value={one.version}>
          {t("canvas.versionN", { n: one.version })}
        </option>
      ))}
    </select>
  );
}
