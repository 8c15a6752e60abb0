import type { Schemas } from "../../api/client";
import { useJourneyNames, type usePages } from "../../api/queries";
import { useWords } from "../../i18n";
import { Link } from "../../shell/router";
import { Badge, type Tone } from "../../ui/controls";
import { EndlessTable, type Column } from "../../ui/table";
import { shortId, Time } from "../../ui/values";

export type Message = Schemas["MessageView"];

const TONES: Record<string, Tone> = {
  sent: "good",
  failed: "bad",
  unknown: "warn",
  retrying: "warn",
  sending: "accent",
  queued: "accent",
  skipped: "idle",
};
export const toneOf = (state: string): Tone => TONES[state] ?? "idle";

export function StateBadge({ message }: { message: Pick<Message, "state" | "discarded"> }) {
  const { word, t } = useWords();
  return (
    <>
      <Badge tone={toneOf(message.state)}>{word("message.state", message.state)}</Badge>
      {message.discarded && (
        <>
          {" "}
          <Badge>{t("messages.discarded")}</Badge>
        </>
      )}
    </>
  );
}

/** Why it ended as it did: the reason in words, and the code that the other side gave. */
export function Why({ of, none = "–" }: { of: { reason?: string | null; code?: string | null }; none?: string }) {
  const { word } = useWords();
  if (!of.reason && !of.code) return <>{none}</>;
  return (
    <>
      {of.reason && word("message.reason", of.reason)}
      {of.reason && of.code && " · "}
      {of.code && <span lang="en">{of.code}</span>}
    </>
  );
}

type Pages = Pick<
  ReturnType<typeof usePages<Message>>,
  "rows" | "hasNextPage" | "isFetchingNextPage" | "fetchNextPage"
>;

const LEFT_OUT = new Set(["template", "reason"]);

/** On a contact's own page there is less room, and its address is known. */
export function MessageTable({ pages, ofContact }: { pages: Pages; ofContact?: boolean }) {
  const { t } = useWords();
  const journeyName = useJourneyNames();
  const columns: Column<Message>[] = [
    {
      key: "to",
      title: t(ofContact ? "messages.template" : "messages.to"),
      cell: (row) => (
        <Link to={`/messages/${row.id}`}>{(ofContact ? row.template : row.to) ?? shortId(row.contact ?? row.id)}</Link>
      ),
    },
    { key: "state", title: t("column.state"), cell: (row) => <StateBadge message={row} /> },
    { key: "template", wide: true, title: t("messages.template"), cell: (row) => row.template ?? "–" },
    { key: "channel", wide: true, title: t("messages.channel"), cell: (row) => row.channel },
    {
      key: "journey",
      wide: true,
      title: t("messages.journey"),
      cell: (row) => (row.journey ? journeyName(row.journey) : "–"),
    },
    {
      key: "reason",
      wide: true,
      title: t("messages.reason"),
      cell: (row) => <Why of={row} />,
    },
    {
      key: "at",
      wide: true,
      title: t("messages.requested"),
      right: true,
      cell: (row) => <Time at={row.requested_at} />,
    },
  ];
  return (
    <EndlessTable
      label={t("messages.title")}
      columns={ofContact ? columns.filter((column) => !LEFT_OUT.has(column.key)) : columns}
      rows={pages.rows}
      rowKey={(row) => row.id}
      to={(row) => `/messages/${row.id}`}
      hasMore={pages.hasNextPage}
      loading={pages.isFetchingNextPage}
      loadMore={() => void pages.fetchNextPage()}
    />
  );
}
