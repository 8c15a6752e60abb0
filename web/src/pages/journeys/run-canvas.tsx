import { ReactFlowProvider } from "@xyflow/react";
import { useMemo } from "react";
import type { Schemas } from "../../api/client";
import { useRead } from "../../api/queries";
import { Canvas } from "../../canvas/canvas";
import { pathCounts } from "../../canvas/counts";
import { readDefinition } from "../../canvas/definition";
import { arrange } from "../../canvas/layout";
import { Shown } from "../../ui/states";

const NO_FAULTS = new Map();
const nothing = () => {};

/** The way of one run through its version, drawn. */
export default function RunCanvas({ run }: { run: Schemas["InstanceDetail"] }) {
  const version = useRead<Schemas["JourneyVersion"]>(`/api/v1/journeys/${run.journey}/versions/${run.version}`);
  return (
    <div className="run-canvas">
      <Shown of={version}>
        {(data) => (
          <ReactFlowProvider>
            <Drawn run={run} definition={data.definition} />
          </ReactFlowProvider>
        )}
      </Shown>
    </div>
  );
}

function Drawn({ run, definition }: { run: Schemas["InstanceDetail"]; definition: unknown }) {
  const read = useMemo(() => readDefinition(definition), [definition]);
  const places = useMemo(() => arrange(read), [read]);
  const counts = useMemo(() => pathCounts(run.path, run.node, run.status === "active"), [run]);
  return (
    <Canvas
      definition={read}
      places={places}
      counts={counts}
      faults={NO_FAULTS}
      chosen={run.node}
      editable={false}
      onChoose={nothing}
      onMove={nothing}
      onConnect={nothing}
      onDisconnect={nothing}
      onRemove={nothing}
      onDrop={nothing}
    />
  );
}
