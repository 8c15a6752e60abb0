import { useState } from "react";
import { api, type Schemas } from "../api/client";
import { useAct, useRead } from "../api/queries";
import { useWords, type Key } from "../i18n";
import { useMayEdit } from "../shell/session";
import { Badge, Button, type Tone } from "../ui/controls";
import { Confirm } from "../ui/dialog";
import { Note, Page } from "../ui/layout";
import { Shown } from "../ui/states";
import { Time } from "../ui/values";

type Projection = Schemas["ProjectionView"];
type Work = NonNullable<Projection["work"]>;

const WORKING_MS = 500;
const IDLE_MS = 2500;

export default function Projections() {
  const { t } = useWords();
  const [every, setEvery] = useState(IDLE_MS);
  const list = useRead<Schemas["ProjectionList"]>("/api/v1/projections", {}, { every });
  const working = list.data?.data.some((one) => one.work && !one.work.ended_at) ?? false;
  const wanted = working ? WORKING_MS : IDLE_MS;
  if (every !== wanted) setEvery(wanted);
  return (
    <Page title={t("projections.title")} lead={t("projections.lead")}>
      <Shown of={list} lines={10}>
        {({ data }) => (
          <div className="stack">
            {data.map((one) => (
              <Card key={one.name} projection={one} busy={working} />
            ))}
          </div>
        )}
      </Shown>
    </Page>
  );
}

function standing(projection: Projection): [Key, Tone] {
  if (projection.failure) return ["projections.failing", "bad"];
  return projection.paused ? ["projections.paused", "warn"] : ["projections.ok", "good"];
}

function Card({ projection, busy }: { projection: Projection; busy: boolean }) {
  const { t, number } = useWords();
  const [key, tone] = standing(projection);
  return (
    <section className="panel projection" aria-label={projection.name}>
      <div className="projection-name">
        <h2>{projection.name}</h2>
        <Badge tone={tone}>{t(key)}</Badge>
      </div>
      <dl className="projection-facts">
        <div>
          <dt>{t("projections.position")}</dt>
          <dd>{number(projection.position)}</dd>
        </div>
        <div>
          <dt>{t("projections.lag")}</dt>
          <dd>{number(projection.lag)}</dd>
        </div>
        <div>
          <dt>{t("projections.setAside")}</dt>
          <dd>{number(projection.set_aside)}</dd>
        </div>
        <div className="wide">
          <dt>{t("projections.tables")}</dt>
          <dd>{projection.tables.join(", ")}</dd>
        </div>
      </dl>
      <Actions projection={projection} busy={busy} />
      {projection.failure && (
        <div className="full">
          <Note tone="bad">
            <span lang="en">{projection.failure.reason}</span>
          </Note>
        </div>
      )}
      {projection.work && (
        <div className="full">
          <Progress work={projection.work} />
        </div>
      )}
    </section>
  );
}

type Asking = "rebuild" | "pause" | null;

function Actions({ projection, busy }: { projection: Projection; busy: boolean }) {
  const { t } = useWords();
  const mayEdit = useMayEdit();
  const act = useAct();
  const [asking, setAsking] = useState<Asking>(null);
  if (!mayEdit) return null;
  const path = `/api/v1/projections/${projection.name}`;
  const begin = (verb: string) => act(() => api.post(`${path}/${verb}`), [["/api/v1/projections"]]);
  const name = projection.name;
  return (
    <div className="actions">
      <Button small disabled={busy} onClick={() => void begin("verify").catch(() => {})}>
        {t("projections.verify")}
      </Button>
      <Button small disabled={busy} onClick={() => setAsking("rebuild")}>
        {t("projections.rebuild")}
      </Button>
      {projection.paused ? (
        <Button small onClick={() => void begin("resume").catch(() => {})}>
          {t("action.resume")}
        </Button>
      ) : (
        <Button small onClick={() => setAsking("pause")}>
          {t("action.pause")}
        </Button>
      )}
      {asking === "rebuild" && (
        <Confirm
          title={t("projections.rebuildTitle", { name })}
          action={t("projections.rebuild")}
          onConfirm={() => begin("rebuild")}
          onClose={() => setAsking(null)}
        >
          <p>{t("projections.rebuildWhat")}</p>
        </Confirm>
      )}
      {asking === "pause" && (
        <Confirm
          title={t("projections.pauseTitle", { name })}
          action={t("action.pause")}
          onConfirm={() => begin("pause")}
          onClose={() => setAsking(null)}
        >
          <p>{t("projections.pauseWhat")}</p>
        </Confirm>
      )}
    </div>
  );
}

function Progress({ work }: { work: Work }) {
  const { t, word, number } = useWords();
  if (work.ended_at) return <Ended work={work} />;
  return (
    <div className="stack" role="status">
      <div className="line-between">
        <span>
          {word("projections.task", work.task)}
          {work.stage ? `: ${word("projections.stage", work.stage)}` : ""}
        </span>
        <span className="soft small number">
          {number(work.done)} / {number(work.of)}
          {work.seconds_left ? ` · ${t("projections.left", { n: Math.ceil(work.seconds_left) })}` : ""}
        </span>
      </div>
      <progress
        className="progress"
        value={work.done}
        max={Math.max(1, work.of)}
        aria-label={word("projections.task", work.task)}
      />
    </div>
  );
}

function Ended({ work }: { work: Work }) {
  const { t } = useWords();
  if (work.failure) return <Note tone="bad">{t("projections.failed", { why: work.failure })}</Note>;
  const verdict = work.verdict;
  if (!verdict)
    return (
      <Note tone="good">
        {t("projections.rebuilt")} · <Time at={work.ended_at} />
      </Note>
    );
  return (
    <Note tone={verdict.equal ? "good" : "bad"}>
      <strong>{t(verdict.equal ? "projections.equal" : "projections.differs")}</strong> ·{" "}
      {t("projections.equalAt", { n: verdict.position })} · <Time at={work.ended_at} />
      <ul className="small">
        {verdict.tables.map((table) => (
          <li key={table.table}>
            {table.equal ? "=" : "≠"} {table.table}, {t("projections.rows", { n: table.rows })},{" "}
            <code>{table.digest.slice(0, 16)}</code>
          </li>
        ))}
        {verdict.differences.map((difference, index) => (
          <li key={index}>
            {difference.table} ({difference.key.join(", ")}): {difference.columns.join(", ")}
          </li>
        ))}
      </ul>
    </Note>
  );
}
