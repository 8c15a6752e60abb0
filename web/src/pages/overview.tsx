import { useEffect, useState } from "react";
import type { Schemas } from "../api/client";
import type { Link as LiveLink } from "../api/live";
import { useOverview, type Overview } from "../api/overview";
import { useRead } from "../api/queries";
import { useWords } from "../i18n";
import { Link } from "../shell/router";
import { BarChart, Legend, LineChart, type Series } from "../ui/charts";
import { Badge, ButtonLink } from "../ui/controls";
import { Facts, Note, Page, Panel, Tile } from "../ui/layout";
import { Empty, Shown } from "../ui/states";

const DAYS = 14;

export default function OverviewPage() {
  const { t } = useWords();
  const { overview, link } = useOverview();
  return (
    <Page title={t("overview.title")} actions={<LiveBadge link={link} />}>
      <Shown of={overview} lines={8}>
        {(data) => (
          <>
            <Tiles of={data} />
            <div className="grid-2">
              <RatePanel of={data} />
              <DaysPanel of={data} />
            </div>
            <div className="grid-2">
              <HealthPanel of={data} />
              <ChannelsPanel of={data} />
            </div>
          </>
        )}
      </Shown>
    </Page>
  );
}

export function LiveBadge({ link }: { link: LiveLink }) {
  const { t } = useWords();
  if (link === "off") return null;
  return (
    <Badge tone={link === "live" ? "good" : "warn"}>{t(link === "live" ? "state.live" : "state.reconnecting")}</Badge>
  );
}

function Tiles({ of }: { of: Overview }) {
  const { t, number } = useWords();
  const dead = useRead<Schemas["CountList"]>(
    "/api/v1/messages/counts",
    { state: "failed,unknown", discarded: false },
    { every: 5000 },
  );
  const waiting = dead.data?.data.reduce((sum, row) => sum + row.count, 0) ?? 0;
  const today = of.days.at(-1);
  const lag = Math.max(of.reactor.lag, ...of.projections.map((projection) => projection.lag));
  if (of.totals.events === 0) {
    return (
      <Panel>
        <Empty
          title={t("overview.first")}
          action={
            <ButtonLink kind="primary" to="/start">
              {t("nav.start")}
            </ButtonLink>
          }
        >
          {t("overview.firstHint")}
        </Empty>
      </Panel>
    );
  }
  return (
    <div className="tiles">
      <Tile
        label={t("overview.contacts")}
        value={number(of.totals.contacts)}
        note={t("overview.active", { n: of.totals.active_runs })}
        to="/contacts"
      />
      <Tile
        label={t("overview.events")}
        value={number(today?.events ?? 0)}
        note={t("overview.total", { n: of.totals.events })}
      />
      <Tile
        label={t("overview.entries")}
        value={number(today?.entries ?? 0)}
        note={t("overview.total", { n: of.totals.entries })}
        to="/journeys"
      />
      <Tile
        label={t("overview.sent")}
        value={number(today?.sends ?? 0)}
        note={t("overview.total", { n: of.totals.sends })}
        to="/messages"
      />
      <Tile
        label={t("overview.failed")}
        value={number(today?.failures ?? 0)}
        note={t("overview.dead", { n: waiting })}
        to="/dead-letters"
      />
      <Tile label={t("overview.lag")} value={number(lag)} note={t("overview.lagNote")} to="/projections" />
    </div>
  );
}

const RATE_MS = 10_000;

/** How fast the log grows: from its position now, and some seconds ago. */
function useRate({ at, position }: Overview): number {
  const [seen, setSeen] = useState<{ at: number; position: number }[]>([]);
  useEffect(() => {
    const now = Date.parse(at);
    setSeen((all) => [...all.filter((one) => one.at < now && now - one.at <= RATE_MS), { at: now, position }]);
  }, [at, position]);
  const [first, last] = [seen[0], seen.at(-1)];
  if (!first || !last || last.at === first.at) return 0;
  const rate = Math.max(0, (last.position - first.position) / ((last.at - first.at) / 1000));
  // A slow stream is none of zero.
  return rate < 10 ? Math.round(rate * 10) / 10 : Math.round(rate);
}

