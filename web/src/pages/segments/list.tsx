import type { Schemas } from "../../api/client";
import { useSegments } from "../../api/queries";
import { useWords } from "../../i18n";
import { Link } from "../../shell/router";
import { useMayEdit } from "../../shell/session";
import { ButtonLink } from "../../ui/controls";
import { Page, Panel } from "../../ui/layout";
import { Empty, Shown } from "../../ui/states";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/values";

type Segment = Schemas["SegmentView"];

export default function Segments() {
  const { t, number } = useWords();
  const mayEdit = useMayEdit();
  const segments = useSegments(3000);
  const make = mayEdit && (
    <ButtonLink kind="primary" icon="plus" to="/segments/new">
      {t("segments.new")}
    </ButtonLink>
  );
  const columns: Column<Segment>[] = [
    { key: "name", title: t("column.name"), cell: (row) => <Link to={`/segments/${row.id}`}>{row.name}</Link> },
    {
      key: "expression",
      wide: true,
      title: t("segments.expression"),
      cell: (row) =>
        row.expression ? (
          <code title={row.expression}>{row.expression}</code>
        ) : (
          <span className="soft">{t("segments.static")}</span>
        ),
    },
    { key: "size", title: t("segments.size"), right: true, cell: (row) => number(row.size) },
    {
      key: "used",
      wide: true,
      title: t("segments.usedBy"),
      cell: (row) => row.used_by.map((journey) => journey.name).join(", ") || "–",
    },
    { key: "changed", title: t("column.changed"), right: true, cell: (row) => <Time at={row.changed_at} /> },
  ];
  return (
    <Page title={t("segments.title")} lead={t("segments.lead")} actions={make}>
      <Panel flush label={t("segments.title")}>
        <Shown of={segments}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty title={t("segments.empty")} action={make}>
                {t("segments.emptyHint")}
              </Empty>
            ) : (
              <Table
                label={t("segments.title")}
                columns={columns}
                rows={data}
                rowKey={(row) => row.id}
                to={(row) => `/segments/${row.id}`}
              />
            )
          }
        </Shown>
      </Panel>
    </Page>
  );
}
