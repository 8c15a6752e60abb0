import { ReactFlowProvider } from "@xyflow/react";
import { useMemo, useState } from "react";
import type { PageProps } from "../../app";
import type { Schemas } from "../../api/client";
import { useRead } from "../../api/queries";
import { Canvas } from "../../canvas/canvas";
import { countAt, countsOf } from "../../canvas/counts";
import {
  addBehind,
  addNode,
  connect,
  readDefinition,
  removeNode,
  renameNode,
  setField,
  setOption,
  type Kind,
} from "../../canvas/definition";
import { arrange } from "../../canvas/layout";
import { JourneySide, NodeSide } from "../../canvas/side";
import { useWords } from "../../i18n";
import { useMayEdit } from "../../shell/session";
import { Note, Page } from "../../ui/layout";
import { Shown } from "../../ui/states";
import { JourneyActions } from "./actions";
import { Standing } from "./list";
import { SimulationNote, type Simulation } from "./simulation";
import { Tools } from "./tools";
import { faultCounts, useCounts, useFaults } from "./watch";
import { useUndoKeys, useWork } from "./work";

type Journey = Schemas["JourneyDetail"];

export default function JourneyPage({ params }: PageProps) {
  const { t } = useWords();
  const journey = useRead<Journey>(`/api/v1/journeys/${params.id}`);
  if (!journey.data)
    return (
      <Page title={t("journeys.journey")}>
        <Shown of={journey}>{() => null}</Shown>
      </Page>
    );
  return (
    <ReactFlowProvider>
      <Drawing journey={journey.data} />
    </ReactFlowProvider>
  );
}

function Drawing({ journey }: { journey: Journey }) {
  const { t } = useWords();
  const mayEdit = useMayEdit();
  const work = useWork(journey);
  const [chosen, setChosen] = useState<string | null>(null);
  const [version, setVersion] = useState<number | null>(null);
  const [simulation, setSimulation] = useState<Simulation>(null);
  const old = useRead<Schemas["JourneyVersion"]>(
    `/api/v1/journeys/${journey.id}/versions/${version}`,
    {},
    { enabled: version !== null },
  );
  const live = useCounts(journey.id, version, journey.version !== null);
  const faults = useFaults(work.definition);
  const marks = useMemo(() => faultCounts(version === null ? faults : []), [faults, version]);
  useUndoKeys(work.dispatch);

  const past = useMemo(
    () => (version !== null && old.data ? readDefinition(old.data.definition) : null),
    [version, old.data],
  );
  const definition = past ?? work.definition;
  const places = useMemo(() => (past ? arrange(past) : work.places), [past, work.places]);
  const readOnly = !mayEdit || version !== null;
  const simulated = useMemo(
    () => (simulation !== null && simulation !== "running" ? countsOf(simulation.stats) : null),
    [simulation],
  );
  const counts = simulated ?? live.counts;
  const node = definition.nodes.find((one) => one.id === chosen);

  const add = (kind: Kind) => {
    const added = addBehind(work.definition, kind, chosen);
    work.edit(added.definition);
    setChosen(added.id);
  };
  const drop = (kind: Kind, at: { x: number; y: number }) => {
    const added = addNode(work.definition, kind);
    work.edit(added.definition, undefined, { [added.id]: at });
    setChosen(added.id);
  };
  const remove = (ids: string[]) => {
    work.edit(ids.reduce(removeNode, work.definition));
    setChosen(null);
  };
  const rename = (to: string) => {
    const next = renameNode(work.definition, chosen ?? "", to);
    const place = work.places[chosen ?? ""];
    work.edit(next, undefined, place && { [to]: place });
    if (next !== work.definition) setChosen(to);
  };
  const actions = (
    <JourneyActions
      journey={journey}
      work={work}
      faults={faults}
      active={live.counts?.active ?? 0}
      onSimulated={setSimulation}
    />
  );
  return (
    <Page
      title={journey.name}
      crumb={{ to: "/journeys", label: t("journeys.title") }}
      lead={<Standing journey={journey} />}
      actions={actions}
    >
      {version !== null && <Note>{t("canvas.readOnly", { n: version })}</Note>}
      <SimulationNote of={simulation} />
      <section className="journey" aria-label={journey.name}>
        <Tools
          journey={journey}
          work={work}
          readOnly={readOnly}
          faults={faults}
          version={version}
          onVersion={setVersion}
          onAdd={add}
          simulated={simulated}
          onLive={() => setSimulation(null)}
          link={live.link}
        />
        <div className="canvas">
          <Canvas
            definition={definition}
            places={places}
            counts={counts}
            faults={marks}
            chosen={chosen}
            editable={!readOnly}
            onChoose={setChosen}
            onMove={(next) => work.dispatch({ do: "move", places: next })}
            onConnect={(from, by, to) => work.edit(connect(work.definition, from, by, to))}
            onDisconnect={(from, by) => work.edit(connect(work.definition, from, by, null))}
            onRemove={remove}
            onDrop={drop}
          />
        </div>
        <aside className="journey-side" aria-label={t("canvas.settings")}>
          {node ? (
            <NodeSide
              key={node.id}
              journey={journey.id}
              definition={definition}
              node={node}
              count={counts && countAt(counts, node.id)}
              faults={version === null ? faults.filter((fault) => fault.node === node.id) : []}
              readOnly={readOnly}
              onChange={(field, value) =>
                work.edit(setField(work.definition, node.id, field, value), `${node.id}.${field}`)
              }
              onLead={(by, to) => work.edit(connect(work.definition, node.id, by, to))}
              onRename={rename}
              onRemove={() => remove([node.id])}
            />
          ) : (
            <JourneySide
              definition={definition}
              faults={version === null ? faults : []}
              readOnly={readOnly}
              onChange={(field, value) => work.edit(setOption(work.definition, field, value), field)}
              onChoose={setChosen}
            />
          )}
        </aside>
      </section>
    </Page>
  );
}
