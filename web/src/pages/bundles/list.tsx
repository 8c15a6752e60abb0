import { Problem } from "../../api/client";
import { usePages } from "../../api/queries";
import { useWords } from "../../i18n";
import { Link } from "../../shell/router";
import { Badge, type Tone } from "../../ui/controls";
import { Page, Panel } from "../../ui/layout";
import { Empty, Failure, Loading } from "../../ui/states";
import { EndlessTable, type Column } from "../../ui/table";
import { Time } from "../../ui/values";

export type Version = {
  versionId: string;
  kind: string;
  name: string;
  contentSha256: string;
  parents: string[];
  anchor: string;
  publishedAt: string;
};

const TONES: Record<string, Tone> = { none: "idle", committed: "accent", mined: "good" };

export default function Bundles() {
  const { t, word } = useWords();
  const pages = usePages<Version>("/api/v1/versions", {}, 5000);
  const columns: Column<Version>[] = [
    {
      key: "name",
      title: t("bundles.version"),
      cell: (row) => <Link to={`/bundles/${row.versionId}`}>{row.name}</Link>,
    },
    { key: "kind", wide: true, title: t("bundles.kind"), cell: (row) => word("bundle.kind", row.kind) },
    {
      key: "anchor",
      title: t("bundles.anchor"),
      cell: (row) => <Badge tone={TONES[row.anchor] ?? "idle"}>{word("bundle.anchor", row.anchor)}</Badge>,
    },
    { key: "id", wide: true, title: t("column.id"), cell: (row) => <code>{row.versionId.slice(0, 16)}</code> },
    { key: "at", wide: true, title: t("bundles.published"), right: true, cell: (row) => <Time at={row.publishedAt} /> },
  ];
  return (
    <Page title={t("bundles.title")} lead={t("bundles.lead")}>
      <Panel flush label={t("bundles.title")}>
        {pages.isError ? (
          <Away error={pages.error} retry={() => void pages.refetch()} />
        ) : pages.isPending ? (
          <Loading />
        ) : pages.rows.length === 0 ? (
          <Empty title={t("bundles.empty")}>{t("bundles.emptyHint")}</Empty>
        ) : (
          <EndlessTable
            label={t("bundles.title")}
            columns={columns}
            rows={pages.rows}
            rowKey={(row) => row.versionId}
            to={(row) => `/bundles/${row.versionId}`}
            hasMore={pages.hasNextPage}
            loading={pages.isFetchingNextPage}
            loadMore={() => void pages.fetchNextPage()}
          />
        )}
      </Panel>
    </Page>
  );
}

export function Away({ error, retry }: { error: unknown; retry?: () => void }) {
  const { t } = useWords();
  if (error instanceof Problem && error.code === "bundles_off")
    return <Empty title={t("bundles.off")}>{t("bundles.offHint")}</Empty>;
  return <Failure error={error} retry={retry} />;
}
