import { useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Schemas } from "../../api/client";
import { atMostEvery, useLive } from "../../api/live";
import { useJourneyNames, usePages } from "../../api/queries";
import { useWords } from "../../i18n";
import { Link } from "../../shell/router";
import { Badge, Button } from "../../ui/controls";
import { Panel } from "../../ui/layout";
import { Empty, Failure, Loading } from "../../ui/states";
import { Chips, Code, Time } from "../../ui/values";

type Event = Schemas["EventView"];

const POLL_MS = 3000;
const LOOK_MS = 500;

/** What happened to a contact, newest first; new events appear by themselves. */
export function Timeline({ contact }: { contact: string }) {
  const { t } = useWords();
  const client = useQueryClient();
  const path = `/api/v1/contacts/${contact}/events`;
  // However fast events come, the list is read twice a second at most.
  const look = useMemo(
    () => atMostEvery(LOOK_MS, () => void client.invalidateQueries({ queryKey: [path] })),
    [client, path],
  );
  const link = useLive(["event"], { contact }, look);
  const pages = usePages<Event>(path, { limit: 50 }, link === "live" ? undefined : POLL_MS);
  if (pages.isError)
    return (
      <Panel>
        <Failure error={pages.error} retry={() => void pages.refetch()} />
      </Panel>
    );
  if (pages.isPending)
    return (
      <Panel>
        <Loading lines={8} />
      </Panel>
    );
  if (pages.rows.length === 0)
    return (
      <Panel>
        <Empty title={t("contacts.timelineEmpty")} />
      </Panel>
    );
  return (
    <Panel title={t("contacts.tab.timeline")} actions={link === "live" && <Badge tone="good">{t("state.live")}</Badge>}>
      <ol className="timeline">
        {pages.rows.map((event) => (
          <Happened key={event.id} event={event} />
        ))}
      </ol>
      {pages.hasNextPage && (
        <Button small busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {t("action.more")}
        </Button>
      )}
    </Panel>
  );
}

type Properties = Record<string, unknown>;

function Happened({ event }: { event: Event }) {
  const { t, word } = useWords();
  const [open, setOpen] = useState(false);
  const type = word("event", event.type);
  const said = (event.traits ?? event.properties ?? {}) as Properties;
  return (
    <li>
      <div className="happened">
        <div className="line">
          <strong title={event.type}>{event.name ?? type}</strong>
          {event.name && <span className="soft small">{type}</span>}
          <span className="soft small">
            <Time at={event.occurred_at} />
          </span>
        </div>
        <Button small kind="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? t("action.hide") : t("action.show")}
        </Button>
      </div>
      <Gist event={event} said={said} />
      {open && <Code text={JSON.stringify(event, null, 2)} label={event.name ?? event.type} />}
    </li>
  );
}

/** Kurier's own events name other things: those become links. */
function Gist({ event, said }: { event: Event; said: Properties }) {
  const journeyName = useJourneyNames();
  const run = said.run as { journey?: string; instance?: string; at?: string } | undefined;
  if (event.type.startsWith("message.") && typeof said.message === "string") {
    return <Link to={`/messages/${said.message}`}>{[said.template, said.channel].filter(Boolean).join(" · ")}</Link>;
  }
  if (event.type.startsWith("journey.") && run?.instance)
    return <Link to={`/runs/${run.instance}`}>{[journeyName(run.journey), run.at].filter(Boolean).join(" · ")}</Link>;
  return <Chips of={said} />;
}
