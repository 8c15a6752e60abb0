import { useState, type ReactNode } from "react";
import type { Schemas } from "../../api/client";
import { useJourneyNames, usePages, useRead, useSegments } from "../../api/queries";
import { useWords } from "../../i18n";
import { Link } from "../../shell/router";
import { Badge, Button } from "../../ui/controls";
import { Panel } from "../../ui/layout";
import { Empty, Failure, Loading, Shown } from "../../ui/states";
import { MessageTable } from "../messages/table";
import { RunTable } from "../journeys/run-table";

export function ContactSegments({ contact }: { contact: string }) {
  const { t } = useWords();
  const segments = useSegments();
  return (
    <Panel title={t("contacts.tab.segments")} flush>
      <Shown of={segments}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={t("segments.empty")} />
          ) : (
            <ul className="list-links">
              {data.map((segment) => (
                <Membership key={segment.id} segment={segment} contact={contact} />
              ))}
            </ul>
          )
        }
      </Shown>
    </Panel>
  );
}

function Membership({ segment, contact }: { segment: Schemas["SegmentView"]; contact: string }) {
  const { t } = useWords();
  const [open, setOpen] = useState(false);
  const answer = useRead<Schemas["Explanation"]>(
    `/api/v1/segments/${segment.id}/explain/${contact}`,
    {},
    { every: 5000 },
  );
  return (
    <li>
      <Link to={`/segments/${segment.id}`}>{segment.name}</Link>
      <span className="actions">
        {answer.data && (
          <Badge tone={answer.data.member ? "good" : "idle"}>
            {t(answer.data.member ? "contacts.in" : "contacts.notIn")}
          </Badge>
        )}
        <Button small kind="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
          {t("contacts.why")}
        </Button>
      </span>
      {open && answer.data && <Reasons of={answer.data} />}
    </li>
  );
}

export function Reasons({ of }: { of: Schemas["Explanation"] }) {
  const { t } = useWords();
  if (of.reasons.length === 0)
    return (
      <p className="soft" style={{ width: "100%" }}>
        {t("contacts.staticReason")}
      </p>
    );
  return (
    <ul className="reasons">
      {of.reasons.map((reason, index) => (
        <li key={index}>
          <Badge tone={reason.holds ? "good" : "bad"}>{reason.holds ? "TRUE" : "FALSE"}</Badge>
          <div>
            <code>{reason.condition}</code>
            <div className="soft small" lang="en">
              {reason.found}
            </div>
          </div>
        </li>
      ))}
    </ul>
  );
}

export function ContactRuns({ contact }: { contact: string }) {
  const { t } = useWords();
  const nameOf = useJourneyNames();
  const pages = usePages<Schemas["InstanceView"]>(`/api/v1/contacts/${contact}/journeys`, {}, 5000);
  return (
    <Listed of={pages} title={t("contacts.tab.journeys")} none={t("contacts.noRuns")}>
      <RunTable runs={pages.rows} journeyName={nameOf} />
      {pages.hasNextPage && (
        <div className="body">
          <Button small busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            {t("action.more")}
          </Button>
        </div>
      )}
    </Listed>
  );
}

export function ContactMessages({ contact }: { contact: string }) {
  const { t } = useWords();
  const pages = usePages<Schemas["MessageView"]>("/api/v1/messages", { contact }, 5000);
  return (
    <Listed of={pages} title={t("contacts.tab.messages")} none={t("contacts.noMessages")}>
      <MessageTable pages={pages} ofContact />
    </Listed>
  );
}

type Pages = { isError: boolean; isPending: boolean; error: unknown; rows: unknown[] };

/** A table in its panel, or why there is none. */
function Listed({ of, title, none, children }: { of: Pages; title: string; none: string; children: ReactNode }) {
  if (!of.isError && !of.isPending && of.rows.length > 0)
    return (
      <Panel title={title} flush>
        {children}
      </Panel>
    );
  return (
    <Panel>{of.isError ? <Failure error={of.error} /> : of.isPending ? <Loading /> : <Empty title={none} />}</Panel>
  );
}
