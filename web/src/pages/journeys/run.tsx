import { lazy, Suspense, useMemo, useState } from "react";
import type { PageProps } from "../../app";
import { api, type Schemas } from "../../api/client";
import { useAct, useRead } from "../../api/queries";
import { readDefinition } from "../../canvas/definition";
import { wayName } from "../../canvas/way-name";
import { useWords } from "../../i18n";
import { Link } from "../../shell/router";
import { useMayEdit } from "../../shell/session";
import { Badge, Button } from "../../ui/controls";
import { Confirm } from "../../ui/dialog";
import { Facts, Page, Panel } from "../../ui/layout";
import { Loading, Shown } from "../../ui/states";
import { Code, Time } from "../../ui/values";
import { ContactName } from "../contacts/contact-name";
import { RunStatus } from "./run-table";

type Run = Schemas["InstanceDetail"];

// The canvas is large, and the path can be read without it.
const RunCanvas = lazy(() => import("./run-canvas"));

export default function RunPage({ params }: PageProps) {
  const { t } = useWords();
  const run = useRead<Run>(`/api/v1/instances/${params.id}`, {}, { every: 3000 });
  const data = run.data;
  return (
    <Page
      title={data?.journey_name ?? t("run.title")}
      crumb={data && { to: `/journeys/${data.journey}`, label: data.journey_name ?? t("journeys.journey") }}
      lead={data && <RunStatus run={data} />}
      actions={data && <Cancel run={data} />}
    >
      <Shown of={run} lines={8}>
        {(shown) => (
          <div className="grid-aside">
            <div className="stack">
              <Panel title={t("run.drawn")} flush>
                <Suspense fallback={<Loading />}>
                  <RunCanvas run={shown} />
                </Suspense>
              </Panel>
              <Path run={shown} />
            </div>
            <div className="stack">
              <About run={shown} />
              <Messages run={shown} />
            </div>
          </div>
        )}
      </Shown>
    </Page>
  );
}

/** What the nodes are called in the version that the run is in. */
function useLabels(run: Run): (node: string) => string {
  const version = useRead<Schemas["JourneyVersion"]>(`/api/v1/journeys/${run.journey}/versions/${run.version}`);
  return useMemo(() => {
    const nodes = readDefinition(version.data?.definition).nodes;
    const labels = new Map(nodes.map((node) => [node.id, node.label]));
    return (node) => labels.get(node) || node;
  }, [version.data]);
}

function Path({ run }: { run: Run }) {
  const { t, word } = useWords();
  const label = useLabels(run);
  const words = useWords();
  const half = Math.ceil(run.path.length / 2);
  return (
    <Panel title={t("run.path")}>
      <ol className="timeline">
        {run.path.map((hop, index) => (
          <li key={index}>
            <div className="line">
              <strong>{label(hop.node)}</strong>
              <Badge>{wayName(hop.by, words)}</Badge>
              <strong>{label(hop.to)}</strong>
              <span className="soft small">
                <Time at={hop.at} />
              </span>
            </div>
            {hop.because?.map((reason) => (
              <code key={reason} className="small soft">
                {reason}
              </code>
            ))}
            {run.omitted > 0 && index === half && <p className="soft">{t("run.omitted", { n: run.omitted })}</p>}
          </li>
        ))}
        <li>
          <div className="line">
            <strong>{label(run.node)}</strong>
            <RunStatus run={run} />
            {run.ending && <span className="soft">{word("run.ending", run.ending)}</span>}
          </div>
        </li>
      </ol>
    </Panel>
  );
}

function About({ run }: { run: Run }) {
  const { t, number } = useWords();
  const label = useLabels(run);
  const facts: [string, React.ReactNode][] = [
    [t("runs.contact"), run.contact && <ContactName id={run.contact} />],
    [t("column.version"), number(run.version)],
    [t("run.key"), run.key],
    [t("run.node"), label(run.node)],
    [t("run.awaits"), run.awaits ?? (run.wake && <Time at={run.wake} />)],
    [t("run.entered"), <Time at={run.entered_at} />],
    [t("run.ended"), run.ended_at && <Time at={run.ended_at} />],
    [t("run.steps"), number(run.steps)],
  ];
  return (
    <Panel title={t("run.title")}>
      <div className="stack">
        <Facts facts={facts} />
        <Code text={JSON.stringify(run.state, null, 2)} wrap label={t("run.state")} />
      </div>
    </Panel>
  );
}

function Messages({ run }: { run: Run }) {
  const { t } = useWords();
  const label = useLabels(run);
  return (
    <Panel title={t("run.messages")} flush>
      {run.messages.length === 0 ? (
        <p className="body soft">{t("run.noMessages")}</p>
      ) : (
        <ul className="list-links">
          {run.messages.map((message) => (
            <li key={message.id}>
              <Link to={`/messages/${message.id}`}>{label(message.node)}</Link>
              <span className="soft small">
                <Time at={message.at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Cancel({ run }: { run: Run }) {
  const { t } = useWords();
  const mayEdit = useMayEdit();
  const act = useAct();
  const [asking, setAsking] = useState(false);
  if (!mayEdit || run.status !== "active") return null;
  const cancel = () => act(() => api.del(`/api/v1/instances/${run.id}`), [["/api/v1/instances"]], t("run.cancelled"));
  return (
    <>
      <Button kind="danger" onClick={() => setAsking(true)}>
        {t("run.cancel")}
      </Button>
      {asking && (
        <Confirm
          title={t("run.cancelTitle")}
          action={t("run.cancel")}
          onConfirm={cancel}
          onClose={() => setAsking(false)}
        >
          <p>{t("contacts.runCancelWhat")}</p>
        </Confirm>
      )}
    </>
  );
}