function RatePanel({ of }: { of: Overview }) {
  const { t, number } = useWords();
  const now = useRate(of);
  const clock = (at: string) => new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const series: Series[] = [
    {
      name: t("overview.series.events"),
      colour: 1,
      points: of.minutes.map((minute) => ({ label: clock(minute.at), value: minute.events })),
    },
    {
      name: t("overview.series.sent"),
      colour: 2,
      points: of.minutes.map((minute) => ({ label: clock(minute.at), value: minute.sends })),
    },
  ];
  return (
    <Panel
      title={t("overview.rate")}
      actions={
        <>
          <Legend series={series} />
          <Badge tone="accent">{t("overview.perSecond", { n: number(now) })}</Badge>
        </>
      }
    >
      <LineChart label={t("overview.rateLabel")} series={series} />
    </Panel>
  );
}

function DaysPanel({ of }: { of: Overview }) {
  const { t, day } = useWords();
  const days = of.days.slice(-DAYS);
  const points = (kind: "entries" | "sends" | "failures") =>
    days.map((one) => ({ label: day(one.day), value: one[kind] }));
  const series: Series[] = [
    { name: t("overview.series.entries"), colour: 1, points: points("entries") },
    { name: t("overview.series.sent"), colour: 2, points: points("sends") },
    { name: t("overview.series.failed"), colour: 4, points: points("failures") },
  ];
  return (
    <Panel title={t("overview.days")} actions={<Legend series={series} />}>
      <BarChart label={t("overview.days")} series={series} />
    </Panel>
  );
}

function Lag({ value }: { value: number }) {
  const { t } = useWords();
  return (
    <Badge tone={value < 1000 ? "good" : "warn"}>
      {value === 0 ? t("overview.ok") : t("overview.behind", { n: value })}
    </Badge>
  );
}

function HealthPanel({ of }: { of: Overview }) {
  const { t, number } = useWords();
  const ready = useRead<Schemas["Readiness"]>("/readyz", {}, { every: 5000 });
  const behind = Math.max(0, ...of.projections.map((projection) => projection.lag));
  const failing = of.projections.filter((projection) => projection.failing);
  return (
    <Panel title={t("overview.health")}>
      <div className="stack">
        <Facts
          facts={[
            [t("overview.log"), <span className="number">{number(of.position)}</span>],
            [t("overview.reactor"), <Lag value={of.reactor.lag} />],
            [
              t("overview.projections"),
              failing.length ? (
                <Badge tone="bad">{failing.map((one) => one.name).join(", ")}</Badge>
              ) : (
                <Lag value={behind} />
              ),
            ],
            [t("overview.queue"), t("overview.queued", { n: of.queue.depth })],
            [
              t("overview.redis"),
              <>
                <Badge tone={of.keyspace.ok ? "good" : "bad"}>
                  {t(of.keyspace.ok ? "overview.ok" : "overview.away")}
                </Badge>{" "}
                <span className="soft small">{of.keyspace.kind}</span>
              </>,
            ],
            [t("overview.memory"), ready.data ? `${number(Math.round(ready.data.world_bytes / 1e5) / 10)} MB` : "–"],
          ]}
        />
        {ready.data?.warnings.map((warning) => (
          <Note key={warning} tone="warn">
            <span lang="en">{warning}</span>
          </Note>
        ))}
      </div>
    </Panel>
  );
}

function ChannelsPanel({ of }: { of: Overview }) {
  const { t, word } = useWords();
  return (
    <Panel title={t("overview.channels")} flush>
      {of.channels.length === 0 ? (
        <Empty title={t("overview.channelsEmpty")} />
      ) : (
        <ul className="list-links">
          {of.channels.map((row) => (
            <li key={row.channel}>
              <Link to={row.channel === "outbox" ? "/outbox" : `/messages?channel=${encodeURIComponent(row.channel)}`}>
                {row.channel}
              </Link>
              <span className="actions">
                <span className="soft small">{t("overview.sentOf", { sent: row.sent, failed: row.failed })}</span>
                <Badge tone={row.breaker !== "closed" ? "bad" : row.failing > 0 ? "warn" : "good"}>
                  {row.breaker === "closed" && row.failing > 0 ? t("overview.failing") : word("breaker", row.breaker)}
                </Badge>
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
