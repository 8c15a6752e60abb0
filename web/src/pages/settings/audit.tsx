import type { Schemas } from "../../api/client";
import { useJourneyNames, usePages } from "../../api/queries";
import { useWords } from "../../i18n";
import { Panel } from "../../ui/layout";
import { Empty, Failure, Loading } from "../../ui/states";
import { Beneath, EndlessTable, type Column } from "../../ui/table";
import { Time } from "../../ui/values";

type Act = Schemas["AuditView"];

export function Audit() {
  const { t, word } = useWords();
  const journeyName = useJourneyNames();
  const pages = usePages<Act>("/api/v1/audit", {}, 5000);
  // The log names a journey by its id: whoever reads knows its name.
  const subject = ({ kind, subject }: Act) =>
    subject && kind.startsWith("journey.") ? journeyName(subject) : (subject ?? "–");
  const columns: Column<Act>[] = [
    {
      key: "act",
      title: t("audit.act"),
      wrap: true,
      cell: (row) => <span title={row.kind}>{word("event", row.kind)}</span>,
    },
    {
      key: "subject",
      title: t("audit.subject"),
      cell: (row) => (
        <>
          {subject(row)}
          <Beneath>
            {row.operator ?? "–"} · <Time at={row.at} />
          </Beneath>
        </>
      ),
    },
    { key: "operator", wide: true, title: t("audit.operator"), cell: (row) => row.operator ?? "–" },
    { key: "at", wide: true, title: t("audit.at"), right: true, cell: (row) => <Time at={row.at} /> },
  ];
  return (
    <Panel flush label={t("audit.title")}>
      {pages.isError ? (
        <Failure error={pages.error} retry={() => void pages.refetch()} />
      ) : pages.isPending ? (
        <Loading />
      ) : pages.rows.length === 0 ? (
        <Empty title={t("audit.empty")} />
      ) : (
        <EndlessTable
          label={t("audit.title")}
          columns={columns}
          rows={pages.rows}
          rowKey={(row) => String(row.position)}
          hasMore={pages.hasNextPage}
          loading={pages.isFetchingNextPage}
          loadMore={() => void pages.fetchNextPage()}
        />
      )}
    </Panel>
  );
}
