import type { Schemas } from "../../api/client";
import { useTemplates } from "../../api/queries";
import { useWords } from "../../i18n";
import { Link } from "../../shell/router";
import { useMayEdit } from "../../shell/session";
import { Badge, ButtonLink } from "../../ui/controls";
import { Page, Panel } from "../../ui/layout";
import { Empty, Shown } from "../../ui/states";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/values";

type Template = Schemas["TemplateView"];

export default function Templates() {
  const { t, number } = useWords();
  const mayEdit = useMayEdit();
  const templates = useTemplates();
  const make = mayEdit && (
    <ButtonLink kind="primary" icon="plus" to="/templates/new">
      {t("templates.new")}
    </ButtonLink>
  );
  const columns: Column<Template>[] = [
    {
      key: "name",
      title: t("column.name"),
      cell: (row) => (
        <>
          <Link to={`/templates/${encodeURIComponent(row.name)}`}>{row.name}</Link>
          {row.retired && (
            <>
              {" "}
              <Badge>{t("templates.retired")}</Badge>
            </>
          )}
        </>
      ),
    },
    { key: "topic", title: t("messages.topic"), cell: (row) => row.topic ?? "–" },
    {
      key: "reads",
      wide: true,
      title: t("templates.reads"),
      cell: (row) => <span className="soft">{row.reads.join(", ") || "–"}</span>,
    },
    { key: "version", wide: true, title: t("column.version"), right: true, cell: (row) => number(row.version) },
    {
      key: "changed",
      wide: true,
      title: t("column.changed"),
      right: true,
      cell: (row) => <Time at={row.changed_at} />,
    },
  ];
  return (
    <Page title={t("templates.title")} lead={t("templates.lead")} actions={make}>
      <Panel flush label={t("templates.title")}>
        <Shown of={templates}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty title={t("templates.empty")} action={make}>
                {t("templates.emptyHint")}
              </Empty>
            ) : (
              <Table
                label={t("templates.title")}
                columns={columns}
                rows={data}
                rowKey={(row) => row.name}
                to={(row) => `/templates/${encodeURIComponent(row.name)}`}
              />
            )
          }
        </Shown>
      </Panel>
    </Page>
  );
}
